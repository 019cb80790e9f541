/** The parts of JSON Schema that zod writes for messages of the agent link. */
export interface Schema {
  readonly type?: string;
  readonly const?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly $ref?: string;
}

/** `session.start` as a type is named: `SessionStart`. */
export const pascal = (name: string): string =>
  name
    .split(/[._]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');

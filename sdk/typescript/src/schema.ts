/**
 * Parameters of tools: JSON Schema as it is, or any library of the Standard Schema (zod 4.2 or newer among them), which then also checks
 * and converts what arrives. Nothing of such a library is imported.
 */
import { isObject } from './reading.ts';

/** JSON Schema of type `object`. */
export type JsonSchema = Readonly<Record<string, unknown>>;

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type Validated<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

/** The parts of https://standardschema.dev that are used here. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

export type Parameters = JsonSchema | StandardSchema;

/** What a handler gets for its parameters. */
export type Arguments<P> =
  P extends StandardSchema<infer Output> ? Output : Readonly<Record<string, unknown>>;

export const isStandardSchema = (given: object): given is StandardSchema =>
  '~standard' in given &&
  isObject(given['~standard']) &&
  typeof given['~standard']['validate'] === 'function';

/** The JSON Schema of parameters. Throws a `TypeError` that says what is wrong with them. */
export function jsonSchemaOf(given: Parameters): JsonSchema {
  if (!isStandardSchema(given)) return ofObject(given);
  const { jsonSchema, vendor } = given['~standard'];
  if (jsonSchema === undefined)
    throw new TypeError(
      `parameters: this version of ${vendor} cannot write JSON Schema (zod can from 4.2 on); give JSON Schema instead`,
    );
  const schema = jsonSchema.input({ target: 'draft-2020-12' });
  return ofObject(Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema')));
}

function ofObject(schema: JsonSchema): JsonSchema {
  if (schema['type'] !== 'object') throw new TypeError('parameters: must be a schema of type object');
  return schema;
}

/** The arguments as a handler wants them, or the rules that they break, without a value. */
export async function checkArguments(
  parameters: Parameters,
  given: Readonly<Record<string, unknown>>,
): Promise<{ readonly value: unknown } | { readonly problem: string }> {
  if (!isStandardSchema(parameters)) return { value: given };
  const result = await parameters['~standard'].validate(given);
  if (result.issues === undefined) return { value: result.value };
  const rules = result.issues.slice(0, 8).map(({ message, path = [] }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
    return `${keys.join('.') || 'arguments'}: ${message}`;
  });
  return { problem: rules.join('; ') };
}

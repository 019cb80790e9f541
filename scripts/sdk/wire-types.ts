/**
 * Writes `sdk/typescript/src/wire/` out of the service's own schemas of the agent link: types, limits, and a table by which the SDK
 * reads messages. So the SDK stands alone and every fact of the protocol is declared once.
 */
import * as z from 'zod';
import { agentMessageSchemas } from '../../shared/agent-link/agent-messages.ts';
import { agentLinkCloseCodes, agentLinkErrors } from '../../shared/agent-link/errors.ts';
import { conversationEventSchemas } from '../../shared/agent-link/events.ts';
import {
  AGENT_LINK_PROTOCOL,
  agentLinkLimits,
  agentLinkTimes,
  agentLinkVersions,
} from '../../shared/agent-link/limits.ts';
import { serviceMessageSchemas } from '../../shared/agent-link/service-messages.ts';

/** The parts of JSON Schema that zod writes for these messages. */
interface Schema {
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

type Direction = 'input' | 'output';

const schemaOf = (schema: z.ZodType, io: Direction): Schema =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Schema;

const pascal = (name: string): string =>
  name
    .split(/[._]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');

const comment = (text: string | undefined, indent: string): string =>
  text === undefined ? '' : `${indent}/** ${text.replaceAll('\n', ' ')} */\n`;

/**
 * A type as TypeScript. What the service may send more of in a later version 1 (`isOpen`) stays open: a known word is suggested by
 * editors, another one is a string like any other.
 */
function typeText(schema: Schema, { isOpen, indent }: { isOpen: boolean; indent: string }): string {
  if (schema.$ref !== undefined) return 'JsonValue';
  if (schema.const !== undefined) return `'${schema.const}'`;
  if (schema.enum !== undefined) {
    const isCode = schema.enum.length === Object.keys(agentLinkErrors).length;
    const words = isCode ? 'LinkErrorCode' : schema.enum.map((word) => `'${String(word)}'`).join(' | ');
    return isOpen ? `${words} | (string & {})` : words;
  }
  if (schema.anyOf !== undefined)
    return schema.anyOf.map((part) => typeText(part, { isOpen, indent })).join(' | ');
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array': {
      const item = typeText(schema.items ?? {}, { isOpen, indent });
      return `readonly ${/[ |]/.test(item) && !item.startsWith('{') ? `(${item})` : item}[]`;
    }
    case 'object':
      return schema.properties === undefined
        ? `Readonly<Record<string, ${schema.additionalProperties?.type === 'string' ? 'string' : 'unknown'}>>`
        : objectText(schema, { isOpen, indent });
    default:
      return 'unknown';
  }
}

function objectText(schema: Schema, { isOpen, indent }: { isOpen: boolean; indent: string }): string {
  const inner = `${indent}  `;
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const type = typeText(field, { isOpen, indent: inner });
    return `${comment(field.description, inner)}${inner}readonly ${name}${required.has(name) ? '' : '?'}: ${type};\n`;
  });
  return `{\n${fields.join('')}${indent}}`;
}

function messageTypes(schemas: Readonly<Record<string, z.ZodType>>, io: Direction): string[] {
  return Object.entries(schemas).map(([type, schema]) => {
    const shape = schemaOf(schema, io);
    const name = `${pascal(type)}Message`;
    return `${comment(shape.description, '')}export interface ${name} ${objectText(shape, { isOpen: io === 'output', indent: '' })}\n`;
  });
}

const union = (name: string, schemas: Readonly<Record<string, unknown>>): string =>
  `export type ${name} =\n${Object.keys(schemas)
    .map((type) => `  | ${pascal(type)}Message`)
    .join('\n')};\n`;

/** How the reader sees a field: its JSON type, or `any`; a question mark behind it means that it may be absent. */
function fieldKind(schema: Schema, isRequired: boolean): string {
  const kind = schema.const !== undefined || schema.enum !== undefined ? 'string' : (schema.type ?? 'any');
  return `${kind}${isRequired ? '' : '?'}`;
}

function fieldTable(): string {
  const rows = Object.entries(serviceMessageSchemas).map(([type, schema]) => {
    const { properties = {}, required = [] } = schemaOf(schema, 'output');
    const fields = Object.entries(properties)
      .filter(([name]) => name !== 'type')
      .map(([name, field]) => `${name}: '${fieldKind(field, required.includes(name))}'`);
    return `  '${type}': { ${fields.join(', ')} },\n`;
  });
  return `{\n${rows.join('')}}`;
}

const constants = (values: Readonly<Record<string, number>>): string =>
  `{\n${Object.entries(values)
    .map(([name, value]) => `  ${name}: ${value.toLocaleString('en-US').replaceAll(',', '_')},\n`)
    .join('')}}`;

const words = (values: readonly string[]): string => values.map((value) => `  | '${value}'`).join('\n');

const folder = 'sdk/typescript/src/wire';

const head = (what: string): string => `/**
 * ${what} Generated by \`npm run docs\` from \`shared/agent-link\` of the service;
 * a test notices when it is stale.
 */
`;

const constantsSource =
  (): string => `${head(`The agent link, version ${agentLinkVersions.join(', ')}: names, limits and fields.`)}
export const PROTOCOL = '${AGENT_LINK_PROTOCOL}';
export const PROTOCOL_VERSIONS: readonly number[] = [${agentLinkVersions.join(', ')}];

/** Sizes and counts; lengths are bytes of UTF-8. */
export const limits = ${constants(agentLinkLimits)} as const;

/** Times of the link in milliseconds. */
export const times = ${constants(agentLinkTimes)} as const;

/** Codes of the frame that closes a link. */
export const closeCodes = ${constants(agentLinkCloseCodes)} as const;

/** Codes that the service gives to what it refuses. */
export type LinkErrorCode =
${words(Object.keys(agentLinkErrors))};

/** Events that \`session.accept.events\` chooses among. */
export const conversationEventTypes = [
${Object.keys(conversationEventSchemas)
  .map((type) => `  '${type}',`)
  .join('\n')}
] as const;

/** Fields of what the service sends, beside \`type\` and the envelope, with their kinds; \`?\`: may be absent. */
export const serviceFields: Readonly<Record<string, Readonly<Record<string, string>>>> = ${fieldTable()};
`;

const serviceSource = (): string => `${head('What the service sends, without its envelope.')}
import type { JsonValue } from './agent-messages.ts';
import type { LinkErrorCode } from './constants.ts';

${messageTypes(serviceMessageSchemas, 'output').join('\n')}
${union('ServiceMessage', serviceMessageSchemas)}`;

const agentSource = (): string => `${head('What an agent sends.')}
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

${messageTypes(agentMessageSchemas, 'input').join('\n')}
${union('AgentMessage', agentMessageSchemas)}`;

/** The generated files of the TypeScript SDK. */
export const wireFiles = (): readonly { readonly path: string; readonly text: string }[] => [
  { path: `${folder}/constants.ts`, text: constantsSource() },
  { path: `${folder}/service-messages.ts`, text: serviceSource() },
  { path: `${folder}/agent-messages.ts`, text: agentSource() },
];

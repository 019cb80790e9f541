/**
 * `[[tools]]` of the agent file: tools that the engine runs over HTTP (spec 02, Tool declaration). Rules that need more
 * than one key are checked here; nothing is resolved or opened, and no message repeats an address.
 */
import { z } from 'zod';
import { isLoopbackHost } from '../../net/loopback.ts';
import type { KeyPath, ProblemList } from '../problem.ts';
import { isTable, readTable } from '../table.ts';

/** Tools of one agent file (spec 02, Limits). */
export const mostTools = 64;
export const builtInToolNames: readonly string[] = ['end_call', 'transfer_call', 'send_dtmf'];

export const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -');
export const variableName = z
  .string()
  .max(128)
  .regex(/^[A-Z_][A-Z0-9_]*$/, 'must be the name of an environment variable: capital letters, digits and _');
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'must be the name of a header');
const headerValue = z
  .string()
  .max(1024)
  .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII');

export const toolHttpKeys = z.strictObject({
  method: z
    .enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
    .default('GET')
    .meta({ description: 'HTTP method.' }),
  url: z.string().min(1).max(2048).meta({
    description: 'Address with parameters in braces; values are percent-encoded. https, unless allow_http.',
  }),
  headers: z.record(headerName, headerValue).default({}).meta({ description: 'Headers of the request.' }),
  headers_env: z.record(headerName, variableName).default({}).meta({
    description: 'Headers whose whole value comes from an environment variable.',
  }),
  result: z
    .string()
    .max(256)
    .regex(/^(\/([^~/]|~[01])*)*$/, 'must be a JSON pointer such as "/current"')
    .default('')
    .meta({ description: 'JSON pointer to the part of the answer that the LLM gets; empty: all of it.' }),
  allow_http: z.boolean().default(false).meta({ description: 'Permits http:// to a host off this machine.' }),
  allow_private: z.boolean().default(false).meta({
    description: 'Permits loopback, private and link-local addresses.',
  }),
});

export const toolKeys = z.strictObject({
  name: toolName.meta({ description: 'Name of the tool for the LLM.' }),
  description: z.string().min(1).max(4096).meta({ description: 'What the tool does, for the LLM.' }),
  kind: z.enum(['read_only', 'side_effect']).default('read_only').meta({
    description: 'side_effect for anything that changes the world.',
  }),
  timeout_ms: z.int().min(1).max(30_000).default(5000).meta({ description: 'Wait for the result.' }),
  filler_after_ms: z.int().min(0).max(30_000).default(700).meta({
    description: 'A filler is spoken after this long without a result; 0: none.',
  }),
  confirm: z.boolean().default(false).meta({ description: 'side_effect only: ask the caller first.' }),
  repeatable: z.boolean().default(false).meta({
    description: 'side_effect only: an identical call in the same turn runs again.',
  }),
  parameters: z.record(z.string(), z.unknown()).default({ type: 'object', properties: {} }).meta({
    description: 'JSON Schema of the arguments, of type object.',
  }),
  http: toolHttpKeys.meta({ description: 'How the tool is run.' }),
});

export interface HttpToolDefinition {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With parameters in braces in its path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Names of variables by header. */
  readonly headersEnv: Readonly<Record<string, string>>;
  readonly result: string;
  readonly allowPrivate: boolean;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly kind: 'read_only' | 'side_effect';
  readonly timeoutMs: number;
  readonly fillerAfterMs: number;
  readonly confirm: boolean;
  readonly repeatable: boolean;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly http: HttpToolDefinition;
}

/** Names in the braces of a template. */
export const templateNames = (url: string): string[] =>
  [...url.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name ?? '');

const isPrivateLiteral = (host: string): boolean =>
  isLoopbackHost(host) ||
  /^(10|127|0)\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\.|^\[(::|f[cd]|fe[89ab])/i.test(host);

function checkUrl(tool: z.output<typeof toolKeys>, at: KeyPath, problems: ProblemList): void {
  const { url: text, allow_http: allowHttp, allow_private: allowPrivate } = tool.http;
  const place = [...at, 'http', 'url'];
  const plain = text.replace(/\{[^{}]*\}/g, 'x');
  const origin = /^(https?):\/\/[^/?#{}]+(?=[/?]|$)/i.exec(text);
  if (origin === null || !URL.canParse(plain) || /[{}\s\\]/.test(plain)) {
    problems.error(
      place,
      'must be an http:// or https:// address with parameters only in its path and query',
    );
    return;
  }
  const url = new URL(plain);
  if (url.username !== '' || url.password !== '')
    problems.error(place, 'must not hold credentials; use headers_env');
  if (text.includes('#')) problems.error(place, 'must have no fragment');
  if (url.protocol === 'http:' && !allowHttp && !isLoopbackHost(url.hostname))
    problems.error(place, 'must be an https:// address, unless the host is loopback or allow_http is true');
  if (isPrivateLiteral(url.hostname) && !allowPrivate)
    problems.error(place, 'leads to a private address, which needs allow_private = true');
  const declared = tool.parameters['properties'];
  const unknown = templateNames(text).some((name) => !isTable(declared) || !Object.hasOwn(declared, name));
  if (unknown) problems.error(place, 'names a parameter that the tool does not declare');
}

/** Whether a schema refers to anything outside itself. */
function hasRemoteRef(value: unknown, depth = 0): boolean {
  if (depth > 64) return true;
  if (Array.isArray(value)) return value.some((inner) => hasRemoteRef(inner, depth + 1));
  if (!isTable(value)) return false;
  const ref = value['$ref'];
  if (typeof ref === 'string' && !ref.startsWith('#')) return true;
  return Object.values(value).some((inner) => hasRemoteRef(inner, depth + 1));
}

function checkTool(tool: z.output<typeof toolKeys>, at: KeyPath, problems: ProblemList): void {
  if (tool.kind === 'read_only') {
    for (const key of ['confirm', 'repeatable'] as const)
      if (tool[key]) problems.error([...at, key], 'is for tools of kind "side_effect" only');
  }
  if (tool.parameters['type'] !== 'object')
    problems.error([...at, 'parameters'], 'must be a JSON Schema of type "object"');
  if (hasRemoteRef(tool.parameters))
    problems.error([...at, 'parameters'], 'must have no $ref to another document and at most 64 levels');
  checkUrl(tool, at, problems);
}

/** Reads every `[[tools]]`; a definition comes back for each one without fault. */
export function readTools(raw: unknown, problems: ProblemList): ToolDefinition[] {
  if (raw === undefined) return [];
  if (!Array.isArray(raw) || raw.length > mostTools) {
    problems.error(['tools'], `must be at most ${mostTools} tables written [[tools]]`);
    return [];
  }
  const names = new Set<string>(builtInToolNames);
  return raw.flatMap((entry: unknown, index): ToolDefinition[] => {
    const at = ['tools', index];
    const { value, known } = readTable(toolKeys, entry, { at, problems });
    if (known.name !== undefined && names.has(known.name))
      problems.error([...at, 'name'], 'is the name of another tool');
    if (known.name !== undefined) names.add(known.name);
    if (value === undefined) return [];
    checkTool(value, at, problems);
    const { timeout_ms: timeoutMs, filler_after_ms: fillerAfterMs, http, ...rest } = value;
    const { headers_env: headersEnv, allow_private: allowPrivate, method, url, headers, result } = http;
    return [
      { ...rest, timeoutMs, fillerAfterMs, http: { method, url, headers, headersEnv, result, allowPrivate } },
    ];
  });
}

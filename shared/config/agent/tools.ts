/**
 * `[[tools]]` of the agent file: tools that the engine runs over HTTP (docs/reference/agent-file.md, `[[tools]]`). Rules that need more
 * than one key are checked here; nothing is resolved or opened, and no message repeats an address.
 */
import * as z from 'zod';
import { isLoopbackHost } from '../../net/loopback.ts';
import { compileArguments } from '../json-schema.ts';
import type { KeyPath, ProblemList } from '../problem.ts';
import type { Sensitive } from '../sensitive.ts';
import { isTable, readTable } from '../table.ts';
import { checkVariables } from './call-variables.ts';
import { readSecretHeaders, variableName, type VariableSite } from './secrets.ts';

/** Most tools of one agent file, as of an agent process (docs/reference/agent-link.md, Limits). */
export const mostTools = 64;

export const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -');
/** Of any tool: a server of others may call its own as it likes. */
export const listedName = z
  .string()
  .min(1)
  .max(256)
  .regex(/^\P{Cc}*$/u, 'must have no control characters');
export const headerName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'must be the name of a header');
const headerValue = z
  .string()
  .max(1024)
  .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII');

export const toolHttpKeys = z.strictObject({
  method: z
    .enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
    .default('GET')
    .meta({ description: 'HTTP method.' }),
  url: z
    .string()
    .min(1)
    .max(2048)
    .meta({
      description:
        'Address with parameters in braces and variables of the call in double ones; values are percent-encoded. https, unless allow_http.',
      examples: ['https://api.example.com/weather?city={city}'],
    }),
  headers: z
    .record(headerName, headerValue)
    .default({})
    .meta({
      description: 'Headers of the request; variables of the call may stand in the values.',
      examples: [{ 'X-Customer': '{{session.meta.customer}}' }],
    }),
  headers_env: z.record(headerName, variableName).default({}).meta({
    description: 'Headers whose whole value comes from an environment variable.',
  }),
  body: z
    .record(z.string(), z.unknown())
    .exactOptional()
    .meta({
      holds: 'table',
      sample: { place: '{city}', source: 'phone' },
      description:
        'JSON body; a text that is a parameter in braces becomes its value, variables of the call become text. Absent: every argument that the address does not hold.',
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
  name: toolName.meta({ description: 'Name of the tool for the LLM.', examples: ['get_weather'] }),
  description: z
    .string()
    .min(1)
    .max(4096)
    .meta({ description: 'What the tool does, for the LLM.', examples: ['Present weather of a city'] }),
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
  parameters: z
    .record(z.string(), z.unknown())
    .default({ type: 'object', properties: {} })
    .meta({
      description: 'JSON Schema of the arguments, of type object.',
      examples: [{ type: 'object', required: ['city'], properties: { city: { type: 'string' } } }],
      holds: 'JSON Schema',
    }),
  http: toolHttpKeys.meta({ description: 'How the tool is run.' }),
});

export interface HttpToolDefinition {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With parameters in braces in its path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers whose values come from the environment. */
  readonly secretHeaders: ReadonlyMap<string, Sensitive<string>>;
  /** JSON with parameters in braces; absent: the arguments that the address does not hold. */
  readonly body?: Readonly<Record<string, unknown>>;
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

/** Variables of the call, and parameters with their names. */
export const placeholderPattern = /\{\{[^{}]*\}\}|\{([^{}]*)\}/g;

/** Names of the parameters in a template. */
const templateNames = (url: string): string[] =>
  [...url.matchAll(placeholderPattern)].flatMap(([, name]) => name ?? []);

export const isPrivateLiteral = (host: string): boolean =>
  isLoopbackHost(host) ||
  /^(10|127|0)\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\.|^\[(::|f[cd]|fe[89ab])/i.test(host);

function checkUrl(tool: z.output<typeof toolKeys>, at: KeyPath, problems: ProblemList): void {
  const { url: text, allow_http: allowHttp, allow_private: allowPrivate } = tool.http;
  const place = [...at, 'http', 'url'];
  const plain = text.replace(placeholderPattern, 'x');
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
  if (
    Object.keys(tool.http.headers_env).length > 0 &&
    url.protocol === 'http:' &&
    !isLoopbackHost(url.hostname)
  )
    problems.error([...at, 'http', 'headers_env'], 'is only sent over https:// or to a loopback host');
}

interface BodyText {
  readonly text: string;
  readonly at: KeyPath;
}

/** Texts of a body template, however deep. */
function textsOf(value: unknown, at: KeyPath): BodyText[] {
  if (typeof value === 'string') return [{ text: value, at }];
  if (Array.isArray(value)) return value.flatMap((inner, index) => textsOf(inner, [...at, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsOf(inner, [...at, key]));
}

function checkCallVariables({ http }: z.output<typeof toolKeys>, at: KeyPath, problems: ProblemList): void {
  checkVariables(http.url, [...at, 'http', 'url'], problems);
  for (const { text, at: place } of textsOf({ headers: http.headers, body: http.body }, [...at, 'http']))
    checkVariables(text, place, problems);
}

/** Every parameter has its place in the request, and every place its parameter. */
function checkParameters(tool: z.output<typeof toolKeys>, at: KeyPath, problems: ProblemList): void {
  const { url, body, method } = tool.http;
  const properties = tool.parameters['properties'];
  const declared = new Set(isTable(properties) ? Object.keys(properties) : []);
  const inUrl = templateNames(url);
  const inBody = textsOf(body, []).flatMap(({ text }) => templateNames(text));
  const undeclared = 'names a parameter that the tool does not declare';
  const isFree = (name: string): boolean => !declared.has(name);
  if (inUrl.some(isFree)) problems.error([...at, 'http', 'url'], undeclared);
  if (inBody.some(isFree)) problems.error([...at, 'http', 'body'], undeclared);
  const hasBody = method !== 'GET' && method !== 'DELETE';
  if (body !== undefined && !hasBody)
    problems.error([...at, 'http', 'body'], 'is for the methods POST, PUT and PATCH');
  if ((body === undefined && hasBody) || [...inUrl, ...inBody].some(isFree)) return;
  const used = new Set([...inUrl, ...inBody]);
  if ([...declared].some((name) => !used.has(name)))
    problems.error(
      [...at, 'http', hasBody ? 'body' : 'url'],
      'has no place for a parameter that the tool declares, which would be lost',
    );
}

/** Headers that the request itself decides. */
const ownHeaders =
  /^(accept-encoding|connection|content-length|expect|host|idempotency-key|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

function checkHeaders(tool: z.output<typeof toolKeys>, at: KeyPath, problems: ProblemList): void {
  const { headers, headers_env: headersEnv } = tool.http;
  const seen = new Set<string>();
  for (const [key, names] of Object.entries({ headers, headers_env: headersEnv })) {
    for (const name of Object.keys(names)) {
      const place = [...at, 'http', key, name];
      if (ownHeaders.test(name)) problems.keyError(place, 'is a header that the request itself sets');
      else if (seen.has(name.toLowerCase())) problems.keyError(place, 'is a header that is given twice');
      seen.add(name.toLowerCase());
    }
  }
}

/** Reports a schema of arguments that cannot be compiled, at its place in the file. */
function checkSchema(schema: Readonly<Record<string, unknown>>, at: KeyPath, problems: ProblemList): void {
  const compiled = compileArguments(schema, { patterns: 'obeyed' });
  if (compiled.ok) return;
  const { path, rule } = compiled.error;
  problems.error([...at, ...path.map((part) => (/^\d{1,4}$/.test(part) ? Number(part) : part))], rule);
}

function checkTool(tool: z.output<typeof toolKeys>, at: KeyPath, problems: ProblemList): void {
  if (tool.kind === 'read_only') {
    for (const key of ['confirm', 'repeatable'] as const)
      if (tool[key]) problems.error([...at, key], 'is for tools of kind "side_effect" only');
  }
  checkSchema(tool.parameters, [...at, 'parameters'], problems);
  checkUrl(tool, at, problems);
  checkCallVariables(tool, at, problems);
  checkParameters(tool, at, problems);
  checkHeaders(tool, at, problems);
}

/** Reads every `[[tools]]`. `taken` holds the names of other tools and gains those that are declared here. */
export function readTools(
  raw: unknown,
  site: VariableSite & { readonly taken: Set<string> },
): ToolDefinition[] {
  if (raw === undefined) return [];
  const { problems, taken } = site;
  if (!Array.isArray(raw) || raw.length > mostTools) {
    problems.error(['tools'], `must be at most ${mostTools} tables written [[tools]]`);
    return [];
  }
  return raw.flatMap((entry: unknown, index): ToolDefinition[] => {
    const at = ['tools', index];
    const { value, known } = readTable(toolKeys, entry, { at, problems });
    if (known.name !== undefined && taken.has(known.name))
      problems.error([...at, 'name'], 'is the name of another tool');
    if (known.name !== undefined) taken.add(known.name);
    if (value === undefined) return [];
    checkTool(value, at, problems);
    const { timeout_ms: timeoutMs, filler_after_ms: fillerAfterMs, http, ...rest } = value;
    const { allow_private: allowPrivate, method, url, headers, body, result } = http;
    const secretHeaders = readSecretHeaders(http.headers_env, [...at, 'http', 'headers_env'], site);
    const mapped = body === undefined ? {} : { body };
    const request = { method, url, headers, secretHeaders, ...mapped, result, allowPrivate };
    return [{ ...rest, timeoutMs, fillerAfterMs, http: request }];
  });
}

/**
 * Calls of tools that stand in text, in the forms in which models write them: JSON that names a tool, a name in front of its arguments, tags for
 * each argument, and the call of a function. And what servers that do not know the model's form leave in the names of real calls.
 *
 * Pure. Numbers keep their digits.
 */
import type { ChatMessage, ToolDeclaration } from '../stage.ts';
import { isRecord, listOf, parseJson, recordOf, textOf, writeJson, type JsonRecord } from '../json.ts';

export interface LeakedCall {
  readonly name: string;
  /** JSON text of an object. */
  readonly arguments: string;
}

/** The tools of a round by their names, and those that the conversation has called before. */
export class OfferedTools {
  /** Of all that the model may mean. */
  readonly names: readonly string[];
  readonly #schemas: ReadonlyMap<string, JsonRecord>;

  constructor(tools: readonly ToolDeclaration[], messages: readonly ChatMessage[] = []) {
    const called = messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []).map(({ name }) => name) : [],
    );
    this.names = [...new Set([...tools.map(({ name }) => name), ...called.filter((name) => name !== '')])];
    this.#schemas = new Map(tools.map(({ name, parameters }) => [name, parameters]));
  }

  /** Offered now, or called before. */
  knows(name: string): boolean {
    return this.names.includes(name);
  }

  /** Offered now. */
  has(name: string): boolean {
    return this.#schemas.has(name);
  }

  /** The tool of this name, however its words are put together: `getOrder` is `get_order`. */
  offered(name: string): string | undefined {
    if (this.has(name)) return name;
    const [found, ...more] = [...this.#schemas.keys()].filter((one) => plain(one) === plain(name));
    return more.length === 0 ? found : undefined;
  }

  wantsText(name: string, key: string): boolean {
    return recordOf(this.#propertiesOf(name)[key])?.['type'] === 'string';
  }

  /** Can be called without any argument. */
  needsNothing(name: string): boolean {
    return this.has(name) && listOf(this.#schemas.get(name)?.['required']).length === 0;
  }

  /** The object holds what some tool takes, and nothing else. */
  take(object: JsonRecord): boolean {
    return this.names.some((name) => this.takes(name, object));
  }

  takes(name: string, object: JsonRecord): boolean {
    const keys = Object.keys(object);
    if (keys.length === 0) return false;
    const properties = this.#propertiesOf(name);
    const required = listOf(this.#schemas.get(name)?.['required']);
    return (
      keys.every((key) => Object.hasOwn(properties, key)) &&
      required.every((key) => keys.includes(textOf(key)))
    );
  }

  #propertiesOf(name: string): JsonRecord {
    return recordOf(this.#schemas.get(name)?.['properties']) ?? {};
  }
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

/** Behind the bracket that closes the one at `from`; nothing while it is open. Brackets within quotes do not count. */
export function bracketEnd(text: string, from: number): number | undefined {
  let depth = 0;
  let quote = '';
  for (let at = from; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (quote !== '') {
      if (char === '\\') at += 1;
      else if (char === quote) quote = '';
    } else if (isQuote(text, at)) quote = char;
    else if ('{[('.includes(char)) depth += 1;
    else if ('}])'.includes(char)) depth -= 1;
    if (depth === 0 && quote === '') return at + 1;
  }
  return undefined;
}

/** It opens a text: behind a letter, the single one is an apostrophe. */
const isQuote = (text: string, at: number): boolean =>
  text[at] === '"' || (text[at] === "'" && !/\p{L}/u.test(text[at - 1] ?? ''));

/** What would close the brackets that are open at the end; nothing within quotes. */
export function openBrackets(text: string): string {
  const closers: string[] = [];
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    const open = '{[('.indexOf(char);
    if (quote !== '') {
      if (char === '\\') at += 1;
      else if (char === quote) quote = '';
    } else if (isQuote(text, at)) quote = char;
    else if (open >= 0) closers.unshift('}])'[open] ?? '');
    else if ('}])'.includes(char)) closers.shift();
  }
  return quote === '' ? closers.join('') : '';
}

/** A name as nobody says one: `get_weather`, `saveAnswer`. */
export const isCodeName = (name: string): boolean =>
  /^\p{Ll}[\p{L}\p{N}_]*_[\p{L}\p{N}_]+$|^\p{Ll}+\p{Lu}[\p{L}\p{N}_]*$/u.test(name);

/** Nothing but calls of functions, whatever their names are. */
export function areCallsOfCode(text: string): boolean {
  let rest = text.trim();
  while (rest !== '') {
    const [head = ''] = /^[A-Za-z_][\w.]*(?=\()/.exec(rest) ?? [];
    const end = head === '' ? undefined : bracketEnd(rest, head.length);
    if (end === undefined || argumentsIn(rest.slice(head.length + 1, end - 1)) === undefined) return false;
    rest = rest.slice(end).replace(/^\s*,?\s*/, '');
  }
  return true;
}

/** The value is a call by its shape: something that has a name, and arguments. */
export function isCallShaped(value: unknown): boolean {
  return shapedCalls(value).length > 0 || isNamed(value);
}

/** `{"find_order": {"id": "1"}}` */
function isNamed(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isNamed);
  const [entry, ...more] = Object.entries(recordOf(value) ?? {});
  return entry !== undefined && more.length === 0 && isCodeName(entry[0]) && isRecord(entry[1]);
}

/** Keys under which models write what they call, and with what. */
const nameKeys = ['name', 'function', 'tool', 'tool_name', 'function_name', 'action', 'recipient_name'];
/** Around what is called: of OpenAI's, Google's and Amazon's answers. */
const wrappingKeys = ['function', 'function_call', 'functionCall', 'toolUse', 'tool_call', 'toolCall'];
const listKeys = ['tool_calls', 'tool_uses', 'toolCalls'];
const argumentKeys = [
  ...['arguments', 'parameters', 'args', 'input'],
  ...['tool_args', 'tool_arguments', 'tool_input', 'action_input', 'function_args', 'params', 'kwargs'],
];

/** What calls are told by JSON: one, a list of them, or an answer of OpenAI's. */
function shapedCalls(value: unknown): readonly LeakedCall[] {
  if (Array.isArray(value)) return value.flatMap(shapedCalls);
  const object = recordOf(value);
  if (object === undefined) return [];
  const listed = listKeys.map((key) => object[key]).find(Array.isArray);
  if (listed !== undefined) return shapedCalls(listed);
  const inner = wrappingKeys.map((key) => recordOf(object[key])).find((one) => one !== undefined) ?? object;
  const name = nameKeys.map((key) => inner[key]).find((one) => textOf(one) !== '');
  const given = argumentKeys.map((key) => inner[key]).find((one) => one !== undefined && one !== null);
  const args = typeof given === 'string' ? parseJson(given) : given;
  return isRecord(args)
    ? [{ name: textOf(name), arguments: writeJson(args) }].filter((call) => call.name !== '')
    : [];
}

/** The calls of offered tools that leaked text holds. */
export function callsIn(leaked: string, tools: OfferedTools): readonly LeakedCall[] {
  // Gemma has a token for a quote, and its smaller one a tag.
  const text = leaked.replaceAll(/<\|"\|>|<escape>|<ctrl46>/g, '"');
  const alone = /^[[<(\s]*(?:[\w ]+:\s*)?([\w-]+)[\])>/.!\s]*$/.exec(text)?.[1] ?? '';
  if (tools.needsNothing(alone)) return [{ name: alone, arguments: '{}' }];
  const isTagged = /<[^<>\s]*parameter\b|<arg_key>/.test(text);
  const told = isTagged ? taggedCalls(text, tools) : writtenCalls(text, tools);
  const found = told.length > 0 ? told : namedTags(text, tools);
  return found.flatMap((call) => {
    const name = toolNameIn(call.name, tools);
    return tools.has(name) ? [{ ...call, name }] : [];
  });
}

/** JSON that names its tool or follows a name, and functions, `get(x="one")`: what one of them holds is no call of its own. */
function writtenCalls(text: string, tools: OfferedTools): readonly LeakedCall[] {
  const calls: LeakedCall[] = [];
  let from = 0;
  /** Up to here, a function holds something else than arguments. */
  let passed = 0;
  const open = /\{|\[(?=\s*\{)|(?<![A-Za-z0-9_-])([A-Za-z0-9_-]+)(?:\.call)?\(/g;
  for (let match = open.exec(text); match !== null; match = open.exec(text)) {
    const name = match[1];
    if (name !== undefined && (match.index < passed || !tools.has(name))) continue;
    const at = open.lastIndex - 1;
    const closed = bracketEnd(text, at);
    const end = closed ?? text.length;
    if (name === undefined) {
      const group = text.slice(at, end) + (closed === undefined ? openBrackets(text.slice(at)) : '');
      calls.push(...groupedCalls(group, lastNameIn(text.slice(from, at), tools), tools));
    } else {
      const args = argumentsIn(text.slice(at + 1, closed === undefined ? end : end - 1));
      passed = end;
      if (args === undefined) continue;
      calls.push({ name, arguments: args });
    }
    from = end;
    open.lastIndex = end;
  }
  return calls;
}

function groupedCalls(group: string, name: string | undefined, tools: OfferedTools): readonly LeakedCall[] {
  const value = parseJson(group);
  const shaped = [...shapedCalls(value), ...keyedCalls(value, tools), ...flatCalls(value, tools)];
  const args = isRecord(value) ? writeJson(value) : argumentsIn(group.slice(1, -1));
  if (shaped.length > 0) return shaped;
  return name === undefined || args === undefined ? [] : [{ name, arguments: args }];
}

/** `{"get": {"x":"one"}}` */
function keyedCalls(value: unknown, tools: OfferedTools): readonly LeakedCall[] {
  if (Array.isArray(value)) return value.flatMap((one) => keyedCalls(one, tools));
  const entries = Object.entries(recordOf(value) ?? {});
  const areCalls = entries.every(([name, args]) => tools.has(name) && isRecord(args));
  return areCalls ? entries.map(([name, args]) => ({ name, arguments: writeJson(args) })) : [];
}

/** `{"name": "get", "x": "one"}` */
function flatCalls(value: unknown, tools: OfferedTools): readonly LeakedCall[] {
  const object = recordOf(value) ?? {};
  const key = nameKeys.find((one) => tools.has(textOf(object[one])));
  if (key === undefined) return [];
  const { [key]: given, ...args } = object;
  const name = textOf(given);
  const isBare = Object.keys(args).length === 0 && tools.needsNothing(name);
  return isBare || tools.takes(name, args) ? [{ name, arguments: writeJson(args) }] : [];
}

/** `{"name": "get"}` */
export function isNameAlone(value: JsonRecord, tools: OfferedTools): boolean {
  const [entry, ...more] = Object.entries(value);
  return (
    entry !== undefined && more.length === 0 && nameKeys.includes(entry[0]) && tools.knows(textOf(entry[1]))
  );
}

function lastNameIn(text: string, tools: OfferedTools): string | undefined {
  return wordsIn(text).findLast((word) => tools.has(word));
}

const wordsIn = (text: string): readonly string[] =>
  text.split(/[^A-Za-z0-9_-]+/).filter((word) => word !== '');

/** `<function=get><parameter=x>one</parameter></function>`, `<invoke name="get">...`, `get<arg_key>x</arg_key><arg_value>one</arg_value>`. */
function taggedCalls(text: string, tools: OfferedTools): readonly LeakedCall[] {
  const calls: { name: string; args: Record<string, unknown> }[] = [];
  const piece =
    /<(?:\w+:|[|｜]DSML[|｜])?_*parameter(?:=|\s+name=)["']?([\w.-]+)["']?[^<>]*>([^]*?)<\/(?:\w+:|[|｜]DSML[|｜])?_*parameter>|<arg_key>([^]*?)<\/arg_key>\s*<arg_value>([^]*?)<\/arg_value>/g;
  let from = 0;
  for (const match of text.matchAll(piece)) {
    const name = lastNameIn(text.slice(from, match.index), tools);
    from = match.index + match[0].length;
    if (name !== undefined) calls.push({ name, args: {} });
    const call = calls.at(-1);
    const key = (match[1] ?? match[3] ?? '').trim();
    const value = (match[2] ?? match[4] ?? '').replace(/^\n|\n$/g, '');
    if (call !== undefined) call.args[key] = valueOf(value, tools.wantsText(call.name, key));
  }
  return calls.map(({ name, args }) => ({ name, arguments: writeJson(args) }));
}

const longestTagged = 4_096;

/** `<get x="one"/>`, `<get><x>one</x></get>`. */
function namedTags(text: string, tools: OfferedTools): readonly LeakedCall[] {
  // Each tag is looked for its end, in all that is behind it.
  if (text.length > longestTagged) return [];
  const whole = /<([A-Za-z_][\w.-]*)((?:\s+[\w.-]+="[^"<>]*")*)\s*(?:\/>|>([^]*?)(?:<\/\1>|$))/g;
  return [...text.matchAll(whole)].flatMap(([, name = '', attributes = '', inner = '']) => {
    if (!tools.has(name)) return [];
    const held = [
      ...attributes.matchAll(/([\w.-]+)="([^"]*)"/g),
      ...inner.matchAll(/<([A-Za-z_][\w.-]*)>([^]*?)<\/\1>/g),
    ];
    const args = held.map(([, key = '', value = '']) => [
      key,
      valueOf(value.trim(), tools.wantsText(name, key)),
    ]);
    return args.length === 0 ? [] : [{ name, arguments: writeJson(Object.fromEntries(args)) }];
  });
}

/** What a tag holds: text where the tool wants text, or where it is nothing else. */
function valueOf(text: string, isText: boolean): unknown {
  return isText ? text : (parseJson(text) ?? text);
}

const keyword =
  /^\s*,?\s*([A-Za-z_]\w*)\s*[=:]\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,"'()[\]{}]+|(?=[[{]))/;
const words: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };

/** The arguments between the brackets of a function, as JSON text; nothing where these hold something else. */
export function argumentsIn(inner: string): string | undefined {
  const text = inner.trim();
  if (text === '') return '{}';
  if (text.startsWith('{')) {
    const value = parseJson(text);
    if (isRecord(value)) return writeJson(value);
    return text.endsWith('}') ? argumentsIn(text.slice(1, -1)) : undefined;
  }
  const fields: string[] = [];
  let rest = text;
  while (rest.trim() !== '') {
    const match = keyword.exec(rest);
    if (match === null) return undefined;
    const [whole, key = '', given = ''] = match;
    let end = whole.length;
    let value = words[given] ?? given;
    if (given === '') {
      end = bracketEnd(rest, whole.length) ?? rest.length;
      value = rest.slice(whole.length, end);
    } else if (given.startsWith("'")) value = JSON.stringify(given.slice(1, -1).replaceAll("\\'", "'"));
    if (parseJson(value) === undefined) return undefined;
    fields.push(`${JSON.stringify(key)}:${value}`);
    rest = rest.slice(end);
  }
  return `{${fields.join(',')}}`;
}

/** The offered tool that a name means: servers leave the prefixes, counts and tokens of a model's own form in it. */
export function toolNameIn(name: string, tools: OfferedTools): string {
  if (tools.has(name)) return name;
  const named = wordsIn(name)
    .map((word) => tools.offered(word))
    .find((one) => one !== undefined);
  return named ?? (/^[\w-]+/.exec(name)?.[0] || name);
}

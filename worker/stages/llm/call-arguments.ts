/**
 * The arguments of a call as JSON, as far as it is told what is meant: without what stands around them, and as models write them who have seen
 * more Python: quotes of the other kind, keys without any, a comma too many, a line feed within a text, a bracket that is not closed.
 *
 * Pure. Numbers keep their digits.
 */
import { isRecord, parseJson, writeJson } from '../json.ts';
import { bracketEnd, openBrackets } from './leaked-calls.ts';

/** A call that ends in two objects stays as it is, unless one of them says nothing: nobody knows which of them is meant. */
export function argumentsOf(text: string): string {
  if (/^\s*(?:null|None|undefined)\s*$/.test(text)) return '{}';
  const value = parseJson(text);
  if (typeof value === 'string' && isRecord(parseJson(value))) return value;
  const from = text.indexOf('{');
  if (value !== undefined || from < 0) return text;
  const end = bracketEnd(text, from) ?? text.length;
  const object = text.slice(from, end);
  const rest = text.slice(end).trim();
  if (!isRecord(parseJson(object))) return (rest.includes('{') ? undefined : strictObject(object)) ?? text;
  if (!rest.includes('{') || isSameObject(rest, object) || isEmptyObject(rest)) return object;
  return isEmptyObject(object) && rest.startsWith('{') ? argumentsOf(rest) : text;
}

const isSameObject = (one: string, other: string): boolean => {
  const value = parseJson(one);
  return isRecord(value) && writeJson(value) === writeJson(parseJson(other));
};

const isEmptyObject = (text: string): boolean => /^\{\s*\}$/.test(text);

/** No tool takes more, and a text is looked at part by part. */
const longest = 65_536;
const part =
  /\s*(?:("(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*')|([{}[\],:])|([A-Za-z_$][\w$]*)|(-?\d[\w.+-]*))/y;
const colon = /\s*:/y;
const blank = /\s*$/y;
const literals: ReadonlyMap<string, string> = new Map([
  ...['true', 'false', 'null'].map((word) => [word, word] as const),
  ...([
    ['True', 'true'],
    ['False', 'false'],
    ['None', 'null'],
    ['undefined', 'null'],
  ] as const),
]);

/** JSON text of the object that is meant; undefined where none can be told. A number at a missing end may have lost digits. */
function strictObject(text: string): string | undefined {
  if (text.length > longest) return undefined;
  const parts: string[] = [];
  for (let at = 0; !matchesAt(blank, text, at); at = part.lastIndex) {
    part.lastIndex = at;
    const [, quoted, sign, word = '', number] = part.exec(text) ?? [];
    if (part.lastIndex === 0) return undefined;
    const isBareKey = quoted === undefined && sign === undefined && matchesAt(colon, text, part.lastIndex);
    const plain = quoted === undefined ? (sign ?? number ?? literals.get(word)) : requoted(quoted);
    const written = isBareKey ? JSON.stringify(number ?? word) : plain;
    if (written === undefined) return undefined;
    if (/^[}\]]$/.test(written) && parts.at(-1) === ',') parts.pop();
    parts.push(written);
  }
  const whole = parts.join('');
  const open = openBrackets(whole);
  const closed = whole + open;
  const isCut = open !== '' && !/["}\]]$/.test(whole);
  return !isCut && isRecord(parseJson(closed)) ? closed : undefined;
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

function requoted(quoted: string): string {
  const inner = quoted.slice(1, -1);
  const own = quoted.startsWith("'") ? inner.replaceAll("\\'", "'").replaceAll(/(?<!\\)"/g, '\\"') : inner;
  // eslint-disable-next-line no-control-regex -- they are what JSON does not take
  return `"${own.replaceAll(/[\u0000-\u001F]/g, (char) => JSON.stringify(char).slice(1, -1))}"`;
}

/**
 * Streams of events that try to deceive a reader which remembers what it has read, and what a parser makes of them. A
 * body that is the same object as one before was read by its shape; nothing else shows which way an event took.
 */
import { expect } from 'vitest';
import type { Prng } from '../../shared/base/prng.ts';
import { EventReader } from '../../worker/stages/llm/event-reader.ts';
import { isRecord, parseJson } from '../../worker/stages/llm/json.ts';
import type { JsonRecord } from '../../worker/stages/llm/json.ts';
import type { KnownShapes } from '../../worker/stages/llm/known-shapes.ts';
import { SseParser } from '../../worker/stages/llm/sse.ts';
import type { SseEvent } from '../../worker/stages/llm/sse.ts';

export const MOST = 1_048_576;

/** A value in a form that shows the order of keys, the sign of zero and every own key, `__proto__` too. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(shown).join()}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, member]) => `${JSON.stringify(key)}:${shown(member)}`)
      .join()}}`;
  }
  return Object.is(value, -0) ? '-0' : JSON.stringify(value);
}

const told = ({ event, data }: SseEvent): string => {
  const body = event === 'error' ? undefined : parseJson(data);
  return isRecord(body) ? shown(body) : `${event} ${data}`;
};

/** What a parser tells of all that. */
export function parsed(bytes: Buffer): string[] {
  const found: string[] = [];
  const parser = new SseParser(MOST);
  parser.feed(bytes);
  for (let event = parser.next(); event !== undefined; event = parser.next()) {
    if (event === 'too-large') throw new Error('too large');
    found.push(told(event));
  }
  return found;
}

export class Recorder {
  readonly found: string[] = [];
  /** Events that were read by their shape. */
  recalled = 0;
  private readonly bodies = new Set<JsonRecord>();

  event(event: SseEvent): void {
    this.found.push(told(event));
  }

  object(body: JsonRecord): void {
    if (this.bodies.has(body)) this.recalled += 1;
    this.bodies.add(body);
    this.found.push(shown(body));
  }
}

/** A stream, what it was told, and how to go on. */
export function newReading(known?: KnownShapes): { recorder: Recorder; push: (chunk: Buffer) => void } {
  const recorder = new Recorder();
  const reader = new EventReader(recorder, {
    maxEventBytes: MOST,
    isOver: () => false,
    ...(known !== undefined && { known }),
  });
  const push = (chunk: Buffer): void => {
    const lent = Buffer.from(chunk);
    expect(reader.push(lent)).toBe(true);
    lent.fill(0x78);
  };
  return { recorder, push };
}

export function read(chunks: readonly Buffer[], known?: KnownShapes): Recorder {
  const { recorder, push } = newReading(known);
  for (const chunk of chunks) push(chunk);
  return recorder;
}

/** What servers write into a string, and what none should; a character for each byte. */
export const TEXTS = [
  '',
  'a',
  ' morning',
  'a longer text than is put together by hand',
  'x'.repeat(300),
  '\\n',
  'say \\"yes\\"',
  '\\\\',
  '\\\\\\"',
  '\\u00fc',
  '\\ud83d\\ude00',
  '\\ud83d',
  '\\ude00\\ud83d',
  '\\/\\b\\f\\t',
  '\xc3\xbc',
  '\xe2\x82\xac',
  '\xf0\x9f\x98\x80',
  '\x7f',
  '\xe2\x80\xa8',
  '\xef\xbb\xbf',
  '\xc2\x85',
  '\xff',
  '\xc3',
  '\xe2\x82',
  '\xf0\x9f\x98',
  '\xed\xa0\xbd',
  '\xc0\xaf',
  '\\n\xc3',
  '\xff\\u0041',
  '\x01',
  '\t',
  'a\x1f',
  '\x00',
  '\\x',
  '\\u12',
  '\\u12g4',
  '\\',
  '\\\x01',
  '\\\n',
  '\\\r\ndata: x',
  '"',
  '\\",\\"b\\":\\"',
  '","b":"y',
  '"}',
  '"}\n\n',
  '"}\n\ndata: {"a":"',
  '\n',
  '\n\n',
  '\r',
  '}',
  ']',
  ':',
  ',',
  '{"a":1}',
  '__proto__',
  'data: ',
];
export const NUMBERS = [
  '0',
  '1',
  '7',
  '42',
  '310',
  '-0',
  '-1',
  '00',
  '01',
  '1e5',
  '1E+2',
  '1e-7',
  '1e400',
  '0.5',
  '1.50',
  '1.',
  '.5',
  '+1',
  '-',
  '1e',
  '1-2',
  '999999999999999',
  '9007199254740993',
  '123456789012345678901',
  '0x10',
  'NaN',
  '1 ',
  ' 1',
  '',
];
/** 14 to 22 digits. */
export const LONG_NUMBERS = Array.from({ length: 40 }, (_, n) =>
  `${7 + n * 13}`.repeat(9).slice(0, 14 + (n % 9)),
);
const OTHERS = ['true', 'false', 'null', '[]', '{}', '[1,"a"]', '{"a":"b"}', 'tru', '"a" "b"'];
const KEYS = [
  'a',
  'b',
  'text',
  'delta',
  'type',
  '1',
  '',
  'two words',
  '__proto__',
  'constructor',
  'toString',
  '\\u0061',
  '\xc3\xbc',
  '\xff',
];

type Tree =
  { readonly text: string } | { readonly members: [key: string, tree: Tree][]; readonly isList: boolean };

function newTree(prng: Prng, depth = 0): Tree {
  const isLeaf = depth > 0 && (depth > 3 || prng.chance(0.6));
  if (isLeaf) return { text: leaf(prng) };
  const isList = depth > 0 && prng.chance(0.3);
  const count = prng.below(5);
  // Keys that repeat or mean more than themselves are rare enough for most trees to be learned.
  const keys = prng.chance(0.8) ? ['a', 'b', 'text', 'delta', 'type', '1', 'two words'] : KEYS;
  const members = Array.from({ length: count }, (_, n): [string, Tree] => {
    const key = prng.chance(0.9) ? (keys[(n + depth) % keys.length] ?? 'a') : prng.pick(keys);
    return [key, newTree(prng, depth + 1)];
  });
  return { members, isList };
}

function leaf(prng: Prng): string {
  const kind = prng.next();
  const isTame = prng.chance(0.9);
  if (kind < 0.55) return `"${prng.pick(isTame ? TEXTS.slice(0, 18) : TEXTS)}"`;
  if (kind < 0.9) return prng.pick(isTame ? NUMBERS.slice(0, 5) : NUMBERS);
  return prng.pick(isTame ? OTHERS.slice(0, 3) : OTHERS);
}

/** The same tree, with some leaves of their own kind changed. */
function varied(tree: Tree, prng: Prng): Tree {
  if (!('text' in tree)) {
    return { ...tree, members: tree.members.map(([key, member]) => [key, varied(member, prng)]) };
  }
  if (prng.chance(0.5)) return tree;
  const isTame = prng.chance(0.95);
  if (tree.text.startsWith('"')) return { text: `"${prng.pick(isTame ? TEXTS.slice(0, 20) : TEXTS)}"` };
  if (/^[-\d]/.test(tree.text)) return { text: prng.pick(isTame ? NUMBERS.slice(0, 10) : NUMBERS) };
  return prng.chance(0.05) ? { text: leaf(prng) } : tree;
}

function written(tree: Tree, space: string): string {
  if ('text' in tree) return tree.text;
  const members = tree.members.map(
    ([key, member]) => (tree.isList ? '' : `"${key}":${space}`) + written(member, space),
  );
  return (tree.isList ? '[' : '{') + members.join(`,${space}`) + (tree.isList ? ']' : '}');
}

interface Style {
  readonly lineEnd: string;
  readonly before: string;
  readonly after: string;
  readonly space: string;
}

const newStyle = (prng: Prng): Style => ({
  lineEnd: prng.pick(['\n', '\n', '\r\n', '\r']),
  before: prng.pick([
    'data: ',
    'data: ',
    'data:',
    'data:  ',
    'event: x\ndata: ',
    ': note\n\ndata: ',
    'event: error\ndata: ',
    'id: {"a":"b"}\ndata: ',
  ]),
  after: prng.pick(['', '', '', '\nid: 7', '\ndata:', ' ', '\nevent: y', '\nevent: error']),
  space: prng.pick(['', '', '', ' ', '\t', '\ndata: ']),
});

function frame({ tree, style }: { readonly tree: Tree; readonly style: Style }, prng: Prng): string {
  const lines = `${style.before}${written(tree, style.space)}${style.after}\n\n`.replaceAll(
    '\n',
    style.lineEnd,
  );
  if (!prng.chance(0.03)) return lines;
  const at = prng.below(lines.length);
  const byte = String.fromCharCode(prng.below(256));
  return prng.pick([
    lines.slice(0, at) + byte + lines.slice(at + 1),
    lines.slice(0, at) + byte + lines.slice(at),
    lines.slice(0, at) + lines.slice(at + 1),
  ]);
}

interface Kind {
  readonly tree: Tree;
  readonly style: Style;
}

/** Some kinds of events. */
export const newKinds = (prng: Prng): Kind[] =>
  Array.from({ length: 1 + prng.below(4) }, () => ({ tree: newTree(prng), style: newStyle(prng) }));

/** Kinds that are nearly those: other lines around them, their members in another order, another leaf. */
export const likeKinds = (kinds: readonly Kind[], prng: Prng): Kind[] =>
  kinds.map(({ tree, style }) => {
    const way = prng.next();
    if (way < 0.4 || 'text' in tree) return { tree, style };
    if (way < 0.5) return { tree, style: newStyle(prng) };
    const members = way < 0.7 ? tree.members.toReversed() : [...tree.members];
    if (way >= 0.7 && members.length > 0) {
      const at = prng.below(members.length);
      members[at] = [members[at]?.[0] ?? 'a', { text: leaf(prng) }];
    }
    return { tree: { ...tree, members }, style };
  });

/** A stream of these kinds in any order, cut anywhere or between events. */
export function newChunks(prng: Prng, kinds = newKinds(prng)): Buffer[] {
  const frames = Array.from({ length: 60 }, () => {
    const kind = prng.pick(kinds);
    return Buffer.from(frame({ ...kind, tree: varied(kind.tree, prng) }, prng), 'latin1');
  });
  const way = prng.next();
  if (way < 0.6) return frames;
  const whole = Buffer.concat(frames);
  if (way < 0.7) return [whole];
  const chunks: Buffer[] = [];
  for (let at = 0; at < whole.length;) {
    const bytes = 1 + prng.below(600);
    chunks.push(whole.subarray(at, at + bytes));
    at += bytes;
  }
  return chunks;
}

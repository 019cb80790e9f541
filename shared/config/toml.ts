/**
 * Reads TOML twice: once for the values and once for the position of every key. The parser of the values alone decides what is
 * valid; the other one only knows places, and better words for what the first refused. All syntax errors are collected by leaving
 * out the line of each one and reading on; nothing of the text itself gets into a message.
 */
import TOML from '@iarna/toml';
import { ParseError, parseTOML, type AST } from 'toml-eslint-parser';
import { exactNumber } from '../base/exact-json.ts';
import { showPath, type KeyPath, type Place, type Places, type Problem, type TextPiece } from './problem.ts';
import { isTable } from './table.ts';

export interface TomlFile {
  /** The values; `undefined` when what could be read is too little to judge. */
  readonly tree: Readonly<Record<string, unknown>> | undefined;
  readonly places: Places;
  readonly syntaxProblems: readonly Problem[];
}

const mostSyntaxProblems = 20;
const longestText = 1_048_576;
/** What the reading of a file leaves of bytes that are not UTF-8. */
const notUtf8 = '\uFFFD';
const fileStart: Place = { line: 1, column: 1 };

const syntaxProblem = (place: Place, rule: string): Problem => ({
  severity: 'error',
  path: '',
  ...place,
  message: `not valid TOML: ${rule}`,
});

const startOf = (node: { readonly loc: AST.SourceLocation }): Place => ({
  line: node.loc.start.line,
  column: node.loc.start.column + 1,
});

const keyNames = (key: AST.TOMLKey): string[] =>
  key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value));

/** Positions by path; the first mention of a table counts as its place. */
class PlaceIndex implements Places {
  readonly #keys = new Map<string, Place>();
  readonly #values = new Map<string, Place>();
  /** Beginning and end of each value in the text. */
  readonly #ranges = new Map<string, readonly [number, number]>();
  #text = '';

  /** The path that ends in a key of this name. */
  pathOf(name: string): KeyPath | undefined {
    const id = [...this.#keys.keys()].find((path) => path.endsWith(`${JSON.stringify(name)}]`));
    return id === undefined ? undefined : (JSON.parse(id) as KeyPath);
  }

  find(path: KeyPath, part: 'key' | 'value'): Place {
    const exact = part === 'value' ? this.#values.get(JSON.stringify(path)) : undefined;
    if (exact !== undefined) return exact;
    for (let length = path.length; length > 0; length -= 1) {
      const place = this.#keys.get(JSON.stringify(path.slice(0, length)));
      if (place !== undefined) return place;
    }
    return fileStart;
  }

  findWithin(path: KeyPath, piece: TextPiece): Place {
    const value = this.find(path, 'value');
    const [start, end] = this.#ranges.get(JSON.stringify(path)) ?? [0, 0];
    const before = this.#text
      .slice(start, end)
      .split(piece.text)
      .slice(0, piece.nth + 1);
    if (before.length <= piece.nth) return value;
    const lines = before.join(piece.text).split('\n');
    const column = (lines.at(-1) ?? '').length + 1;
    return lines.length === 1
      ? { line: value.line, column: value.column + column - 1 }
      : { line: value.line + lines.length - 1, column };
  }

  /** `text` is what was read as `program`. */
  addTop(program: AST.TOMLProgram, text: string): void {
    this.#text = text;
    for (const entry of program.body[0].body) {
      if (entry.type === 'TOMLKeyValue') this.#addKeyValue([], entry);
      else this.#addTable(entry);
    }
  }

  #addTable(table: AST.TOMLTable): void {
    const path = table.resolvedKey;
    for (let length = 1; length <= path.length; length += 1) {
      this.#setKey(path.slice(0, length), startOf(table));
    }
    for (const entry of table.body) this.#addKeyValue(path, entry);
  }

  #addKeyValue(parent: KeyPath, entry: AST.TOMLKeyValue): void {
    const path = [...parent];
    keyNames(entry.key).forEach((name, index) => {
      path.push(name);
      const node = entry.key.keys[index];
      if (node !== undefined) this.#setKey([...path], startOf(node));
    });
    this.#addValue(path, entry.value);
  }

  #addValue(path: KeyPath, value: AST.TOMLContentNode): void {
    this.#values.set(JSON.stringify(path), startOf(value));
    this.#ranges.set(JSON.stringify(path), value.range);
    if (value.type === 'TOMLInlineTable') value.body.forEach((entry) => this.#addKeyValue(path, entry));
    if (value.type !== 'TOMLArray') return;
    value.elements.forEach((element, index) => {
      this.#setKey([...path, index], startOf(element));
      this.#addValue([...path, index], element);
    });
  }

  #setKey(path: KeyPath, place: Place): void {
    const id = JSON.stringify(path);
    if (!this.#keys.has(id)) this.#keys.set(id, place);
  }
}

function isUnclosed(line: string): boolean {
  const opens = line.match(/[[{]/g)?.length ?? 0;
  const closes = line.match(/[\]}]/g)?.length ?? 0;
  return opens !== closes;
}

/** Whether the loss of the line at `index` changes the meaning of the lines after it. */
function carriesStructure(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? '';
  if (line.trim() === '' || /^\s*\[/.test(line) || /"""|'''/.test(line)) return true;
  return isUnclosed(line) || isUnclosed(lines[index - 1] ?? '');
}

type Values = Readonly<Record<string, unknown>>;

const numberOf = (error: unknown, name: string): number => {
  const value: unknown = error instanceof Error ? Reflect.get(error, name) : undefined;
  return typeof value === 'number' ? value : 0;
};

/** The values, or what keeps them from being read. */
function readValues(text: string): { readonly tree: Values } | { readonly problem: Problem } {
  const index = text.indexOf(notUtf8);
  if (index >= 0) {
    const before = text.slice(0, index).split('\n');
    const place = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
    return { problem: syntaxProblem(place, 'this is not UTF-8; save the file with that encoding') };
  }
  try {
    return { tree: exactIntegers(TOML.parse(text)) as Readonly<Record<string, unknown>> };
  } catch (error) {
    // The parser's own message quotes the text around the mistake, so only its position is used.
    const place = { line: numberOf(error, 'line') + 1, column: numberOf(error, 'col') + 1 };
    const refusal = readPositions(text);
    return {
      problem: 'problem' in refusal ? refusal.problem : syntaxProblem(place, 'this cannot be read'),
    };
  }
}

/** The parser's big integers as JSON's exact numbers, which everybody else reads and writes. */
function exactIntegers(value: unknown): unknown {
  if (typeof value === 'bigint') return exactNumber(String(value));
  if (Array.isArray(value)) return value.map(exactIntegers);
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, exactIntegers(held)]));
}

/** What those who are new to TOML write at `index`, most often instead of a value, and what they write then. */
function remedyAt(text: string, index: number): string {
  if (/[\u2018-\u201F]/.test(text.charAt(index))) return '; write straight quotes (")';
  const isValue = /[=,][\s[]*$/.test(text.slice(0, index));
  return isValue && /[\p{L}/]/u.test(text.charAt(index))
    ? '; a value is a text in quotes, a number, true or false'
    : '';
}

/** The positions, or this parser's words for a mistake, which quote nothing. */
function readPositions(text: string): { readonly program: AST.TOMLProgram } | { readonly problem: Problem } {
  try {
    return { program: parseTOML(text, { tomlVersion: '1.0' }) };
  } catch (error) {
    if (!(error instanceof ParseError))
      return { problem: syntaxProblem(fileStart, 'this cannot be read; perhaps the nesting is too deep') };
    const place = { line: error.lineNumber, column: error.column + 1 };
    if (error.message === doubled) {
      const rule = doubledKey(text, error.index);
      if (rule !== undefined) return { problem: syntaxProblem(place, rule) };
    }
    return { problem: syntaxProblem(place, `${error.message}${remedyAt(text, error.index)}`) };
  }
}

/** The words of the parser of positions; it names neither the key nor the other place. */
const doubled = 'Defining a key multiple times is invalid';

/** What is there twice, and where the first one stands; undefined where that cannot be said. `index`: the second one. */
function doubledKey(text: string, index: number): string | undefined {
  const key = /^(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)/.exec(text.slice(index))?.[0];
  if (key === undefined) return undefined;
  // With another name the rest can be read, up to the next one that is there twice.
  const other = freeName(text);
  const before = text.slice(0, index) + other;
  const renamed = before + text.slice(index + key.length);
  const places = new PlaceIndex();
  if (!addReadable(places, renamed))
    addReadable(places, before.slice(0, before.lastIndexOf('\n') + 1) + lineAt(renamed, index));
  const path = places.pathOf(other);
  if (path === undefined) return undefined;
  const whole = [...path.slice(0, -1), key.replace(/^(["'])(.*)\1$/, '$2')];
  const isTable = /^[ \t]*\[/.test(lineAt(text, index));
  const name = isTable ? `[${showPath(whole)}]` : showPath(whole);
  return `${name} is already there in line ${places.find(whole, 'key').line}`;
}

/** Adds the places of a text, without the lines of other keys that are there twice; false where it cannot be read. */
function addReadable(places: PlaceIndex, text: string): boolean {
  const lines = text.split('\n');
  for (let left = mostSyntaxProblems; left > 0; left -= 1)
    try {
      const readable = lines.join('\n');
      places.addTop(parseTOML(readable, { tomlVersion: '1.0' }), readable);
      return true;
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      if (error.message !== doubled) return false;
      lines[error.lineNumber - 1] = '';
    }
  return false;
}

/** The line of the text around a place in it. */
function lineAt(text: string, index: number): string {
  const end = text.indexOf('\n', index);
  return text.slice(text.lastIndexOf('\n', index - 1) + 1, end < 0 ? undefined : end);
}

/** A name that the text does not hold. */
const freeName = (text: string): string =>
  'x'.repeat(1 + (text.match(/x+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0));

interface Reading {
  readonly tree: Values | undefined;
  /** The text without the lines that are not TOML. */
  readonly text: string;
  readonly problems: readonly Problem[];
}

function readLines(lines: string[]): Reading {
  const problems: Problem[] = [];
  while (problems.length < mostSyntaxProblems) {
    const text = lines.join('\n');
    const values = readValues(text);
    if ('tree' in values) return { tree: values.tree, text, problems };
    problems.push(values.problem);
    if (text.includes(notUtf8)) break; // Other faults may come of its encoding.
    const index = values.problem.line - 1;
    if (carriesStructure(lines, index)) break;
    lines[index] = '';
  }
  return { tree: undefined, text: '', problems };
}

/** Lines as editors of every system leave them: `@iarna/toml` knows neither the byte-order mark nor the CR of CRLF everywhere. */
const linesOf = (text: string): string[] => text.replace(/^\uFEFF/, '').split(/\r?\n/);

/** Never throws on bad text. */
export function readToml(text: string): TomlFile {
  const places = new PlaceIndex();
  if (text.length > longestText) {
    const problem = syntaxProblem(fileStart, `the file has more than ${longestText} characters`);
    return { tree: undefined, places, syntaxProblems: [problem] };
  }
  const { tree, text: readable, problems } = readLines(linesOf(text));
  if (tree === undefined) return { tree, places, syntaxProblems: problems };
  const positions = readPositions(readable);
  // Without positions every problem stands at the start of the file; the file is no less valid.
  if ('program' in positions) places.addTop(positions.program, readable);
  return { tree, places, syntaxProblems: problems };
}

/**
 * What is wrong with an agent file, and where. Every problem is collected, none stops the reading. A message names the
 * key and the rule and never the value, which may be a secret in the wrong place.
 */

export type KeyPath = readonly (string | number)[];

export interface Problem {
  /** `error` refuses the file; `warning` and `note` do not. */
  readonly severity: 'error' | 'warning' | 'note';
  /** Dotted path of the key, such as `turn.stop_ms`; empty for the file as a whole. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  readonly message: string;
}

const longestShownKey = 64;

function showKey(key: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(key)) return key;
  return JSON.stringify(key.length > longestShownKey ? `${key.slice(0, longestShownKey)}...` : key);
}

/** `['agent', 'tools', 0]` as `agent.tools[0]`. */
export function showPath(path: KeyPath): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? showKey(part) : `.${showKey(part)}`;
  }
  return text;
}

/** Both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Where keys stand in the text of the file. */
export interface Places {
  /** Position of the key or its value, or of the nearest table around it when the key is not there. */
  find(path: KeyPath, part: 'key' | 'value'): Place;
  /** Position of a piece of a text value, the `nth` of its kind from 0; of the value where it is not written as it reads. */
  findWithin(path: KeyPath, piece: TextPiece): Place;
}

export interface TextPiece {
  readonly text: string;
  readonly nth: number;
}

/** Problems beyond this number add nothing for a reader; the bound keeps a hostile file cheap. */
const mostProblems = 200;

/** Collects the problems of one file. */
export class ProblemList {
  readonly #places: Places;
  readonly #problems: Problem[] = [];
  /** Set while part of the text could not be read: keys that seem to be missing may stand in that part. */
  readonly #isPartial: boolean;

  constructor(places: Places, isPartial = false) {
    this.#places = places;
    this.#isPartial = isPartial;
  }

  /** `rule` continues the path: `must be an integer`. It points at the value. */
  error(path: KeyPath, rule: string): void {
    this.#add('error', path, { rule, place: this.#places.find(path, 'value') });
  }

  /** Like {@link error}, pointing at a piece of the text that is the value. */
  errorWithin(path: KeyPath, piece: TextPiece, rule: string): void {
    this.#add('error', path, { rule, place: this.#places.findWithin(path, piece) });
  }

  /** Like {@link error}, pointing at the key itself. */
  keyError(path: KeyPath, rule: string): void {
    this.#add('error', path, { rule, place: this.#places.find(path, 'key') });
  }

  missing(path: KeyPath, rule: string): void {
    if (!this.#isPartial) this.keyError(path, rule);
  }

  warning(path: KeyPath, rule: string): void {
    this.#add('warning', path, { rule, place: this.#places.find(path, 'value') });
  }

  note(path: KeyPath, rule: string): void {
    this.#add('note', path, { rule, place: this.#places.find(path, 'key') });
  }

  /** In the order of the text. */
  sorted(): Problem[] {
    return this.#problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  }

  #add(severity: Problem['severity'], path: KeyPath, { rule, place }: { rule: string; place: Place }): void {
    if (this.#problems.length >= mostProblems) return;
    const shown = showPath(path);
    this.#problems.push({ severity, path: shown, ...place, message: `${shown} ${rule}` });
  }
}

/** `file:line:column: severity: message`, a form that editors make clickable. */
export function showProblem(file: string, problem: Problem): string {
  return `${file}:${problem.line}:${problem.column}: ${problem.severity}: ${problem.message}`;
}

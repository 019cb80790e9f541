/** Takes out of texts what `[privacy]` of an agent file names. One for all calls of an agent; it keeps nothing. Pure. */
import { linearPattern, type LinearPattern } from '../../base/linear-pattern.ts';
import { vocabularyOf, type Numbers } from '../../languages/vocabulary.ts';
import { detect, type DetectorName, type Span } from './detectors.ts';
import { tokensOf } from './tokens.ts';

/** What to take out: a form that goes from process to process. */
export interface PrivacyRules {
  /** Names of detectors. */
  readonly redact: readonly string[];
  /** Sources of expressions that compile, by name. */
  readonly patterns: Readonly<Record<string, string>>;
  /** Codes of the languages in which numbers are spoken. */
  readonly languages: readonly string[];
}

const deepest = 64;
/** Detectors of what consists of digits. */
const numeric: ReadonlySet<string> = new Set<DetectorName>(['card', 'iban', 'phone', 'digits']);

export class Redactor {
  readonly #kinds: ReadonlySet<string>;
  readonly #patterns: readonly (readonly [string, LinearPattern])[];
  readonly #numbers: Numbers;

  constructor({ redact, patterns, languages }: PrivacyRules) {
    this.#kinds = new Set(redact);
    this.#patterns = Object.entries(patterns).flatMap(([name, source]) => {
      const pattern = linearPattern(source);
      return pattern.ok ? [[name, pattern.value] as const] : [];
    });
    this.#numbers = vocabularyOf(languages).numbers;
  }

  /** The text without it: `[card]` stands in its place. */
  text(text: string): string {
    return this.replaced(text, (kind) => `[${kind}]`);
  }

  /** The text with something else in its place. */
  replaced(text: string, by: (kind: string, value: string) => string): string {
    let written = '';
    let at = 0;
    for (const { from, to, kind } of this.#find(text)) {
      written += text.slice(at, from) + by(kind, text.slice(from, to));
      at = to;
    }
    return at === 0 ? text : written + text.slice(at);
  }

  /** What was found as a program takes it: a number in digits, however it was spoken. */
  plain(kind: string, written: string): string {
    if (!numeric.has(kind)) return written;
    const said = tokensOf(written, this.#numbers).map(({ word, digits, isBetween }) => {
      if (digits !== '') return digits;
      return kind === 'iban' && !isBetween ? word.toUpperCase() : '';
    });
    // A digit whose value the language does not tell.
    if (said.some((one) => one.includes('?'))) return written;
    return `${/^\(?\+/.test(written) ? '+' : ''}${said.join('')}`;
  }

  /** The same for every text of a value of JSON, and for numbers that would be taken out of a text. Names of fields stay. */
  value(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') {
      const text = String(value);
      const left = this.text(text);
      return left === text ? value : left;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (depth > deepest) return null;
    if (Array.isArray(value)) return value.map((one) => this.value(one, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.value(one, depth + 1)]));
  }

  /** In order, each apart from the others: what overlaps is one. */
  #find(text: string): Span[] {
    const detected = this.#kinds.size === 0 ? [] : detect(text, this.#kinds, this.#numbers);
    const matched = this.#patterns.flatMap(([kind, pattern]) =>
      pattern.find(text).flatMap(([from, to]) => (from === to ? [] : [{ from, to, kind }])),
    );
    const merged: Span[] = [];
    for (const span of [...detected, ...matched].toSorted((a, b) => a.from - b.from || b.to - a.to)) {
      const last = merged.at(-1);
      if (last === undefined || span.from >= last.to) merged.push(span);
      else merged[merged.length - 1] = { ...last, to: Math.max(last.to, span.to) };
    }
    return merged;
  }
}

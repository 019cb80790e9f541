/**
 * What is taken out of the transcript of one call: digits that the caller pressed, wherever they come up again, what the agent's patterns
 * match, and what `[privacy]` names. Pure.
 */
import { linearPattern, type LinearPattern } from '../../base/linear-pattern.ts';
import type { Millis } from '../../base/units.ts';
import { vocabularyOf, type Numbers } from '../../languages/vocabulary.ts';
import { numbersIn } from './detectors.ts';
import { Redactor, type PrivacyRules } from './redactor.ts';

const replacement = '[redacted]';
/** Stands for what was said while the recording was paused. */
export const notRecorded = '[not recorded]';
/** Digits within this time belong together, whatever the agent makes of them. */
const sameEntryMs: Millis = 10_000;
/** Fewer digits are a choice in a menu and come up everywhere. */
const fewestDigits = 3;
/** Of an entry whose rest stands in no text, because the voice was cut in it. */
const fewestCutDigits = 2;
const mostEntries = 64;

export interface RedactionSettings {
  readonly redactDtmf: boolean;
  readonly redact: readonly string[];
  readonly privacy?: Redactor | undefined;
}

/** How a call hears keys, and what was pressed before, in another worker. */
export interface Keys {
  readonly settings: {
    /** Codes of those in which keys may be read out. */
    readonly languages: readonly string[];
    /** Time within which keys are one entry for the agent. */
    readonly dtmf: { readonly interDigitMs: Millis };
  };
  readonly entries: readonly string[];
  /** Of an entry that is not complete. */
  readonly digits: string;
}

export class Redaction {
  readonly #patterns: readonly LinearPattern[];
  readonly #takesDigits: boolean;
  readonly #privacy: Redactor | undefined;
  #digits = '';
  #pressedAt: Millis = -Infinity;
  #entryMs = sameEntryMs;
  #numbers: Numbers = vocabularyOf([]).numbers;
  /** What was pressed before, the newest last. */
  readonly #entries: string[] = [];

  constructor({ redactDtmf, redact, privacy }: RedactionSettings) {
    this.#takesDigits = redactDtmf;
    this.#privacy = privacy;
    this.#patterns = redact.flatMap((source) => {
      const pattern = linearPattern(source);
      return pattern.ok ? [pattern.value] : [];
    });
  }

  /** Nothing is taken out of any text so far. */
  get isIdle(): boolean {
    const isAsked = this.#privacy !== undefined || this.#patterns.length > 0;
    return !isAsked && this.#keyed().length === 0;
  }

  begin({ settings, entries, digits }: Keys, now: Millis): void {
    this.#numbers = vocabularyOf(settings.languages).numbers;
    this.#entryMs = Math.max(sameEntryMs, settings.dtmf.interDigitMs);
    for (const key of Array.from([...entries, digits].join(entryEnd))) this.pressed(key, now);
  }

  /** Takes a key that the caller pressed, and gives the text that is written for it. */
  pressed(digit: string, now: Millis): string {
    if (!this.#takesDigits) return digit;
    const isNew = !/[0-9]/.test(digit) || now - this.#pressedAt > this.#entryMs;
    if (isNew) this.#close();
    this.#pressedAt = now;
    if (/[0-9]/.test(digit)) this.#digits += digit;
    return replacement;
  }

  /** The text without what must not be kept. */
  text(text: string): string {
    // Pressed keys are removed first: a pattern that took a part of them would leave the rest to be read.
    let left = this.#withoutKeys(text);
    for (const pattern of this.#patterns) left = pattern.replaceAll(left, replacement);
    return this.#privacy?.text(left) ?? left;
  }

  /** However they are written or read out: together, one by one, in words. */
  #withoutKeys(text: string): string {
    const entries = this.#keyed();
    if (entries.length === 0) return text;
    let written = '';
    let behind = 0;
    for (const run of numbersIn(text, this.#numbers, keyGap)) {
      const shown = run.map(({ digits }) => digits);
      const isFirst = keyGap.test(text.slice(0, run[0]?.from));
      const isLast = keyGap.test(text.slice(run.at(-1)?.to));
      for (const [first, last] of tokensWith(entries, shown, { isFirst, isLast })) {
        written += text.slice(behind, run[first]?.from) + replacement;
        behind = run[last]?.to ?? behind;
      }
    }
    return written + text.slice(behind);
  }

  #keyed(): readonly string[] {
    return [this.#digits, ...this.#entries].filter(({ length }) => length >= fewestDigits);
  }

  #close(): void {
    if (this.#digits.length >= fewestDigits) this.#entries.push(this.#digits);
    if (this.#entries.length > mostEntries) this.#entries.shift();
    this.#digits = '';
  }
}

/** Redacts a call's texts as its agent file says. It takes keys out in any case. */
export const redactionOf = (agent: {
  readonly recording?: { readonly redact: readonly string[] } | undefined;
  readonly privacy?: PrivacyRules | undefined;
}): Redaction =>
  new Redaction({
    redact: agent.recording?.redact ?? [],
    redactDtmf: true,
    privacy: agent.privacy && new Redactor(agent.privacy),
  });

/** Digits as voices and models write them: together, or with spaces, commas, quotes or dashes between. */
const keyGap = /^[^\p{L}\p{N}]{0,4}$/u;
const entryEnd = '#';

/** The tokens of a run, from first to last, in which an entry stands. A digit that nobody can tell may be the right one. */
function tokensWith(
  entries: readonly string[],
  tokens: readonly string[],
  cut: { readonly isFirst: boolean; readonly isLast: boolean },
): [first: number, last: number][] {
  const owners = tokens.flatMap((digits, at) => Array.from(digits, () => at));
  const all = tokens.join('');
  const isTaken = tokens.map(() => false);
  for (const entry of entries)
    for (const [from, to] of placesOf(entry, all, cut))
      isTaken.fill(true, owners[from], (owners[to - 1] ?? 0) + 1);
  const found: [number, number][] = [];
  for (const [at, is] of isTaken.entries()) {
    const last = found.at(-1);
    if (is && last?.[1] === at - 1) last[1] = at;
    else if (is) found.push([at, at]);
  }
  return found;
}

/** Where an entry stands in digits: all of it, its beginning where the text was cut behind it, or its end where it was cut before. */
function placesOf(
  entry: string,
  digits: string,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): [from: number, to: number][] {
  const found: [number, number][] = [];
  const first = isFirst ? fewestCutDigits - entry.length : 0;
  const last = digits.length - (isLast ? fewestCutDigits : entry.length);
  for (let at = first; at <= last; at += 1) {
    const [from, to] = [Math.max(0, at), Math.min(digits.length, at + entry.length)];
    const isHere =
      to > from &&
      Array.from(digits.slice(from, to)).every(
        (one, index) => one === '?' || one === entry[from - at + index],
      );
    if (isHere) found.push([from, to]);
  }
  return found;
}

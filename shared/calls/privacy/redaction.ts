/**
 * What is taken out of the transcript of one call: digits that the caller pressed, wherever they come up again, what the agent's patterns
 * match, and what `[privacy]` names. Pure.
 */
import { linearPattern, type LinearPattern } from '../../base/linear-pattern.ts';
import type { Millis } from '../../base/units.ts';
import type { Redactor } from './redactor.ts';

const replacement = '[redacted]';
/** Stands for what was said while the recording was paused. */
export const notRecorded = '[not recorded]';
/** Digits within this time belong together, whatever the agent makes of them. */
const sameEntryMs: Millis = 10_000;
/** Fewer digits are a choice in a menu and come up everywhere. */
const fewestDigits = 3;
const mostEntries = 64;

export interface RedactionSettings {
  readonly redactDtmf: boolean;
  readonly redact: readonly string[];
  readonly privacy?: Redactor | undefined;
}

export class Redaction {
  readonly #patterns: readonly LinearPattern[];
  readonly #takesDigits: boolean;
  readonly #privacy: Redactor | undefined;
  #digits = '';
  #pressedAt: Millis = -Infinity;
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

  /** Takes a key that the caller pressed, and gives the text that is written for it. */
  pressed(digit: string, now: Millis): string {
    if (!this.#takesDigits) return digit;
    const isNew = !/[0-9]/.test(digit) || now - this.#pressedAt > sameEntryMs;
    if (isNew) this.#close();
    this.#pressedAt = now;
    if (/[0-9]/.test(digit)) this.#digits += digit;
    return replacement;
  }

  /** The text without what must not be kept. */
  text(text: string): string {
    let left = text;
    // What was pressed goes first: a pattern that took a part of it would leave the rest to be read.
    for (const entry of [this.#digits, ...this.#entries])
      if (entry.length >= fewestDigits) left = left.replace(spacedOut(entry), replacement);
    for (const pattern of this.#patterns) left = pattern.replaceAll(left, replacement);
    return this.#privacy?.text(left) ?? left;
  }

  #close(): void {
    if (this.#digits.length >= fewestDigits) this.#entries.push(this.#digits);
    if (this.#entries.length > mostEntries) this.#entries.shift();
    this.#digits = '';
  }
}

/** Digits as voices and models write them: together, or with spaces, commas or dashes between. */
const spacedOut = (digits: string): RegExp => new RegExp(Array.from(digits).join('[ ,.-]{0,2}'), 'gu');

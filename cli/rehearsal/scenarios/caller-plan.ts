/**
 * What the caller is about to do, as times of the call: speech that begins, becomes words one by one, and ends; keys. It
 * knows how long saying something takes and nothing of what it means.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { msPerChar } from '../text-playout.ts';

/** Between two keys. */
const keyMs = 200;
/** A typed line is speech long enough to be an interruption, however short it is. */
const confirmMarginMs = 100;

export type CallerAct =
  | { readonly type: 'begins'; readonly text: string; readonly isSpeaking: boolean }
  /** The voice has lasted long enough to be an interruption. */
  | { readonly type: 'is-sure' }
  /** This much of the line has been said. */
  | { readonly type: 'has-said'; readonly text: string }
  | { readonly type: 'falls-silent' }
  | { readonly type: 'presses'; readonly digit: string };

export interface VoiceTimes {
  /** Voice after which speech is reported, and after which it is an interruption. */
  readonly minSpeechMs: Millis;
  readonly confirmMs: Millis;
  /** Silence after which the end of speech is reported. */
  readonly stopMs: Millis;
}

export class CallerPlan {
  readonly #times: VoiceTimes;
  readonly #acts: { readonly at: Millis; readonly act: CallerAct }[] = [];

  constructor(times: VoiceTimes) {
    this.#times = times;
  }

  /** The caller says a line after everything that is planned; `isSpeaking`: the voice was there before the words. */
  say(text: string, { now, isSpeaking }: { readonly now: Millis; readonly isSpeaking: boolean }): void {
    const begins = this.#endAt(now);
    const { minSpeechMs, confirmMs, stopMs } = this.#times;
    this.#add(begins, { type: 'begins', text, isSpeaking });
    this.#add(begins + Math.max(0, confirmMs - minSpeechMs), { type: 'is-sure' });
    for (const word of text.matchAll(/\S+/g)) {
      const said = text.slice(0, word.index + word[0].length);
      this.#add(begins + said.length * msPerChar, { type: 'has-said', text: said });
    }
    const lengthMs = Math.max(text.length * msPerChar, confirmMs + confirmMarginMs);
    this.#add(begins + lengthMs + stopMs, { type: 'falls-silent' });
  }

  press(keys: string, now: Millis): void {
    const begins = this.#endAt(now);
    for (const [index, digit] of keys.split('').entries())
      this.#add(begins + index * keyMs, { type: 'presses', digit });
  }

  /** When the next act is due. */
  get nextAt(): Millis | undefined {
    return this.#acts[0]?.at;
  }

  /** The next act that is due. */
  take(now: Millis): CallerAct | undefined {
    return this.#acts[0] !== undefined && this.#acts[0].at <= now ? this.#acts.shift()?.act : undefined;
  }

  clear(): void {
    this.#acts.length = 0;
  }

  #add(at: Millis, act: CallerAct): void {
    const index = this.#acts.findLastIndex((planned) => planned.at <= at);
    this.#acts.splice(index + 1, 0, { at, act });
  }

  #endAt(now: Millis): Millis {
    return Math.max(now, this.#acts.at(-1)?.at ?? 0);
  }
}

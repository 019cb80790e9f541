/**
 * Stands in for voice and loudspeaker: text that is "spoken" at a steady rate, so that it is known at every moment how
 * much was heard. Only text of the open context is played; positions are in milliseconds of audio that does not exist.
 */
import type { Millis } from '../../shared/base/units.ts';

/** Speaking rate, the one that calls assume of a voice before it was measured. */
export const msPerChar = 65;

interface Spoken {
  text: string;
  isFlushed: boolean;
}

interface Open {
  readonly context: number;
  /** How much of it has been played at `anchorAt`. */
  sentMs: Millis;
  anchorAt: Millis;
  hasStarted: boolean;
  hasDrained: boolean;
  readonly marks: { readonly id: string; readonly atMs: Millis }[];
}

export type PlayoutFact =
  | { readonly type: 'started'; readonly context: number }
  | { readonly type: 'mark'; readonly id: string }
  | { readonly type: 'drained'; readonly context: number; readonly sentMs: Millis };

export class TextPlayout {
  readonly #spoken = new Map<number, Spoken>();
  #open: Open | undefined;
  #isPaused = false;

  /** How long everything given in this context takes to say. */
  lengthMs(context: number): Millis {
    return (this.#spoken.get(context)?.text.length ?? 0) * msPerChar;
  }

  speak(context: number, text: string, now: Millis): void {
    this.#advance(now);
    this.#textOf(context).text += text;
  }

  /** No more text follows in this context. */
  finish(context: number): void {
    this.#textOf(context).isFlushed = true;
  }

  /** Plays this context from now on, `skipMs` into it. */
  open(context: number, { skipMs, now }: { readonly skipMs: Millis; readonly now: Millis }): void {
    this.#open = {
      context,
      sentMs: skipMs,
      anchorAt: now,
      hasStarted: false,
      hasDrained: false,
      marks: [],
    };
    this.#isPaused = false;
  }

  pause(now: Millis): void {
    this.#advance(now);
    this.#isPaused = true;
  }

  resume(now: Millis): void {
    this.#advance(now);
    this.#isPaused = false;
  }

  /** Forgets what was not played. */
  clear(): void {
    this.#open = undefined;
    this.#isPaused = false;
    this.#spoken.clear();
  }

  /** Forgets the text of one context. */
  drop(context: number): void {
    this.#spoken.delete(context);
  }

  /** A mark behind all text that there is now. */
  mark(context: number, id: string): void {
    if (this.#open?.context === context) this.#open.marks.push({ id, atMs: this.lengthMs(context) });
  }

  position(now: Millis): { readonly context: number; readonly sentMs: Millis } | undefined {
    this.#advance(now);
    return this.#open && { context: this.#open.context, sentMs: this.#open.sentMs };
  }

  /** Whether there is something left to play and it is not held. */
  get isPlaying(): boolean {
    const open = this.#open;
    return open !== undefined && !this.#isPaused && open.sentMs < this.lengthMs(open.context);
  }

  /** What has come to pass until now, once each. */
  takeFacts(now: Millis): PlayoutFact[] {
    this.#advance(now);
    const open = this.#open;
    if (open === undefined || this.#isPaused) return [];
    const facts: PlayoutFact[] = [];
    const { context } = open;
    const lengthMs = this.lengthMs(context);
    if (!open.hasStarted && lengthMs > 0) {
      open.hasStarted = true;
      facts.push({ type: 'started', context });
    }
    while (open.marks[0] !== undefined && open.marks[0].atMs <= open.sentMs) {
      facts.push({ type: 'mark', id: open.marks[0].id });
      open.marks.shift();
    }
    const isFlushed = this.#spoken.get(context)?.isFlushed === true;
    if (isFlushed && !open.hasDrained && open.sentMs >= lengthMs) {
      open.hasDrained = true;
      facts.push({ type: 'drained', context, sentMs: open.sentMs });
    }
    return facts;
  }

  /** When the next fact is due, if no more text comes; undefined when none is. */
  nextAt(): Millis | undefined {
    const open = this.#open;
    if (open === undefined || this.#isPaused || open.hasDrained) return undefined;
    const lengthMs = this.lengthMs(open.context);
    const isFlushed = this.#spoken.get(open.context)?.isFlushed === true;
    if (!open.hasStarted && (lengthMs > 0 || isFlushed)) return open.anchorAt;
    const targets = [...open.marks.map(({ atMs }) => atMs), ...(isFlushed ? [lengthMs] : [])];
    if (targets.length === 0) return undefined;
    return open.anchorAt + Math.max(0, Math.min(...targets) - open.sentMs);
  }

  /** When this many words will have been heard of the open context; undefined while there are not as many. */
  wordsAt(count: number): Millis | undefined {
    const open = this.#open;
    if (open === undefined || this.#isPaused) return undefined;
    const words = [...(this.#spoken.get(open.context)?.text ?? '').matchAll(/\S+/g)];
    const last = words[count - 1];
    // The last word that there is may still grow.
    if (last === undefined || count === words.length) return undefined;
    // Half a character beyond the word, so that rounding never costs it.
    const endMs = (last.index + last[0].length + 0.5) * msPerChar;
    return open.anchorAt + Math.max(0, endMs - open.sentMs);
  }

  get openContext(): number | undefined {
    return this.#open?.context;
  }

  #textOf(context: number): Spoken {
    const known = this.#spoken.get(context);
    if (known !== undefined) return known;
    const spoken = { text: '', isFlushed: false };
    this.#spoken.set(context, spoken);
    return spoken;
  }

  #advance(now: Millis): void {
    const open = this.#open;
    if (open === undefined) return;
    const passedMs = Math.max(0, now - open.anchorAt);
    open.anchorAt = Math.max(open.anchorAt, now);
    if (!this.#isPaused)
      open.sentMs = Math.max(open.sentMs, Math.min(this.lengthMs(open.context), open.sentMs + passedMs));
  }
}

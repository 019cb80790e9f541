/**
 * Stands in for voice and loudspeaker: text that is "spoken" at a steady rate, so that it is known at every moment how
 * much was heard. Only text of the open context is played; positions are in milliseconds of audio that does not exist.
 */
import { unreachable } from '../../shared/base/assert.ts';
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
  isStarved: boolean;
  readonly marks: { readonly id: string; readonly atMs: Millis }[];
}

export type PlayoutFact =
  | { readonly type: 'started'; readonly context: number }
  | { readonly type: 'mark'; readonly id: string }
  /** Everything that there is was played, and more is to come; then there is more. */
  | { readonly type: 'starved'; readonly context: number; readonly sentMs: Millis }
  | { readonly type: 'fed'; readonly context: number }
  | { readonly type: 'drained'; readonly context: number; readonly sentMs: Millis };

/** What is ordered of it; the meaning of each is that of the same order of a call with sound. */
export type PlayoutOrder =
  | {
      readonly type: 'playout.open';
      readonly context: number;
      readonly from?: { readonly skipMs: Millis };
    }
  | { readonly type: 'playout.pause' | 'playout.duck' | 'playout.resume' | 'playout.clear' }
  | { readonly type: 'playout.mark'; readonly context: number; readonly id: string }
  | { readonly type: 'playout.finish'; readonly context: number };

export class TextPlayout {
  readonly #spoken = new Map<number, Spoken>();
  #open: Open | undefined;
  #isPaused = false;

  /** How long everything given in this context takes to say. */
  lengthMs(context: number): Millis {
    return (this.#spoken.get(context)?.text.length ?? 0) * msPerChar;
  }

  perform(order: PlayoutOrder, now: Millis): void {
    switch (order.type) {
      case 'playout.open':
        this.#start(order.context, { skipMs: order.from?.skipMs ?? 0, now });
        return;
      case 'playout.pause':
        this.#hold(true, now);
        return;
      case 'playout.duck':
      case 'playout.resume':
        this.#hold(false, now);
        return;
      case 'playout.clear':
        this.#clear();
        return;
      case 'playout.mark':
        this.#mark(order.context, order.id);
        return;
      case 'playout.finish':
        this.finish(order.context);
        return;
      default:
        unreachable(order);
    }
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
  #start(context: number, { skipMs, now }: { readonly skipMs: Millis; readonly now: Millis }): void {
    this.#open = {
      context,
      sentMs: skipMs,
      anchorAt: now,
      hasStarted: false,
      hasDrained: false,
      isStarved: false,
      marks: [],
    };
    this.#isPaused = false;
  }

  #hold(isPaused: boolean, now: Millis): void {
    this.#advance(now);
    this.#isPaused = isPaused;
  }

  /** Forgets what was not played. */
  #clear(): void {
    this.#open = undefined;
    this.#isPaused = false;
    this.#spoken.clear();
  }

  /** Forgets the text of one context. */
  drop(context: number): void {
    this.#spoken.delete(context);
  }

  /** A mark behind all text that there is now. */
  #mark(context: number, id: string): void {
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
    return [...facts, ...takeEnd(open, { lengthMs, isFlushed: this.#isFlushed(context) })];
  }

  /** When the next fact is due, if no more text comes; undefined when none is. */
  nextAt(): Millis | undefined {
    const open = this.#open;
    if (open === undefined || this.#isPaused || open.hasDrained) return undefined;
    const lengthMs = this.lengthMs(open.context);
    if (!open.hasStarted && lengthMs === 0 && !this.#isFlushed(open.context)) return undefined;
    if (!open.hasStarted) return open.anchorAt;
    if (open.isStarved && open.sentMs >= lengthMs) return undefined;
    const targets = [...open.marks.map(({ atMs }) => atMs), lengthMs];
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

  #isFlushed(context: number): boolean {
    return this.#spoken.get(context)?.isFlushed === true;
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

/** Facts about the end of the text that there is. */
function takeEnd(
  open: Open,
  { lengthMs, isFlushed }: { readonly lengthMs: Millis; readonly isFlushed: boolean },
): PlayoutFact[] {
  const { context, sentMs } = open;
  if (sentMs < lengthMs) {
    const wasStarved = open.isStarved;
    open.isStarved = false;
    return wasStarved ? [{ type: 'fed', context }] : [];
  }
  if (isFlushed && !open.hasDrained) {
    open.hasDrained = true;
    return [{ type: 'drained', context, sentMs }];
  }
  if (isFlushed || !open.hasStarted || open.isStarved) return [];
  open.isStarved = true;
  return [{ type: 'starved', context, sentMs }];
}

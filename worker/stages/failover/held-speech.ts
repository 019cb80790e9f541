/**
 * What a voice has said and nobody needs yet: audio is passed on shortly before it is due, so that the rest can be left out
 * when the voice dies in the middle of a word.
 *
 * Invariant: events leave in the order in which they came; audio leaves before a listener who plays it without a pause runs
 * dry, and the first of it at once. Nothing leaves from inside a method that a session's owner calls, `close` included.
 */
import type { Timer } from '../../../shared/runtime/clock.ts';
import type { StageContext, TtsEvent } from '../stage.ts';

/** How far audio is ahead of its listener: passed on up to the first, and again below the second. */
const aheadMs = 320;
const nextAtMs = 200;
/** What is held beyond this is passed on, so that the taker bounds the memory. */
const mostHeldMs = 5_000;
/** Longest part that is passed on at once. */
const partMs = 100;

export type SaidEvent = Exclude<TtsEvent, { readonly type: 'error' | 'cancelled' }>;

interface Held {
  event: SaidEvent;
  /** Where in the audio of its context it stands. */
  at: number;
}

export interface HeldSpeechOptions {
  readonly sampleRate: number;
  readonly sink: (event: SaidEvent) => void;
}

export class HeldSpeech {
  readonly #context: StageContext;
  readonly #options: HeldSpeechOptions;
  #queue: Held[] = [];
  /** Samples in the queue. */
  #waiting = 0;
  /** Samples of each context that came, and that were passed on. */
  readonly #came = new Map<number, number>();
  readonly #passed = new Map<number, number>();
  /** When everything that was passed on has been played. */
  #playedByMs = Number.NEGATIVE_INFINITY;
  #pausedAtMs: number | undefined;
  #timer: Timer | undefined;

  constructor(context: StageContext, options: HeldSpeechOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Passes an event on, now when `isHeld` is false and nothing waits before it. */
  push(event: SaidEvent, { isHeld }: { readonly isHeld: boolean }): void {
    const at = this.#came.get(event.context) ?? 0;
    if (event.type === 'audio') this.#came.set(event.context, at + event.pcm.length);
    if (!isHeld && this.#queue.length === 0) {
      this.#pass({ event, at });
      return;
    }
    // The provider may use the samples for something else when this returns.
    const kept = event.type === 'audio' ? { ...event, pcm: event.pcm.slice() } : event;
    this.#queue.push({ event: kept, at });
    if (event.type === 'audio') this.#waiting += event.pcm.length;
    // Most of what comes is not due yet, and the timer for what is before it runs.
    if (this.#timer === undefined || this.#isDue) this.#passWhatIsDue();
  }

  /** Milliseconds of a context's audio that cannot be taken back. */
  passedMs(context: number): number {
    return ((this.#passed.get(context) ?? 0) * 1000) / this.#options.sampleRate;
  }

  /** Leaves out what a context said behind `ms`, also that it ended. */
  cut(context: number, ms: number): void {
    const sample = Math.round((ms * this.#options.sampleRate) / 1000);
    this.#queue = this.#queue.flatMap(({ event, at }): Held[] => {
      if (event.context !== context) return [{ event, at }];
      switch (event.type) {
        case 'audio': {
          const pcm = event.pcm.subarray(0, Math.max(0, sample - at));
          return pcm.length === 0 ? [] : [{ event: { ...event, pcm }, at }];
        }
        case 'word':
          return event.startMs < ms ? [{ event, at }] : [];
        case 'spoken':
          return at <= sample ? [{ event, at }] : [];
        case 'flushed':
          return [];
      }
    });
    this.#came.set(context, Math.min(sample, this.#came.get(context) ?? 0));
    this.#count();
  }

  drop(context: number): void {
    this.#queue = this.#queue.filter(({ event }) => event.context !== context);
    this.#forget(context);
    this.#count();
  }

  pause(): void {
    this.#pausedAtMs ??= this.#now();
    this.#stopTimer();
  }

  resume(): void {
    if (this.#pausedAtMs === undefined) return;
    this.#playedByMs += this.#now() - this.#pausedAtMs;
    this.#pausedAtMs = undefined;
    this.#arm();
  }

  /** Passes everything on: nothing of it will be left out. */
  passAll(): void {
    this.#stopTimer();
    for (let held = this.#queue.shift(); held !== undefined; held = this.#queue.shift()) this.#pass(held);
    this.#waiting = 0;
  }

  close(): void {
    this.#stopTimer();
    this.#queue = [];
    this.#waiting = 0;
  }

  #now(): number {
    return this.#context.clock.now();
  }

  get #isDue(): boolean {
    const heldMs = (this.#waiting * 1000) / this.#options.sampleRate;
    return heldMs > mostHeldMs || this.#playedByMs - this.#now() < aheadMs;
  }

  #count(): void {
    this.#waiting = this.#queue.reduce(
      (sum, { event }) => sum + (event.type === 'audio' ? event.pcm.length : 0),
      0,
    );
  }

  #passWhatIsDue(): void {
    this.#stopTimer();
    while (this.#pausedAtMs === undefined) {
      const [head] = this.#queue;
      if (head === undefined) return;
      if (head.event.type !== 'audio') {
        this.#queue.shift();
        this.#pass(head);
      } else if (this.#isDue) this.#passPart(head, head.event);
      else break;
    }
    this.#arm();
  }

  #passPart(held: Held, event: Extract<SaidEvent, { readonly type: 'audio' }>): void {
    const samples = Math.round((partMs * this.#options.sampleRate) / 1000);
    const rest = event.pcm.subarray(samples);
    if (rest.length === 0) this.#queue.shift();
    else {
      held.event = { ...event, pcm: rest };
      held.at += samples;
    }
    const part = event.pcm.subarray(0, samples);
    this.#waiting -= part.length;
    this.#pass({ event: { ...event, pcm: part }, at: 0 });
  }

  #pass({ event }: Held): void {
    if (event.type === 'audio') {
      const { length } = event.pcm;
      this.#passed.set(event.context, (this.#passed.get(event.context) ?? 0) + length);
      this.#playedByMs = Math.max(this.#playedByMs, this.#now()) + (length * 1000) / this.#options.sampleRate;
    } else if (event.type === 'flushed') this.#forget(event.context);
    this.#options.sink(event);
  }

  #forget(context: number): void {
    this.#came.delete(context);
    this.#passed.delete(context);
  }

  #arm(): void {
    if (this.#queue.length === 0 || this.#timer !== undefined || this.#pausedAtMs !== undefined) return;
    const context = this.#context;
    this.#timer = context.clock.after(
      Math.max(0, this.#playedByMs - this.#now() - nextAtMs),
      context.bind(() => {
        this.#timer = undefined;
        this.#passWhatIsDue();
      }),
    );
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

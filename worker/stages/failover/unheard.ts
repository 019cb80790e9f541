/**
 * What a voice has said of a context before its first sound. A voice that sends nothing but digital silence is no better than one that
 * sends nothing, so none of it is passed on until there is something to hear.
 */
import type { SaidEvent } from './held-speech.ts';

/** What is louder can be heard: dither is not. */
const leastSample = 16;
/** Nobody pauses for longer before the first word; audio beyond it is not kept. */
const longestSeconds = 3;

export class Unheard {
  readonly #mostSamples: number;
  readonly #sounding = new Set<number>();
  readonly #held = new Map<number, SaidEvent[]>();

  constructor(sampleRate: number) {
    this.#mostSamples = longestSeconds * sampleRate;
  }

  /** What is to be passed on now, in order. */
  take(event: SaidEvent): readonly SaidEvent[] {
    const { context } = event;
    if (this.#sounding.has(context)) {
      if (event.type === 'flushed') this.forget(context);
      return [event];
    }
    const held = this.#held.get(context) ?? [];
    const isHeard = event.type === 'audio' && event.pcm.some((sample) => Math.abs(sample) > leastSample);
    if (isHeard) {
      this.#sounding.add(context);
      this.#held.delete(context);
      return [...held, event];
    }
    if (event.type !== 'audio' || samplesIn(held) < this.#mostSamples) held.push(event);
    this.#held.set(context, held);
    return [];
  }

  /** Ends a context of which nothing could be heard, and gives what was said of it without its silence; empty for every other one. */
  end(context: number): readonly SaidEvent[] {
    const held = this.#held.get(context) ?? [];
    this.forget(context);
    return held.filter(({ type }) => type !== 'audio');
  }

  forget(context: number): void {
    this.#sounding.delete(context);
    this.#held.delete(context);
  }
}

const samplesIn = (events: readonly SaidEvent[]): number =>
  events.reduce((sum, event) => sum + (event.type === 'audio' ? event.pcm.length : 0), 0);

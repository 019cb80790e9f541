/**
 * A session of STT that is opened after a pause, because the ones before it died at once. Of the audio of the pause the
 * newest is kept, and goes to the session as fast as that takes it.
 */
import { ENGINE_RATE, type Millis } from '../../shared/base/units.ts';
import type { Timer } from '../../shared/runtime/clock.ts';
import type { StageContext, SttSession } from './stage.ts';

/** As much of the running turn as another session is given in any case. */
const keptSamples = 15 * ENGINE_RATE;
/** How often a session without room is looked at. */
const feedEveryMs = 20;

export class LaterStt implements SttSession {
  readonly #context: StageContext;
  #timer: Timer;
  #inner: SttSession | undefined;
  #waiting: (Int16Array | 'finalize')[] = [];
  #samples = 0;

  constructor(context: StageContext, { afterMs, open }: { afterMs: Millis; open: () => SttSession }) {
    this.#context = context;
    this.#timer = this.#after(afterMs, () => {
      this.#inner = open();
      this.#feed();
    });
  }

  audio(pcm: Int16Array): boolean {
    if (this.#inner !== undefined && this.#waiting.length === 0) return this.#inner.audio(pcm);
    this.#waiting.push(pcm.slice());
    this.#samples += pcm.length;
    const fits = this.#samples <= keptSamples;
    while (this.#samples > keptSamples) this.#dropOldest();
    return fits;
  }

  finalize(): void {
    if (this.#inner !== undefined && this.#waiting.length === 0) this.#inner.finalize();
    else this.#waiting.push('finalize');
  }

  close(): void {
    this.#timer.cancel();
    this.#waiting = [];
    this.#inner?.close();
  }

  #after(ms: Millis, action: () => void): Timer {
    return this.#context.clock.after(ms, this.#context.bind(action));
  }

  #feed(): void {
    const inner = this.#inner;
    while (inner !== undefined && (inner.hasRoom?.() ?? true)) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (next === 'finalize') inner.finalize();
      else {
        this.#samples -= next.length;
        inner.audio(next);
      }
    }
    this.#timer = this.#after(feedEveryMs, () => this.#feed());
  }

  #dropOldest(): void {
    const at = this.#waiting.findIndex((item) => item !== 'finalize');
    const [oldest] = this.#waiting.splice(at, 1);
    this.#samples -= oldest instanceof Int16Array ? oldest.length : this.#samples;
  }
}

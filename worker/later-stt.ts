/**
 * A session of STT that is opened after a pause, because the ones before it died at once. Audio of the pause is dropped; a
 * finalize is kept. The owner waits for no longer than it would for any session.
 */
import type { Millis } from '../shared/base/units.ts';
import type { Timer } from '../shared/runtime/clock.ts';
import type { StageContext, SttSession } from './stages/stage.ts';

export class LaterStt implements SttSession {
  readonly #timer: Timer;
  #inner: SttSession | undefined;
  #finalizes = 0;

  constructor(context: StageContext, { afterMs, open }: { afterMs: Millis; open: () => SttSession }) {
    this.#timer = context.clock.after(
      afterMs,
      context.bind(() => {
        const inner = open();
        this.#inner = inner;
        for (; this.#finalizes > 0; this.#finalizes -= 1) inner.finalize();
      }),
    );
  }

  audio(pcm: Int16Array): boolean {
    return this.#inner?.audio(pcm) ?? false;
  }

  finalize(): void {
    if (this.#inner === undefined) this.#finalizes += 1;
    else this.#inner.finalize();
  }

  close(): void {
    this.#timer.cancel();
    this.#inner?.close();
  }
}

/**
 * The STT beside a model that writes words down itself, while there is no session of the model: it hears whole stretches of voice, and leaves
 * when one is over and the model is back.
 */
import type { SttEvent, SttSession } from '../stage.ts';

export class StandIn {
  readonly #open: (sink: (event: SttEvent) => void) => SttSession;
  readonly #sink: (event: SttEvent) => void;
  #session: SttSession | undefined;
  /** Stretches whose end it was told of, and has not told the words of. */
  #owed = 0;
  #isWithin = false;

  constructor(open: (sink: (event: SttEvent) => void) => SttSession, sink: (event: SttEvent) => void) {
    this.#open = open;
    this.#sink = sink;
  }

  /** The session that hears what comes next; undefined where the model does. */
  hears(isModelGone: boolean): SttSession | undefined {
    if (isModelGone) this.#session ??= this.#open((event) => this.#take(event));
    else if (!this.#isWithin && this.#owed === 0) this.close();
    this.#isWithin = this.#session !== undefined;
    return this.#session;
  }

  /** The stretch is over; false where it was not this one that heard it. */
  finalize(): boolean {
    if (this.#session === undefined) return false;
    this.#owed += 1;
    this.#isWithin = false;
    this.#session.finalize();
    return true;
  }

  close(): void {
    this.#session?.close();
    this.#session = undefined;
    this.#owed = 0;
  }

  #take(event: SttEvent): void {
    if (event.type === 'finalized') this.#owed -= 1;
    this.#sink(event);
  }
}

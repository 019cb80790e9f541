/**
 * The order in which sockets are read whose calls were taken up together. Their clients may each have sent seconds of audio
 * while nobody read; so nothing of it is read until all the calls go on speaking, and then a piece of each in turn, with
 * room between the pieces for timers and for everybody else.
 */
import { AsyncResource } from 'node:async_hooks';
import type { Millis } from '../../../shared/base/units.ts';
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';

/** What one turn may read, as time for which nobody read: about the most that one read of a socket brings. */
const turnMs = 2_000;
/** Reading begins after this time even where the word that all calls have come does not. */
const longestHoldMs = 1_000;

/** A socket whose reading is held: `CallSocket`. */
export interface PieceSource {
  /** Reads a piece, and calls `held` when there is more. */
  readPiece(held: () => void): void;
}

export interface ReadTurnsOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** Calls back once I/O and timers had their turn. */
  readonly soon: (callback: () => void) => void;
}

export class ReadTurns {
  readonly #options: ReadTurnsOptions;
  readonly #queue: { readonly socket: PieceSource; readonly silentMs: Millis }[] = [];
  /** Not in the scope of the call whose bytes happened to ask for it. */
  readonly #turn: () => void;
  #hold: Timer | undefined;
  #isTurnComing = false;

  constructor(options: ReadTurnsOptions) {
    this.#options = options;
    this.#turn = AsyncResource.bind(() => this.#readSome());
  }

  /** Takes a socket whose reading is held, and from which nobody has read for so long. */
  add(socket: PieceSource, silentMs: Millis): void {
    this.#queue.push({ socket, silentMs });
    this.#hold ??= this.#options.clock.after(longestHoldMs, () => this.begin());
  }

  /** All calls have come. */
  begin(): void {
    this.#hold?.cancel();
    this.#hold = undefined;
    this.#ask();
  }

  #ask(): void {
    if (this.#isTurnComing || this.#hold !== undefined || this.#queue.length === 0) return;
    this.#isTurnComing = true;
    this.#options.soon(this.#turn);
  }

  #readSome(): void {
    this.#isTurnComing = false;
    if (this.#hold !== undefined) return;
    for (let leftMs = turnMs; leftMs > 0;) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      leftMs -= next.silentMs;
      next.socket.readPiece(() => {
        this.#queue.push(next);
        this.#ask();
      });
    }
    this.#ask();
  }
}

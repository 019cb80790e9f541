/**
 * Connections on their way to workers, and the calls that came of them. Every connection has an owner at any instant:
 * until the worker confirms in its own words, this process keeps a duplicate of the socket and can give it to another
 * worker. Each offer gives back exactly one call slot.
 */
import type { Socket } from 'node:net';
import type { Millis } from '../shared/base/units.ts';
import type { Clock } from '../shared/runtime/clock.ts';
import type { CallOffer } from '../shared/protocol/ipc.ts';

/** How long a connection may wait for a worker after the one that had it died. */
const rescueMs = 5_000;

type OfferState =
  | { readonly phase: 'homeless'; readonly since: Millis }
  | { readonly phase: 'offered'; readonly worker: number }
  | { readonly phase: 'taken'; readonly worker: number };

interface OpenOffer {
  readonly message: CallOffer;
  readonly givenAt: Millis;
  /** Our duplicate; dropped once the worker has confirmed its own. */
  readonly socket: Socket;
  readonly declinedBy: Set<number>;
  readonly release: () => void;
  state: OfferState;
}

export interface HandOverOptions {
  readonly clock: Clock;
  readonly readyWorkers: () => readonly number[];
  readonly offer: (worker: number, message: CallOffer, socket: Socket) => boolean;
  readonly counted: (outcome: 'taken' | 'moved' | 'lost') => void;
}

export class HandOver {
  readonly #options: HandOverOptions;
  readonly #offers = new Map<number, OpenOffer>();
  #lastOffer = 0;
  #waiting = 0;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /** Connections that no worker has confirmed yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** How long the oldest connection has waited for a worker's confirmation; 0 when none waits. */
  oldestWaitMs(): Millis {
    if (this.#waiting === 0) return 0;
    // Offers are kept in the order in which they came.
    for (const offer of this.#offers.values())
      if (offer.state.phase !== 'taken') return this.#options.clock.now() - offer.givenAt;
    return 0;
  }

  /** Connections that are calls or on their way to be. */
  get open(): number {
    return this.#offers.size;
  }

  /** Gives a connection away. Its reading has been stopped, and it has a call slot. */
  give(socket: Socket, request: Omit<CallOffer, 'type' | 'offer'>, release: () => void): void {
    this.#lastOffer += 1;
    const message: CallOffer = { type: 'call.offer', offer: this.#lastOffer, ...request };
    const givenAt = this.#options.clock.now();
    const state: OfferState = { phase: 'homeless', since: givenAt };
    const offer: OpenOffer = { message, givenAt, socket, declinedBy: new Set(), release, state };
    this.#offers.set(message.offer, offer);
    this.#waiting += 1;
    // Without a listener a reset of our duplicate would end the process; the worker sees it on its own one.
    socket.on('error', () => undefined);
    this.#place(offer);
  }

  taken(id: number): void {
    const offer = this.#offers.get(id);
    if (offer?.state.phase !== 'offered') return;
    offer.state = { phase: 'taken', worker: offer.state.worker };
    this.#waiting -= 1;
    offer.socket.destroy();
    this.#options.counted('taken');
  }

  declined(id: number): void {
    const offer = this.#offers.get(id);
    if (offer?.state.phase !== 'offered') return;
    offer.declinedBy.add(offer.state.worker);
    this.#uproot(offer);
  }

  /** The call is over and its socket closed. */
  over(id: number): void {
    this.#forget(id);
  }

  /** A worker is gone. Its calls are over; what it never confirmed goes to another. */
  workerGone(worker: number): void {
    for (const [id, offer] of this.#offers) {
      if (offer.state.phase === 'homeless' || offer.state.worker !== worker) continue;
      if (offer.state.phase === 'taken') this.#forget(id);
      else this.#uproot(offer);
    }
  }

  /** Places what waits for a worker, and gives up on what waited too long. */
  retry(): void {
    const now = this.#options.clock.now();
    for (const [id, offer] of this.#offers) {
      if (offer.state.phase !== 'homeless') continue;
      if (now - offer.state.since >= rescueMs) this.#lose(id, offer);
      else this.#place(offer);
    }
  }

  #uproot(offer: OpenOffer): void {
    offer.state = { phase: 'homeless', since: this.#options.clock.now() };
    this.#options.counted('moved');
    this.#place(offer);
  }

  #place(offer: OpenOffer): void {
    const worker = this.#leastLoaded(offer.declinedBy);
    if (worker !== undefined && this.#options.offer(worker, offer.message, offer.socket)) {
      offer.state = { phase: 'offered', worker };
    }
  }

  #leastLoaded(declinedBy: ReadonlySet<number>): number | undefined {
    const ready = this.#options.readyWorkers().filter((worker) => !declinedBy.has(worker));
    const load = new Map(ready.map((worker) => [worker, 0]));
    for (const { state } of this.#offers.values()) {
      if (state.phase !== 'homeless') load.set(state.worker, (load.get(state.worker) ?? 0) + 1);
    }
    let best: number | undefined;
    for (const worker of ready)
      if (best === undefined || (load.get(worker) ?? 0) < (load.get(best) ?? 0)) best = worker;
    return best;
  }

  #lose(id: number, offer: OpenOffer): void {
    this.#options.counted('lost');
    offer.socket.destroy();
    this.#forget(id);
  }

  #forget(id: number): void {
    const offer = this.#offers.get(id);
    if (offer === undefined) return;
    this.#offers.delete(id);
    if (offer.state.phase !== 'taken') {
      this.#waiting -= 1;
      offer.socket.destroy();
    }
    offer.release();
  }
}

/**
 * Which worker has which SIP call: the one with the fewest, and after its death another one, which goes on from the record that the
 * first left. The same holds as for connections (handover/hand-over.ts); of a call its socket for audio is kept.
 */
import type { AgentRef } from '../../../shared/agents/version.ts';
import type { Millis } from '../../../shared/base/units.ts';
import {
  sipOffersFrom,
  type SipFromWorker,
  type SipOffer,
  type SipToWorker,
} from '../../../shared/sip/calls.ts';
import { mostDeaths, rescueMs } from '../../handover/open-offer.ts';
import type { RtpSocket } from './rtp-ports.ts';

type State =
  | { readonly phase: 'waiting'; readonly since: Millis }
  | { readonly phase: 'offered' | 'taken'; readonly worker: number };

export interface PlacedCall {
  message: SipOffer;
  readonly rtp: RtpSocket;
  /** The call as the agent knows it. */
  readonly call: number;
  readonly declinedBy: Set<number>;
  /** The version of its agent, once its worker has said so. */
  agent?: AgentRef;
  /** Workers that hung or died while they worked for this call. */
  deaths: number;
  state: State;
}

export interface PlacementOptions {
  readonly now: () => Millis;
  readonly readyWorkers: () => readonly number[];
  /** Calls of other transports that a worker has. */
  readonly load: (worker: number) => number;
  readonly offer: (worker: number, message: SipOffer, rtp: RtpSocket) => boolean;
  readonly send: (worker: number, message: SipToWorker) => void;
  readonly allGiven: (worker: number) => void;
  readonly records: {
    /** Slots of the calls that a dead worker left whole, by number of the call. */
    readonly leftBy: (worker: number) => ReadonlyMap<number, number>;
    readonly forget: (slot: number, offer: number) => void;
  };
  readonly isStopping: () => boolean;
  /** No worker came, or none could go on. */
  readonly lost: (call: number) => void;
}

export class Placement {
  readonly #options: PlacementOptions;
  readonly #calls = new Map<number, PlacedCall>();
  #last = sipOffersFrom;

  constructor(options: PlacementOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#calls.size;
  }

  /** The versions of agents that calls have. */
  get agents(): readonly AgentRef[] {
    return [...this.#calls.values()].flatMap(({ agent }) => agent ?? []);
  }

  give(call: number, rtp: RtpSocket, message: Omit<SipOffer, 'type' | 'offer'>): number {
    this.#last += 1;
    const placed: PlacedCall = {
      message: { type: 'sip.offer', offer: this.#last, ...message },
      rtp,
      call,
      declinedBy: new Set(),
      deaths: 0,
      state: { phase: 'waiting', since: this.#options.now() },
    };
    this.#calls.set(this.#last, placed);
    this.#place(placed);
    return this.#last;
  }

  callOf(offer: number): PlacedCall | undefined {
    return this.#calls.get(offer);
  }

  /** Tells the worker that has the call. While the call is on its way, the offer holds what it would be told. */
  tell(offer: number, message: SipToWorker): void {
    const state = this.#calls.get(offer)?.state;
    if (state !== undefined && state.phase !== 'waiting') this.#options.send(state.worker, message);
  }

  take(worker: number, message: Extract<SipFromWorker, { type: 'sip.taken' | 'sip.declined' }>): void {
    const placed = this.#calls.get(message.offer);
    if (placed?.state.phase !== 'offered' || placed.state.worker !== worker) return;
    if (message.type === 'sip.taken') {
      placed.state = { phase: 'taken', worker };
      return;
    }
    placed.declinedBy.add(worker);
    placed.state = { phase: 'waiting', since: this.#options.now() };
    this.#place(placed);
  }

  /** True where a worker holds something of the call that it has to give back first. */
  isHeld(offer: number): boolean {
    return (this.#calls.get(offer)?.state.phase ?? 'waiting') !== 'waiting';
  }

  forget(offer: number): void {
    const placed = this.#calls.get(offer);
    if (placed === undefined) return;
    this.#calls.delete(offer);
    const { resumeFrom } = placed.message;
    if (resumeFrom !== undefined) this.#options.records.forget(resumeFrom, offer);
    placed.rtp.close();
  }

  /**
   * Its calls go to others, but for the one for which workers hung or died (`during`) too often. Returns how many were taken up,
   * how many are over, and how many are ended for the sake of all others.
   */
  workerGone(
    worker: number,
    during?: number,
  ): { readonly takenUp: number; readonly over: number; readonly blamed: number } {
    const found = this.#options.records.leftBy(worker);
    const outcomes = { takenUp: 0, over: 0, blamed: 0 };
    for (const placed of [...this.#calls.values()]) {
      if (placed.state.phase === 'waiting' || placed.state.worker !== worker) continue;
      const { offer, resumeFrom } = placed.message;
      const slot = found.get(offer);
      const wasTaken = placed.state.phase === 'taken';
      // While calls drain, another worker may still go on with them.
      const isEnd = this.#options.isStopping() && this.#options.readyWorkers().length === 0;
      const isBlamed = offer === during && (placed.deaths += 1) >= mostDeaths;
      if (isEnd || isBlamed || (wasTaken && slot === undefined)) {
        outcomes[isBlamed ? 'blamed' : 'over'] += 1;
        this.#lose(placed);
        continue;
      }
      if (slot !== undefined) {
        if (resumeFrom !== undefined && resumeFrom !== slot) this.#options.records.forget(resumeFrom, offer);
        placed.message = { ...placed.message, resumeFrom: slot };
        outcomes.takenUp += 1;
      }
      placed.state = { phase: 'waiting', since: this.#options.now() };
      this.#place(placed);
    }
    for (const [offer, slot] of found)
      if (this.#calls.get(offer)?.message.resumeFrom !== slot) this.#options.records.forget(slot, offer);
    return outcomes;
  }

  /** Places what waits, and gives up on what has waited too long. */
  retry(): void {
    const now = this.#options.now();
    for (const placed of [...this.#calls.values()]) {
      if (placed.state.phase !== 'waiting') continue;
      if (now - placed.state.since >= rescueMs) this.#lose(placed);
      else this.#place(placed);
    }
  }

  #lose(placed: PlacedCall): void {
    this.forget(placed.message.offer);
    this.#options.lost(placed.call);
  }

  #place(placed: PlacedCall): void {
    const worker = this.#leastLoaded(placed.declinedBy);
    if (worker === undefined || !this.#options.offer(worker, placed.message, placed.rtp)) return;
    placed.state = { phase: 'offered', worker };
    if (placed.message.resumeFrom !== undefined) this.#options.allGiven(worker);
  }

  #leastLoaded(declinedBy: ReadonlySet<number>): number | undefined {
    const own = new Map<number, number>();
    for (const { state } of this.#calls.values())
      if (state.phase !== 'waiting') own.set(state.worker, (own.get(state.worker) ?? 0) + 1);
    let best: { readonly worker: number; readonly load: number } | undefined;
    for (const worker of this.#options.readyWorkers()) {
      if (declinedBy.has(worker)) continue;
      const load = this.#options.load(worker) + (own.get(worker) ?? 0);
      if (best === undefined || load < best.load) best = { worker, load };
    }
    return best?.worker;
  }
}

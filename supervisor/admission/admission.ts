/**
 * Who is let in, as a pure ledger (docs/call-protocol.md, When there is no call). A connection is counted before it is handed over, and until its
 * socket is gone or the hand-over failed. It is a session from its `start` on: sessions are counted by the workers, and a fact here. Pure.
 */
import { refusals, type Answer } from '../http/refusals.ts';

export interface AdmissionLimits {
  /** Calls that have begun, of the whole service. */
  readonly maxSessions: number;
  /** Connections on their way to a worker that has not confirmed them yet. */
  readonly acceptQueue: number;
}

/** Connections of one or several listeners, begun or not, and how many there may be. */
export interface ConnectionPool {
  readonly name: string;
  readonly most: number;
}

export interface AdmissionFacts {
  readonly draining: boolean;
  /** Calls that have begun, those on their way from one worker to another and those of the supervisor before this one among them. */
  readonly sessions: number;
  readonly readyWorkers: number;
  /** Inference has been behind for a while. */
  readonly inferenceBehind: boolean;
  /** Calls have got their audio late for a while. */
  readonly workersLate: boolean;
  /** Connections on their way to a worker. */
  readonly inHandOver: number;
}

export class Admission {
  readonly #limits: AdmissionLimits;
  /** By pool. */
  readonly #connections = new Map<string, number>();

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  get connections(): number {
    let sum = 0;
    for (const count of this.#connections.values()) sum += count;
    return sum;
  }

  /** Why a new connection of a pool would be refused now; undefined when it would not. */
  refusal(facts: AdmissionFacts, pool: ConnectionPool): Answer | undefined {
    if (facts.draining) return refusals.draining;
    if (facts.sessions >= this.#limits.maxSessions) return refusals.sessions_full;
    if ((this.#connections.get(pool.name) ?? 0) >= pool.most) return refusals.calls_full;
    if (facts.inHandOver >= this.#limits.acceptQueue) return refusals.hand_over_full;
    if (facts.readyWorkers === 0) return refusals.no_worker;
    if (facts.inferenceBehind) return refusals.inference_overloaded;
    return facts.workersLate ? refusals.workers_late : undefined;
  }

  take(pool: string): void {
    this.#connections.set(pool, (this.#connections.get(pool) ?? 0) + 1);
  }

  release(pool: string): void {
    this.#connections.set(pool, (this.#connections.get(pool) ?? 0) - 1);
  }
}

/** Frames of 32 ms: with more than this waiting, speech facts come late enough to be heard. */
const behindFrames = 6;
/** With questions to the turn model this old, most of them miss the time in which an answer is of use. */
const behindAskMs = 200;
/** A backlog that is gone sooner was a hiccup of the machine, not a lack of capacity. */
const behindLooks = 3;

/** Tells a lasting backlog from a hiccup. Looks at inference at regular times, not when calls happen to arrive. */
export class BacklogWatch {
  #looks = 0;

  /** `unread` frames wait in the fullest mailbox; the oldest question to the turn model has waited `turnAskMs`. */
  look(unread: number, turnAskMs = 0): void {
    this.#looks = unread >= behindFrames || turnAskMs >= behindAskMs ? this.#looks + 1 : 0;
  }

  get behind(): boolean {
    return this.#looks >= behindLooks;
  }
}

/** Three frames: what a caller's playout buffer absorbs. */
const lateMs = 60;
/** Stalls of a busy machine are over when the next call comes; three seconds without a pause are a lack of capacity. */
const lateLooks = 15;
/** Well below the upper limit, so that one call more does not bring it back at once. */
const calmMs = 20;
const calmLooks = 10;

/** Tells whether admitted calls suffer: from then on there are no new ones until they have been well for a while. */
export class LatenessWatch {
  #late = false;
  /** Looks in a row that speak against the present verdict. */
  #looks = 0;

  /** The worst lateness of any worker's ticks lately, in milliseconds. */
  look(worstMs: number): void {
    const isAgainst = this.#late ? worstMs < calmMs : worstMs >= lateMs;
    this.#looks = isAgainst ? this.#looks + 1 : 0;
    if (this.#looks < (this.#late ? calmLooks : lateLooks)) return;
    this.#late = !this.#late;
    this.#looks = 0;
  }

  get late(): boolean {
    return this.#late;
  }
}

/**
 * The worker of a simulated call: it holds the core's state, writes it down as a real one does, and dies when it is told to. Each
 * worker has a clock of its own.
 */
import { CallDriver, type Told } from '../../../worker/call/driver.ts';
import type { CallAction } from '../../../worker/core/actions.ts';
import type { CallEvent } from '../../../worker/core/events.ts';
import { decodeState, encodeHistory, encodeState } from '../../../worker/core/snapshot.ts';
import type { CallState } from '../../../worker/core/state.ts';
import type { Core } from '../../support/core/core.ts';
import type { Plan } from '../plan.ts';

/** What a slot of the shared memory holds of a call. */
const mostBytes = 128 * 1024;
/** What the state of a call may hold at any time beside its history: all queues and lists in it have bounds. */
const mostStateChars = 12 * 1024;
const weighsEachMs = 5_000;

/** What a worker does in the simulated world. */
export interface SimWorkerEnds {
  readonly now: () => number;
  readonly stepped: (fact: CallEvent, orders: readonly CallAction[]) => void;
  readonly perform: (order: CallAction) => void;
}

export class SimWorker {
  readonly #core: Core;
  readonly #plan: Plan;
  readonly #ends: SimWorkerEnds;
  #driver: CallDriver;
  #saved: { state: string; history: string } | undefined;
  #deadline: number | undefined;
  #weighedAt = 0;
  /** What its clock shows more than the world's. */
  offsetMs = 0;

  constructor(core: Core, plan: Plan, ends: SimWorkerEnds) {
    this.#core = core;
    this.#plan = plan;
    this.#ends = ends;
    this.#driver = this.#drive(core.newCall(plan.settings));
  }

  #drive(state: CallState): CallDriver {
    const { now, perform } = this.#ends;
    const ports = {
      now: () => now() + this.offsetMs,
      stepped: (fact: CallEvent, orders: readonly CallAction[]) => this.#stepped(fact, orders),
      perform,
    };
    return new CallDriver(state, ports, this.#core);
  }

  /** When the core wants to be told the time, on the world's clock. */
  get deadline(): number | undefined {
    return this.#deadline;
  }

  tell(event: CallEvent): Told {
    return this.#driver.tell(event);
  }

  #stepped(event: CallEvent, orders: readonly CallAction[]): void {
    const deadline = this.#core.nextDeadline(this.#driver.state);
    this.#deadline = deadline === undefined ? undefined : deadline - this.offsetMs;
    // Text of the LLM is written down with the next tick.
    if (event.type !== 'llm.text' && (event.type !== 'stt.partial' || orders.length > 0))
      this.save(this.#ends.now());
    this.#ends.stepped(event, orders);
  }

  /** Writes the state down, where anybody will read it. */
  save(now: number): void {
    if (now - this.#weighedAt >= weighsEachMs) {
      this.#weighedAt = now;
      if (encodeState(this.#driver.state).length > mostStateChars)
        throw new Error('the state of a call has no bound');
    }
    if (!this.#plan.lossesAtMs.some((at) => now >= at - 100 && now <= at + 40)) return;
    this.#saved = {
      state: encodeState(this.#driver.state),
      history: encodeHistory(this.#driver.state.conversation.history, mostBytes),
    };
    if (this.#saved.state.length > mostBytes) throw new Error('the state of a call has no bound');
  }

  /** Dies; the next one reads what was written down. False when the call is over. */
  lose(): boolean {
    if (this.#saved === undefined || this.#deadline === undefined) return false;
    const shiftMs = this.#plan.prng.below(2_000_000) - 1_000_000;
    this.offsetMs += shiftMs;
    const state = JSON.parse(this.#saved.state) as unknown;
    const { history } = this.#saved;
    this.#driver = this.#drive(decodeState({ state, history, shiftMs }, this.#plan.settings));
    return true;
  }
}

/**
 * Drives the core of one call: tells it facts, one at a time and in order, and has its orders performed. A fact that arises while
 * another is being handled waits for its turn. It never waits itself. The worker, rehearsals, `eval:turns` and the simulation run this
 * same loop; what they perform orders on is theirs.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { CallAction } from '../core/actions.ts';
import { step } from '../core/call.ts';
import type { CallEvent } from '../core/events.ts';
import type { CallState } from '../core/state.ts';
import { nextDeadline } from '../core/timers.ts';

/** Facts that may wait while one is handled; more means that facts breed facts. */
const maxPendingFacts = 256;

/** The functions of the core that are driven; simulations break them on purpose. */
export interface DrivenCore {
  readonly step: typeof step;
  readonly nextDeadline: typeof nextDeadline;
}

export interface DriverPorts {
  readonly now: () => Millis;
  /** A fact is about to be taken. */
  readonly taking?: (fact: CallEvent) => void;
  /** A fact was taken, and none of its orders is performed yet. */
  readonly stepped?: (fact: CallEvent, orders: readonly CallAction[], now: Millis) => void;
  /** Performs one order. */
  readonly perform: (order: CallAction) => void;
}

/**
 * What came of a fact: it waits behind the one that is being handled, the core only told something, or it gave orders. Facts that
 * waited for this one count with it.
 */
export type Told = 'waits' | 'noted' | 'acted';

export class CallDriver {
  readonly state: CallState;
  readonly #ports: DriverPorts;
  readonly #core: DrivenCore;
  #facts: CallEvent[] = [];
  #isHandling = false;
  #isOver = false;
  #deadline: Millis | undefined;

  constructor(state: CallState, ports: DriverPorts, core: DrivenCore = { step, nextDeadline }) {
    this.state = state;
    this.#ports = ports;
    this.#core = core;
  }

  /** When the core wants to be told the time. */
  get deadline(): Millis | undefined {
    return this.#deadline;
  }

  /** @throws what performing an order throws, and when facts breed facts without end. */
  tell(fact: CallEvent): Told {
    if (this.#isOver) return 'noted';
    if (this.#facts.length >= maxPendingFacts) throw new Error('more facts wait than one step can cause');
    this.#facts.push(fact);
    if (this.#isHandling) return 'waits';
    this.#isHandling = true;
    try {
      return this.#handle();
    } finally {
      this.#isHandling = false;
    }
  }

  /** Nothing more is taken or performed, in the middle of a list of orders as well. */
  close(): void {
    this.#isOver = true;
    this.#facts = [];
    this.#deadline = undefined;
  }

  #handle(): Told {
    const { state } = this;
    const { now: clock, taking, stepped, perform } = this.#ports;
    let told: Told = 'noted';
    for (let fact = this.#facts.shift(); fact !== undefined; fact = this.#facts.shift()) {
      taking?.(fact);
      const now = clock();
      const orders = this.#core.step(state, fact, now);
      stepped?.(fact, orders, now);
      for (const order of orders) {
        if (order.type !== 'told') told = 'acted';
        perform(order);
        if (this.#isOver) return told;
      }
    }
    this.#deadline = this.#core.nextDeadline(state);
    return told;
  }
}

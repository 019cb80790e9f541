/** The agent of one call: its services, with what the call has otherwise, until the call is over. */
import { overridesKey, readOverridesText, type Overrides } from '../../shared/agents/overrides.ts';
import type { AgentRef } from '../../shared/agents/version.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { CalledAgent, CallServices, VariedAgent, WorkerServices } from '../call/services.ts';

/** Who says what a call has otherwise: what was signed or who had it made, the operator's server, the agent process. */
export type OverridesSource = 'start' | 'before_call' | 'agent_link' | 'takeover';

const withoutOverrides = 'an override of a call is ignored';

/** Nobody wants it any more. */
export const releaseOf = (called: CalledAgent | 'full'): void => {
  if (called !== 'full') called.release();
};

export class CallAgent {
  readonly called: CalledAgent;
  readonly #worker: WorkerServices;
  #varied: VariedAgent | undefined;
  #services: CallServices;

  constructor(worker: WorkerServices, called: CalledAgent) {
    this.#worker = worker;
    this.called = called;
    this.#services = { ...worker, ...called.services };
  }

  get services(): CallServices {
    return this.#services;
  }

  /** What of it holds. */
  get overrides(): Overrides {
    return this.#varied?.applied ?? {};
  }

  /** Its version; undefined in a service of one agent. */
  get ref(): AgentRef | undefined {
    const { chosen } = this.called;
    return chosen && { id: chosen.id, hash: chosen.hash };
  }

  /** The call has this otherwise, beside what it has already. Answers what it does without, by key and rule, and logs it. */
  vary(more: Overrides, from: OverridesSource, log: Log): readonly string[] {
    const problems = this.#vary(more);
    if (problems.length > 0) log.warn({ from, problems }, withoutOverrides);
    return problems;
  }

  /** The same, of what its `start` carries. */
  varyAsSigned(metadata: Readonly<Record<string, string>>, log: Log): void {
    const given = readOverridesText(metadata[overridesKey]);
    if (given !== undefined) this.vary(given, 'start', log);
    else log.warn({ from: 'start', problems: ['overrides must be an object'] }, withoutOverrides);
  }

  release(): void {
    this.#varied?.release();
    this.called.release();
  }

  #vary(more: Overrides): readonly string[] {
    if (Object.keys(more).length === 0) return [];
    const { vary } = this.called.services;
    if (vary === undefined) return ['overrides are not allowed by the agent file'];
    const before = this.#varied;
    this.#varied = vary({ ...before?.applied, ...more });
    before?.release();
    this.#services = { ...this.#worker, ...this.#varied.services };
    return this.#varied.problems;
  }
}

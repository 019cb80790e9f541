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
  /** Of its flow. */
  #node: string | undefined;
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

  /** The call begins: in the first node of the agent's flow, where it has one. */
  begin(log: Log): void {
    this.enter(this.called.services.settings.flow?.start, log)();
  }

  /**
   * The call is in this node, which may have something of its own. The returned function lets go of the node before, once nothing of the
   * call uses it.
   */
  enter(node: string | undefined, log: Log): () => void {
    const before = this.#varied;
    this.#node = node;
    const { vary } = this.called.services;
    if (vary === undefined || node === undefined) return () => undefined;
    const given = this.overrides;
    const problems = this.#hold(vary(given, node));
    if (problems.length > 0) log.warn({ node, problems }, 'a node does without something of its own');
    return () => before?.release();
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
    const problems = this.#hold(vary({ ...before?.applied, ...more }, this.#node));
    before?.release();
    return problems;
  }

  #hold(varied: VariedAgent): readonly string[] {
    this.#varied = varied;
    this.#services = { ...this.#worker, ...varied.services };
    return varied.problems;
  }
}

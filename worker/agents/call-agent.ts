/** The agent of one call: its services, with what the call has otherwise, until the call is over. */
import type { Overrides } from '../../shared/agents/overrides.ts';
import type { AgentServices, CalledAgent, VariedAgent } from '../call/services.ts';

export class CallAgent {
  readonly called: CalledAgent;
  #varied: VariedAgent | undefined;

  constructor(called: CalledAgent) {
    this.called = called;
  }

  get services(): AgentServices {
    return this.#varied?.services ?? this.called.services;
  }

  /** What of it holds. */
  get overrides(): Overrides {
    return this.#varied?.applied ?? {};
  }

  /** The call has this otherwise, beside what it has already. Answers what is wrong with it: key and rule. */
  vary(more: Overrides): readonly string[] {
    if (Object.keys(more).length === 0) return [];
    const { vary } = this.called.services;
    if (vary === undefined) return ['overrides are not allowed by the agent file'];
    const before = this.#varied;
    this.#varied = vary({ ...before?.applied, ...more });
    before?.release();
    return this.#varied.problems;
  }

  release(): void {
    this.#varied?.release();
    this.called.release();
  }
}

/** The process that asks LLMs, while there is something to ask: it is not there before, and gone a while after. */
import { fork, type ChildProcess } from 'node:child_process';
import { fail } from '../../shared/base/result.ts';
import { parseJson } from '../../shared/base/exact-json.ts';
import type { AnalystOutcome, AnalystSetup, FromAnalyst, ToAnalyst } from '../../shared/calls/messages.ts';
import type { CallRecord, RecordedAgent } from '../../shared/calls/record.ts';
import type { LogLevel } from '../../shared/config/server/server.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';

const idleMs = 60_000;
/** Beside the answers of the LLM, of which there are two at most. */
const startWithinMs = 30_000;

export interface AnalystProcessOptions {
  readonly setupOf: (agent: RecordedAgent) => AnalystSetup | undefined;
  readonly logLevel: LogLevel;
  readonly clock: Clock;
}

export class AnalystProcess {
  readonly #options: AnalystProcessOptions;
  #child: { readonly setup: AnalystSetup; readonly process: ChildProcess } | undefined;
  #idle: Timer | undefined;

  constructor(options: AnalystProcessOptions) {
    this.#options = options;
  }

  /** One call at a time. */
  async analyse({ id, agent, transcript }: CallRecord): Promise<AnalystOutcome> {
    const setup = this.#options.setupOf(agent);
    if (setup === undefined) return fail({ reason: 'unknown_agent', isFinal: true });
    this.#idle?.cancel();
    const child = this.#started(setup);
    const outcome = await this.#answer(child, { id, transcript }, setup);
    this.#idle = this.#options.clock.after(idleMs, () => this.close());
    return outcome;
  }

  close(): void {
    this.#idle?.cancel();
    this.#child?.process.kill('SIGKILL');
    this.#child = undefined;
  }

  #started(setup: AnalystSetup): ChildProcess {
    if (this.#child?.setup === setup && this.#child.process.connected) return this.#child.process;
    this.close();
    // Seen from the built file of this process.
    const child = fork(new URL('../../../worker/calls/analysis/main.js', import.meta.url), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [],
    });
    // An error ends the process, and its end is noticed elsewhere.
    child.on('error', () => undefined);
    const first: ToAnalyst = { type: 'setup', logLevel: this.#options.logLevel, ...setup };
    child.send(first);
    this.#child = { setup, process: child };
    return child;
  }

  async #answer(
    child: ChildProcess,
    { id, transcript }: Pick<CallRecord, 'id' | 'transcript'>,
    { timeoutMs }: AnalystSetup,
  ): Promise<AnalystOutcome> {
    return await new Promise((resolve) => {
      const settle = (outcome: AnalystOutcome): void => {
        timer.cancel();
        child.off('message', take);
        child.off('exit', gone);
        resolve(outcome);
      };
      const take = (message: unknown): void => {
        const answer = message as FromAnalyst;
        if (answer.id === id) settle(parseJson(answer.outcome) as AnalystOutcome);
      };
      const gone = (): void => {
        this.#child = undefined;
        settle(fail({ reason: 'process_died', isFinal: false }));
      };
      const timer = this.#options.clock.after(startWithinMs + 2 * timeoutMs, () => {
        settle(fail({ reason: 'timeout', isFinal: false }));
        this.close();
      });
      child.on('message', take);
      child.once('exit', gone);
      const question: ToAnalyst = { type: 'analyse', id, record: { transcript } };
      if (child.connected) child.send(question);
      else gone();
    });
  }
}

/**
 * The live view of the service, put together on demand: calls as their workers tell of them, and what the supervisor knows itself. A worker
 * that does not answer in time is shown without its calls, and a question costs the calls nothing.
 */
import type { Reader } from '../../shared/auth/tenant-token.ts';
import type { Millis } from '../../shared/base/units.ts';
import { heartbeatAge } from '../../shared/protocol/heartbeat.ts';
import type { ToWorker } from '../../shared/protocol/ipc.ts';
import type { LiveCall, LiveProvider, LiveState, LiveWorker } from '../../shared/protocol/live.ts';
import type { Mailboxes } from '../../shared/protocol/mailbox.ts';
import type { Clock } from '../../shared/runtime/clock.ts';

const answerWithinMs: Millis = 500;

export interface LiveViewOptions {
  readonly agent: string;
  readonly clock: Clock;
  readonly machineMs: () => Millis;
  readonly boxes: Mailboxes;
  readonly workers: () => readonly number[];
  readonly send: (worker: number, message: ToWorker) => boolean;
  readonly providers: () => readonly LiveProvider[];
  readonly unready: () => string | undefined;
  /** What is wrong with agents; absent in a service of one. */
  readonly agentProblems?: (() => readonly string[]) | undefined;
  readonly sessions: () => number;
  readonly maxSessions: number;
}

export class LiveView {
  readonly #options: LiveViewOptions;
  readonly #open = new Map<number, (calls: readonly LiveCall[]) => void>();
  #lastAsk = 0;

  constructor(options: LiveViewOptions) {
    this.#options = options;
  }

  answered(ask: number, calls: readonly LiveCall[]): void {
    this.#open.get(ask)?.(calls);
  }

  /** What a tenant sees: calls of its own, and nothing of the machine that they share with others. */
  async stateOf(tenant: string): Promise<LiveState> {
    const { calls, ready } = await this.state();
    const own = calls.filter((call) => call.tenant === tenant);
    return { agent: tenant, ready, sessions: own.length, calls: own, workers: [], providers: [] };
  }

  async state(): Promise<LiveState> {
    const { agent, unready, sessions, maxSessions, providers, workers } = this.#options;
    const rows = workers();
    const calls = await Promise.all(
      rows.map(async (worker) => (await this.#ask(worker)).map((call) => ({ ...call, worker }))),
    );
    const reason = unready();
    const agentProblems = this.#options.agentProblems?.();
    return {
      agent,
      ...(agentProblems !== undefined && { agentProblems }),
      ready: reason === undefined,
      ...(reason !== undefined && { reason, why: sentenceOf(reason) }),
      sessions: sessions(),
      maxSessions,
      calls: calls.flat().toSorted((a, b) => b.ageMs - a.ageMs),
      workers: rows.map((worker) => this.#worker(worker)),
      providers: providers(),
    };
  }

  /** Ends a call, of this tenant where one is named, wherever it is; false when no worker tells of it. One that hangs ends it when it comes back. */
  async end(call: string, { tenant }: Reader = {}): Promise<boolean> {
    const workers = this.#options.workers();
    const rows = Promise.all(workers.map((worker) => this.#ask(worker)));
    for (const worker of workers)
      this.#options.send(worker, { type: 'call.end', call, ...(tenant !== undefined && { tenant }) });
    return (await rows).flat().some((row) => isIt(row, call, tenant));
  }

  /** The worker that has a call, of this tenant where one is named; undefined when none tells of it. */
  async find(call: string, tenant?: string): Promise<number | undefined> {
    const rows = await Promise.all(
      this.#options.workers().map(async (worker) => ({ worker, calls: await this.#ask(worker) })),
    );
    return rows.find(({ calls }) => calls.some((row) => isIt(row, call, tenant)))?.worker;
  }

  #worker(worker: number): LiveWorker {
    const { boxes, machineMs } = this.#options;
    const { heartbeatMs, calls, worstLatenessUs } = boxes.workerStatus(worker);
    const silentMs = Math.round(heartbeatAge(machineMs(), heartbeatMs));
    return { worker, calls, silentMs, latenessMs: worstLatenessUs / 1000 };
  }

  #ask(worker: number): Promise<readonly LiveCall[]> {
    return new Promise((resolve) => {
      this.#lastAsk += 1;
      const ask = this.#lastAsk;
      const answer = (calls: readonly LiveCall[]): void => {
        timer.cancel();
        this.#open.delete(ask);
        resolve(calls);
      };
      const timer = this.#options.clock.after(answerWithinMs, () => answer([]));
      this.#open.set(ask, answer);
      if (!this.#options.send(worker, { type: 'live.ask', ask })) answer([]);
    });
  }
}

const isIt = (row: LiveCall, call: string, tenant: string | undefined): boolean =>
  row.call === call && (tenant === undefined || row.tenant === tenant);

/** Why the service takes no calls, in a sentence for people. `/readyz` and refusals have the names. */
const sentences: Readonly<Record<string, string>> = {
  starting: 'the service is still starting',
  draining: 'the service is stopping and lets its calls finish',
  sessions_full: 'all call slots are in use (SVC_MAX_SESSIONS)',
  calls_full: 'all connections of every listener are in use',
  hand_over_full: 'too many calls begin at the same moment',
  no_worker: 'no call worker is ready',
  inference_overloaded: 'speech detection is behind: the processor is too busy for the calls it has',
  workers_late: 'calls get their audio late: the processor is too busy for the calls it has',
  provider_budget: 'a provider of this agent has no budget left (SVC_PROVIDER_LIMITS)',
  token_set_full: 'no more used session tokens can be remembered',
  children_failing: 'a process of the service dies again and again',
  inference_silent: 'the process that detects speech does not answer',
};

export const sentenceOf = (reason: string): string => sentences[reason] ?? reason;

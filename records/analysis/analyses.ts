/**
 * Calls that wait to be analysed, one small file each, so that none is forgotten whenever this process dies. They are analysed one after the
 * other; what fails is tried again twice, and then the record says so.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { present } from '../../shared/base/present.ts';
import { addedUsage, nothingUsed, type AnalysisUsage } from '../../shared/calls/analysis/analyse.ts';
import { outcomeOf } from '../../shared/calls/analysis/task.ts';
import type { AnalystLlm, AnalystOutcome } from '../../shared/calls/messages.ts';
import { withCostOf, type PriceTable } from '../../shared/calls/prices.ts';
import type { CallRecord, RecordedAgent } from '../../shared/calls/record.ts';
import { withUsage } from '../../shared/calls/usage.ts';
import type { Clock, Timer, WallClock } from '../../shared/runtime/clock.ts';
import { takeLock } from '../../shared/runtime/file-lock.ts';
import type { CallStore, RecordHooks } from '../call-store.ts';

/** Before the second attempt, and before the third. */
const pausesMs = [60_000, 600_000];
/** From one look for the lock, or for the database, to the next. */
const lookEveryMs = 5_000;
const mostWaiting = 10_000;

export interface AnalysesOptions {
  readonly dir: string;
  /** Whether calls of this version of an agent are analysed. */
  readonly isAsked: (agent: RecordedAgent) => boolean;
  readonly store: () => Promise<Pick<CallStore, 'get' | 'updateAnalysis'>>;
  readonly analyse: (record: CallRecord) => Promise<AnalystOutcome>;
  /** Absent: records have no cost. */
  readonly prices?: PriceTable | undefined;
  /** The record has its analysis, or says why there is none. */
  readonly analyzed: (record: CallRecord) => void;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly told: (news: AnalysisNews) => void;
}

export type AnalysisNews =
  | { readonly type: 'analysed'; readonly call: string }
  | { readonly type: 'again' | 'given_up'; readonly call: string; readonly reason: string }
  | { readonly type: 'crowded_out'; readonly call: string }
  | { readonly type: 'failed'; readonly error: unknown };

interface Job {
  /** Id of the record. */
  readonly id: string;
  /** Id of the agent that had the call. */
  readonly agent: string;
  readonly attempts: number;
  /** Milliseconds since 1970. */
  readonly nextAt: number;
  /** By attempts before. */
  readonly used?: AnalysisUsage;
}

const extension = '.json';

export class Analyses implements RecordHooks {
  readonly #options: AnalysesOptions;
  /** By id; undefined while another process has the lock. */
  #jobs: Map<string, Job> | undefined;
  /** Agents whose LLM fails at present: the calls of others do not wait for it. */
  readonly #troubled = new Map<string, { readonly failures: number; readonly until: number }>();
  #letGo: (() => void) | undefined;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: AnalysesOptions) {
    this.#options = options;
    mkdirSync(options.dir, { recursive: true, mode: 0o750 });
    this.#soon(0);
  }

  /** Before the record is there for good: a job without a record is dropped. @throws where there is no room for it. */
  readonly within = (record: CallRecord): Promise<void> => {
    if (hasWords(record) && this.#options.isAsked(record.agent))
      this.#keep({
        id: record.id,
        agent: record.agent.name,
        attempts: 0,
        nextAt: this.#options.wallClock.now(),
      });
    return Promise.resolve();
  };

  readonly kept = (): void => this.#soon(0);

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** What waits is analysed by the next process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#running;
    this.#letGo?.();
    this.#letGo = undefined;
  }

  #soon(inMs: number): void {
    if (this.#isClosed || this.#running !== undefined) return;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(inMs, () => {
      this.#running = this.#work().then((pauseMs) => {
        this.#running = undefined;
        this.#soon(pauseMs);
      });
    });
  }

  /** Does what is due, and says when to look again. */
  async #work(): Promise<number> {
    try {
      this.#letGo ??= takeLock(join(this.#options.dir, 'lock'));
      if (this.#letGo === undefined) return lookEveryMs;
      this.#jobs ??= this.#left();
      for (;;) {
        const now = this.#options.wallClock.now();
        const job = [...this.#jobs.values()].find(
          ({ nextAt, agent }) => isDue(nextAt, now) && isDue(this.#troubled.get(agent)?.until ?? now, now),
        );
        if (job === undefined || this.#isClosed) return lookEveryMs;
        await this.#attempt(job);
      }
    } catch (error) {
      this.#options.told({ type: 'failed', error });
      return lookEveryMs;
    }
  }

  async #attempt(job: Job): Promise<void> {
    const store = await this.#options.store();
    const record = await store.get(job.id);
    // Erased, or never kept.
    if (record === undefined) {
      this.#forget(job.id);
      return;
    }
    const outcome = await this.#options.analyse(record);
    if (this.#isClosed && !outcome.ok) return;
    const { told, prices } = this.#options;
    this.#watch(job.agent, outcome);
    const { usage = nothingUsed, provider, model } = outcome.ok ? outcome.value : outcome.error;
    const used = addedUsage(usage, job.used);
    const pauseMs = pausesMs[job.attempts];
    if (!outcome.ok && !outcome.error.isFinal && pauseMs !== undefined) {
      const nextAt = this.#options.wallClock.now() + pauseMs;
      this.#keep({ ...job, attempts: job.attempts + 1, nextAt, used });
      told({ type: 'again', call: record.call_id, reason: outcome.error.reason });
      return;
    }
    const { analyzed } = this.#options;
    const at = new Date(this.#options.wallClock.now()).toISOString();
    const change = (kept: CallRecord): CallRecord => {
      const changed = { ...kept, analysis: analysisOf(outcome, { at, used }) };
      return provider === undefined ? changed : withWhatItTook(changed, { provider, model, used, prices });
    };
    await store.updateAnalysis(job.id, change, (changed) => {
      analyzed(changed);
      return Promise.resolve();
    });
    this.#forget(job.id);
    if (outcome.ok) told({ type: 'analysed', call: record.call_id });
    else told({ type: 'given_up', call: record.call_id, reason: outcome.error.reason });
  }

  #watch(agent: string, outcome: AnalystOutcome): void {
    if (outcome.ok || outcome.error.isFinal) {
      this.#troubled.delete(agent);
      return;
    }
    const failures = (this.#troubled.get(agent)?.failures ?? 0) + 1;
    const pauseMs = pausesMs[Math.min(failures, pausesMs.length) - 1] ?? 0;
    this.#troubled.set(agent, { failures, until: this.#options.wallClock.now() + pauseMs });
  }

  /** Jobs of a process that is gone. */
  #left(): Map<string, Job> {
    const names = readdirSync(this.#options.dir).filter((name) => name.endsWith(extension));
    const jobs = names.flatMap((name) => {
      const job = readJob(readFileSync(join(this.#options.dir, name), 'utf8'));
      if (job === undefined) rmSync(join(this.#options.dir, name), { force: true });
      return job === undefined ? [] : [[job.id, job] as const];
    });
    return new Map(jobs);
  }

  #keep(job: Job): void {
    const path = this.#path(job.id);
    writeFileSync(`${path}.part`, JSON.stringify(job), { mode: 0o640 });
    renameSync(`${path}.part`, path);
    this.#jobs?.delete(job.id);
    this.#jobs?.set(job.id, job);
    const [oldest] = this.#jobs?.keys() ?? [];
    if (oldest === undefined || (this.#jobs?.size ?? 0) <= mostWaiting) return;
    this.#forget(oldest);
    this.#options.told({ type: 'crowded_out', call: oldest });
  }

  #forget(id: string): void {
    rmSync(this.#path(id), { force: true });
    this.#jobs?.delete(id);
  }

  #path(id: string): string {
    return join(this.#options.dir, `${encodeURIComponent(id)}${extension}`);
  }
}

/** A clock that was set back would keep it for years. */
const isDue = (nextAt: number, now: number): boolean => nextAt <= now || nextAt > now + 86_400_000;

/** Somebody said something to the agent. */
const hasWords = ({ transcript }: CallRecord): boolean => transcript.some(({ role }) => role === 'caller');

function readJob(text: string): Job | undefined {
  try {
    const { id, agent, attempts, nextAt, used } = JSON.parse(text) as Partial<Job>;
    const isJob =
      [id, agent].every((one) => typeof one === 'string') &&
      Number.isInteger(attempts) &&
      Number.isFinite(nextAt);
    return isJob
      ? present({ id: id ?? '', agent: agent ?? '', attempts: attempts ?? 0, nextAt: nextAt ?? 0, used })
      : undefined;
  } catch {
    return undefined;
  }
}

/** The analysis as the record has it. */
function analysisOf(
  outcome: AnalystOutcome,
  { at, used }: { readonly at: string; readonly used: AnalysisUsage },
): Readonly<Record<string, unknown>> {
  if (!outcome.ok) return { status: 'failed', at, reason: outcome.error.reason };
  const { result, model } = outcome.value;
  return present({ status: 'ok', at, model, outcome: outcomeOf(result), ...result, usage: used });
}

interface Took extends Partial<AnalystLlm> {
  readonly provider: string;
  readonly used: AnalysisUsage;
  readonly prices: PriceTable | undefined;
}

/** The record with tokens and cost of its analysis. An LLM that tells of none is not guessed at. */
function withWhatItTook(record: CallRecord, { provider, model, used, prices }: Took): CallRecord {
  if (used.input_tokens + used.output_tokens === 0) return record;
  const line = present({ stage: 'analysis' as const, provider, model, units: { ...used } });
  return withCostOf(withUsage(record, line), line, prices);
}

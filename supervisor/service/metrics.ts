/** Adds up the metrics of all processes for one answer. */
import { AggregatorRegistry, type Registry } from 'prom-client';
import { type Mailboxes } from '../../shared/protocol/mailbox.ts';
import { vadFrameMs } from '../../shared/protocol/mailbox-slot.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { SupervisorMetrics } from '../../shared/runtime/metrics.ts';
import { worstLatenessMs } from './call-memory.ts';

/** A worker that does not answer in this time counts with its last answer. */
const answerWithinMs = 1_000;
/** Of a worker that dies no more is lost than it has counted within this time, however seldom `/metrics` is read. */
const askEveryMs = 5_000;

/** One metric as `prom-client` gives it in JSON, where its declared type is a number and the real one a word. */
type MetricJson = object;

const isGauge = (metric: MetricJson): boolean => 'type' in metric && metric.type === 'gauge';

export interface MetricsCollectorOptions {
  readonly clock: Clock;
  readonly ask: (worker: number, ask: number) => boolean;
  /** Those that can be asked. */
  readonly workers: () => readonly number[];
}

/**
 * Answers of workers to questions for metrics. Counts of a worker that died stay in the sums, as far as they had been asked
 * for: a counter that falls looks like a restart of the whole service.
 */
export class MetricsCollector {
  readonly #options: MetricsCollectorOptions;
  readonly #open = new Map<number, (metrics: MetricJson[] | undefined) => void>();
  /** The newest answer of each worker that lives. */
  readonly #newest = new Map<number, MetricJson[]>();
  /** Counters and histograms of all workers that died, added up. */
  #retired: MetricJson[] = [];
  #lastAsk = 0;

  constructor(options: MetricsCollectorOptions) {
    this.#options = options;
    this.#askAgain();
  }

  #askAgain(): void {
    this.#options.clock.after(askEveryMs, () => {
      void this.#askAll();
      this.#askAgain();
    });
  }

  async #askAll(): Promise<void> {
    await Promise.all(this.#options.workers().map((worker) => this.#askOne(worker)));
  }

  answered(ask: number, metrics: unknown): void {
    const resolve = this.#open.get(ask);
    if (resolve === undefined || !Array.isArray(metrics)) return;
    this.#open.delete(ask);
    // The worker is this program as well; its answer has the shape that its registry gives.
    resolve(metrics as MetricJson[]);
  }

  async workerGone(worker: number): Promise<void> {
    const last = this.#newest.get(worker) ?? [];
    this.#newest.delete(worker);
    const counts = last.filter((metric) => !isGauge(metric));
    if (counts.length > 0) this.#retired = await addUp([this.#retired, counts]).getMetricsAsJSON();
  }

  /** The metrics of all processes in one. */
  async gather(own: SupervisorMetrics): Promise<Registry> {
    await this.#askAll();
    return addUp([await own.registry.getMetricsAsJSON(), this.#retired, ...this.#newest.values()]);
  }

  #askOne(worker: number): Promise<void> {
    return new Promise((resolve) => {
      this.#lastAsk += 1;
      const ask = this.#lastAsk;
      const timer = this.#options.clock.after(answerWithinMs, () => {
        this.#open.delete(ask);
        resolve();
      });
      this.#open.set(ask, (metrics) => {
        timer.cancel();
        if (metrics !== undefined) this.#newest.set(worker, metrics);
        resolve();
      });
      if (this.#options.ask(worker, ask)) return;
      this.#open.get(ask)?.(undefined);
      this.#open.delete(ask);
    });
  }
}

/** As `/metrics` answers. */
export const rendered = async (metrics: Registry): Promise<{ contentType: string; body: string }> => ({
  contentType: metrics.contentType,
  body: await metrics.metrics(),
});

const addUp = (answers: readonly (readonly MetricJson[])[]): Registry =>
  AggregatorRegistry.aggregate(answers.filter((answer) => answer.length > 0).map((answer) => [...answer]));

/** Brings the gauges that come from shared memory up to date. `machineMs` is on the machine's clock, as in heartbeats. */
export function readSharedGauges(metrics: SupervisorMetrics, boxes: Mailboxes, machineMs: Millis): void {
  let frames = 0;
  let dropped = 0;
  let quiet = 0;
  let cleaned = 0;
  let noisy = 0;
  let unread = 0;
  for (let thread = 0; thread < boxes.layout.threads; thread += 1) {
    const status = boxes.threadStatus(thread);
    frames += status.frames;
    dropped += status.dropped;
    quiet += status.quiet;
    cleaned += status.cleaned;
    noisy += status.noisy;
    unread = Math.max(unread, status.oldestUnread);
  }
  metrics.inferenceFrames.set({ state: 'judged' }, frames);
  metrics.inferenceFrames.set({ state: 'quiet' }, quiet);
  metrics.inferenceFrames.set({ state: 'left_out' }, dropped);
  metrics.inferenceFrames.set({ state: 'cleaned' }, cleaned);
  metrics.inferenceFrames.set({ state: 'noise_left' }, noisy);
  metrics.inferenceUnread.set(unread);
  metrics.inferenceWait.set((unread * vadFrameMs) / 1000);
  metrics.workerLateness.set(worstLatenessMs(boxes, machineMs) / 1000);
  readTurnGauges(metrics, boxes, machineMs);
}

/** What the supervisor counts itself, at the moment of an answer. */
export interface ServiceCounts {
  readonly workersReady: number;
  readonly isInferenceUp: boolean;
  readonly oldestWaitMs: Millis;
  readonly connections: number;
  readonly sessions: number;
  readonly mostSessions: number;
}

export function setServiceGauges(metrics: SupervisorMetrics, counts: ServiceCounts): void {
  metrics.workersReady.set(counts.workersReady);
  metrics.inferenceUp.set(counts.isInferenceUp ? 1 : 0);
  metrics.handoverWait.set(counts.oldestWaitMs / 1000);
  metrics.connections.set(counts.connections);
  metrics.sessions.set(counts.sessions);
  metrics.sessionsLimit.set(counts.mostSessions);
}

/** The queue in front of the turn model. Every thread sees the same questions wait. */
function readTurnGauges(metrics: SupervisorMetrics, boxes: Mailboxes, machineMs: Millis): void {
  const threads = boxes.layout.turnThreads ?? 0;
  const all = Array.from({ length: threads }, (_, thread) => boxes.turnThreadStatus(thread));
  const sum = (field: 'judged' | 'leftOut'): number => all.reduce((total, one) => total + one[field], 0);
  metrics.turnQuestions.set({ state: 'waiting' }, Math.max(0, ...all.map(({ waiting }) => waiting)));
  metrics.turnQuestions.set({ state: 'judged' }, sum('judged'));
  metrics.turnQuestions.set({ state: 'left_out' }, sum('leftOut'));
  metrics.turnWait.set(boxes.oldestTurnAskMs(machineMs) / 1000);
}

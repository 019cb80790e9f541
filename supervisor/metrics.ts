/** Adds up the metrics of all processes for one answer. */
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { Mailboxes } from '../shared/protocol/mailbox.ts';
import type { Clock } from '../shared/runtime/clock.ts';
import type { SupervisorMetrics } from '../shared/runtime/metrics.ts';

/** A worker that does not answer in this time is left out; its counts are back with its next answer. */
const answerWithinMs = 1_000;

/** Answers of workers to one question for metrics. */
export class MetricsCollector {
  readonly #clock: Clock;
  readonly #ask: (worker: number, ask: number) => boolean;
  readonly #open = new Map<number, (metrics: object[]) => void>();
  #lastAsk = 0;

  constructor(clock: Clock, ask: (worker: number, ask: number) => boolean) {
    this.#clock = clock;
    this.#ask = ask;
  }

  answered(ask: number, metrics: unknown): void {
    const resolve = this.#open.get(ask);
    if (resolve === undefined || !Array.isArray(metrics)) return;
    this.#open.delete(ask);
    resolve(metrics as object[]);
  }

  async render(
    own: SupervisorMetrics,
    workers: readonly number[],
  ): Promise<{ contentType: string; body: string }> {
    const answers = await Promise.all(workers.map((worker) => this.#askOne(worker)));
    const all: object[][] = [
      await own.registry.getMetricsAsJSON(),
      ...answers.filter((answer) => answer.length > 0),
    ];
    const sum: Registry = AggregatorRegistry.aggregate(all);
    return { contentType: sum.contentType, body: await sum.metrics() };
  }

  #askOne(worker: number): Promise<object[]> {
    return new Promise((resolve) => {
      this.#lastAsk += 1;
      const ask = this.#lastAsk;
      const timer = this.#clock.after(answerWithinMs, () => {
        this.#open.delete(ask);
        resolve([]);
      });
      this.#open.set(ask, (metrics) => {
        timer.cancel();
        resolve(metrics);
      });
      if (!this.#ask(worker, ask)) this.answered(ask, []);
    });
  }
}

/** Brings the gauges that come from shared memory up to date. */
export function readSharedGauges(metrics: SupervisorMetrics, boxes: Mailboxes): void {
  let frames = 0;
  let dropped = 0;
  let unread = 0;
  for (let thread = 0; thread < boxes.layout.threads; thread += 1) {
    const status = boxes.threadStatus(thread);
    frames += status.frames;
    dropped += status.dropped;
    unread = Math.max(unread, status.oldestUnread);
  }
  metrics.inferenceFrames.set({ state: 'judged' }, frames);
  metrics.inferenceFrames.set({ state: 'left_out' }, dropped);
  metrics.inferenceUnread.set(unread);
}

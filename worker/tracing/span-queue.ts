/**
 * Spans on their way out of this worker. They wait in a queue of bounded length and leave in small bodies, one request at a time, so that neither a
 * collector that is slow nor one that is gone costs a call anything; what finds no room is counted and lost.
 */
import type { TracingSetup } from '../../shared/tracing/setup.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { WorkerMetrics } from '../../shared/runtime/metrics.ts';
import { spanJson, tracesBody, type Span } from '../../shared/runtime/otlp/otlp-json.ts';
import { Outage, type LossCause } from '../../shared/runtime/otlp/outage.ts';
import { OtlpSender } from '../../shared/runtime/otlp/otlp-sender.ts';

/** The queue's length and the pause are the defaults that OpenTelemetry has for batches, the pause shorter: a worker may die. */
const mostWaiting = 2048;
const sendAfterMs = 1_000;
/** About 100 KB and a fraction of a millisecond: a body is written between two frames. */
const mostInBody = 128;

export interface SpanQueueOptions {
  readonly setup: TracingSetup;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<WorkerMetrics, 'spans'>;
}

/** The name under which the service instruments itself. */
const instrumentationScope = 'voice-agent';

export class SpanQueue {
  readonly #options: SpanQueueOptions;
  readonly #sender: OtlpSender;
  readonly #outage = new Outage();
  #waiting: string[] = [];
  #isArmed = false;
  #sending: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
    this.#sender = new OtlpSender({ target: options.setup.target, clock: options.clock });
  }

  push(span: Span): void {
    if (this.#waiting.length >= mostWaiting) {
      this.#options.metrics.spans.inc({ what: 'no_room' });
      return;
    }
    this.#waiting.push(spanJson(span));
    this.#arm();
  }

  /** Resolves when what waits is out, or cannot be brought out. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sender.close();
    await this.#sending;
    await this.#drain();
  }

  #arm(): void {
    if (this.#isArmed || this.#sending !== undefined || this.#isClosed) return;
    this.#isArmed = true;
    this.#options.clock.after(sendAfterMs, () => {
      this.#isArmed = false;
      if (this.#isClosed) return;
      this.#sending = this.#drain().finally(() => {
        this.#sending = undefined;
        if (this.#waiting.length > 0) this.#arm();
      });
    });
  }

  async #drain(): Promise<void> {
    const { setup, metrics } = this.#options;
    while (this.#waiting.length > 0) {
      const spans = this.#waiting.splice(0, mostInBody);
      const body = tracesBody(setup.resource, instrumentationScope, spans);
      const { outcome, rejected } = await this.#sender.send(body);
      const lost = outcome === 'sent' ? Math.min(rejected, spans.length) : spans.length;
      if (lost < spans.length) metrics.spans.inc({ what: 'sent' }, spans.length - lost);
      if (lost === 0) continue;
      metrics.spans.inc({ what: 'not_taken' }, lost);
      this.#tell(outcome === 'sent' ? 'rejected' : outcome, lost);
      // The next one would meet the same; new spans begin the next attempt.
      if (outcome === 'unreachable') return;
    }
  }

  #tell(outcome: LossCause, spans: number): void {
    const { setup, clock, log } = this.#options;
    const lost = this.#outage.lose(outcome, spans, clock.now());
    if (lost === undefined) return;
    log.warn({ outcome, host: new URL(setup.target.url).host, spans: lost }, 'spans could not be exported');
  }
}

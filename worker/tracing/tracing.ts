/** Traces of this worker's calls (decision 0066): who has a trace, and spans for those that are sampled. Nothing of it is there where tracing is off. */
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import type { TracedModels } from '../../shared/tracing/gen-ai.ts';
import type { CallObserver, ObservedCall } from '../call/observer.ts';
import type { TraceOf } from '../call/trace.ts';
import type { ProviderNote } from '../stages/provider-note.ts';
import { CallSpans } from './call-spans.ts';
import { SpanQueue, type SpanQueueOptions } from './span-queue.ts';
import { newTraceOf } from './trace-ids.ts';

export interface TracingOptions extends SpanQueueOptions {
  readonly clock: Clock;
  readonly wallClock: WallClock;
  /** What names the call in which the present code runs. */
  readonly currentCall: () => object | undefined;
}

/** What spans tell of a call's agent. */
export interface TracedAgent {
  readonly agent: string;
  readonly models: TracedModels;
}

export class Tracing {
  readonly #options: TracingOptions;
  readonly #queue: SpanQueue;
  readonly #calls = new WeakMap<object, CallSpans>();
  readonly traceOf: TraceOf;

  constructor(options: TracingOptions) {
    this.#options = options;
    this.#queue = new SpanQueue(options);
    this.traceOf = newTraceOf(options.setup.sampling);
  }

  /** Undefined for a call that is not sampled. */
  observe(
    { start, startedAt, isResumed }: ObservedCall,
    { agent, models }: TracedAgent,
  ): CallObserver | undefined {
    const { clock, wallClock, currentCall } = this.#options;
    const trace = this.traceOf(start);
    if (!trace.isSampled) return undefined;
    // Once for a call: a wall clock that is set meanwhile must not tear its spans apart.
    const shiftMs = wallClock.now() - clock.now();
    const spans = new CallSpans({
      trace,
      start,
      agent,
      models,
      startedAt,
      isResumed,
      site: {
        traceId: trace.traceId,
        toWallMs: (now) => now + shiftMs,
        keep: (span) => this.#queue.push(span),
      },
    });
    const call = currentCall();
    if (call !== undefined) this.#calls.set(call, spans);
    return spans;
  }

  /** A provider was asked, failed or counted, in the call that runs at present. */
  note(note: ProviderNote): void {
    const call = this.#options.currentCall();
    if (call !== undefined) this.#calls.get(call)?.note(note, this.#options.clock.now());
  }

  async close(): Promise<void> {
    await this.#queue.close();
  }
}

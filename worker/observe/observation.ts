/** Who follows the calls of this worker, as its agent and its settings say. With nothing switched on nobody does. */
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import type { WorkerSetup } from '../../shared/protocol/ipc.ts';
import { systemWallClock, type Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { WorkerMetrics } from '../../shared/runtime/metrics.ts';
import { currentScope } from '../../shared/runtime/scope.ts';
import type { CallObserver, ObserveCall } from '../call/observer.ts';
import type { LiveCall } from '../../shared/protocol/live.ts';
import { LiveCalls } from './live-calls.ts';
import type { TraceOf } from '../call/trace.ts';
import type { ProviderNote } from '../stages/provider-note.ts';
import { Recordings } from '../recording/recordings.ts';
import { Tracing } from '../tracing/tracing.ts';
import { Monitors } from '../monitor/monitors.ts';

export interface Observation {
  readonly observe: ObserveCall;
  /** Absent: calls have no trace, and nobody is to be told what providers did. */
  readonly tracing?: { readonly traceOf: TraceOf; readonly noted: (note: ProviderNote) => void };
  /** The calls of this worker for the live view; none where there is none. */
  readonly liveCalls: () => readonly LiveCall[];
  /** Operators who listen; absent: nobody may. */
  readonly monitors: Monitors | undefined;
  /** An operator ends a call, if it is here. */
  readonly endCall: (call: string) => void;
  /** Resolves when what was observed is out of this process. */
  readonly close: () => Promise<void>;
}

export interface ObservationSite {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: WorkerMetrics;
}

export function openObservation(
  { recording: setup, worker, layout, live: isLive, monitored, tracing: traces }: WorkerSetup,
  { agent, recording: definition, monitor, llm }: AgentDefinition,
  site: ObservationSite,
): Observation {
  const recordings =
    setup === undefined || definition === undefined
      ? undefined
      : new Recordings({
          setup,
          definition,
          agent: agent.name,
          worker,
          ...site,
          slotsPerWorker: layout.slotsPerWorker,
        });
  const live = isLive ? new LiveCalls() : undefined;
  const monitors =
    monitored === true ? new Monitors({ clock: site.clock, notice: monitor.notice }) : undefined;
  const tracing =
    traces === undefined
      ? undefined
      : new Tracing({
          setup: traces,
          agent: agent.name,
          model: modelOf(llm.options),
          ...site,
          wallClock: systemWallClock,
          currentCall: currentScope,
        });
  return {
    ...(tracing !== undefined && {
      tracing: { traceOf: tracing.traceOf, noted: (note) => tracing.note(note) },
    }),
    observe: (call) => {
      const observers: CallObserver[] = [];
      if (recordings !== undefined) observers.push(recordings.observe(call));
      if (live !== undefined) observers.push(live.observe(call));
      if (monitors !== undefined) observers.push(monitors.observe(call));
      const spans = tracing?.observe(call);
      if (spans !== undefined) observers.push(spans);
      return observers;
    },
    liveCalls: () => live?.rows(site.clock.now()) ?? [],
    monitors,
    endCall: (call) => live?.end(call),
    close: async () => {
      await Promise.all([recordings?.close(), tracing?.close()]);
    },
  };
}

/** The model that the file names; a provider may have one of its own. */
function modelOf(options: object): string | undefined {
  const model: unknown = Reflect.get(options, 'model');
  return typeof model === 'string' ? model : undefined;
}

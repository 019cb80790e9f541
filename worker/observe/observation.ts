/** Who follows the calls of this worker, as its agent and its settings say. With nothing switched on nobody does. */
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import type { WorkerSetup } from '../../shared/protocol/ipc.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { WorkerMetrics } from '../../shared/runtime/metrics.ts';
import type { CallObserver, ObserveCall } from '../call/observer.ts';
import { Recordings } from '../recording/recordings.ts';

export interface Observation {
  readonly observe: ObserveCall;
  /** Resolves when what was observed is out of this process. */
  readonly close: () => Promise<void>;
}

export interface ObservationSite {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: WorkerMetrics;
}

export function openObservation(
  { recording: setup, worker, layout }: WorkerSetup,
  { agent, recording: definition }: AgentDefinition,
  site: ObservationSite,
): Observation {
  const recordings =
    setup === undefined || definition === undefined
      ? undefined
      : new Recordings({
          ...{ setup, definition, agent: agent.name, worker, ...site },
          slotsPerWorker: layout.slotsPerWorker,
        });
  return {
    observe: (call) => {
      const observers: CallObserver[] = [];
      if (recordings !== undefined) observers.push(recordings.observe(call));
      return observers;
    },
    close: async () => await recordings?.close(),
  };
}

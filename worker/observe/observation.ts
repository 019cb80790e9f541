/** Who follows the calls of this worker, as their agents and its settings say. With nothing switched on nobody does. */
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import { tenantOfCall } from '../agent-link/caller-identity.ts';
import { tenantOf } from '../../shared/agents/version.ts';
import type { WorkerSetup } from '../../shared/protocol/ipc.ts';
import { systemWallClock, type Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { WorkerMetrics } from '../../shared/runtime/metrics.ts';
import { currentScope } from '../../shared/runtime/scope.ts';
import type { TracedModels } from '../../shared/tracing/gen-ai.ts';
import { CallAccounts, type AccountedAgent } from '../calls/accounts.ts';
import type { Accounts } from '../call/account.ts';
import type { ObserveCall } from '../call/observer.ts';
import type { LiveCall } from '../../shared/protocol/live.ts';
import { LiveCalls } from './live-calls.ts';
import type { TraceOf } from '../call/trace.ts';
import type { ProviderNote } from '../stages/provider-note.ts';
import { redactionOf } from '../../shared/calls/privacy/redaction.ts';
import { Redactor } from '../../shared/calls/privacy/redactor.ts';
import { Recordings } from '../recording/recordings.ts';
import { Tracing } from '../tracing/tracing.ts';
import { Monitors } from '../monitor/monitors.ts';

export interface Observation {
  /** Who follows the calls of an agent. */
  readonly observerOf: (definition: AgentDefinition, id?: string) => ObserveCall;
  /** Absent: calls have no trace. */
  readonly traceOf: TraceOf | undefined;
  /** Absent: nobody is to be told what providers did. */
  readonly noted: ((note: ProviderNote) => void) | undefined;
  /** Who keeps account of an agent's calls, or of those without one; undefined where no records of calls are kept. */
  readonly accountsOf: (agent?: AccountedAgent) => Accounts | undefined;
  /** The calls of this worker for the live view; none where there is none. */
  readonly liveCalls: () => readonly LiveCall[];
  /** Operators who listen; absent: nobody may. */
  readonly monitors: Monitors | undefined;
  /** An operator ends a call, if it is here. */
  readonly endCall: (call: string, tenant: string | undefined) => void;
  /** Resolves when what was observed is out of this process. */
  readonly close: () => Promise<void>;
}

export interface ObservationSite {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: WorkerMetrics;
  /** Telephone numbers may be passed on. */
  readonly showsNumbers: boolean;
}

export function openObservation(
  { recording: setup, worker, layout, live: isLive, monitored, tracing: traces, callSpool }: WorkerSetup,
  { recording: definition }: AgentDefinition,
  site: ObservationSite,
): Observation {
  const recordings =
    setup === undefined
      ? undefined
      : new Recordings({
          setup,
          // In a service of many agents others may record.
          policy: definition ?? { audioFormat: 'wav' },
          worker,
          ...site,
          slotsPerWorker: layout.slotsPerWorker,
        });
  const live = isLive ? new LiveCalls() : undefined;
  const monitors = monitored === true ? new Monitors(site.clock) : undefined;
  const tracing =
    traces === undefined
      ? undefined
      : new Tracing({
          setup: traces,
          ...site,
          wallClock: systemWallClock,
          currentCall: currentScope,
        });
  const accounts =
    callSpool === undefined
      ? undefined
      : new CallAccounts({
          spool: callSpool,
          ...site,
          wallClock: systemWallClock,
          traceOf: tracing?.traceOf,
          currentCall: currentScope,
        });
  const noted = (note: ProviderNote): void => {
    tracing?.note(note);
    accounts?.note(note);
  };
  return {
    traceOf: tracing?.traceOf,
    noted: tracing === undefined && accounts === undefined ? undefined : noted,
    accountsOf: (agent) => accounts?.of(agent),
    observerOf: (definition, id) => observing({ recordings, live, monitors, tracing }, definition, id),
    liveCalls: () => live?.rows(site.clock.now()) ?? [],
    monitors,
    endCall: (call, tenant) => live?.end(call, tenant),
    close: async () => {
      await Promise.all([recordings?.close(), tracing?.close(), accounts?.close()]);
    },
  };
}

interface Observers {
  readonly recordings: Recordings | undefined;
  readonly live: LiveCalls | undefined;
  readonly monitors: Monitors | undefined;
  readonly tracing: Tracing | undefined;
}

function observing(
  { recordings, live, monitors, tracing }: Observers,
  { agent: { name }, recording, privacy, llm, realtime, monitor: { notice } }: AgentDefinition,
  id?: string,
): ObserveCall {
  const agent = id ?? name;
  const isOneOfMany = id !== undefined;
  const models: TracedModels = {
    llm: modelOf(llm?.options ?? {}),
    realtime: realtime && { model: modelOf(realtime.options), output: realtime.output },
  };
  const redactor = privacy && new Redactor(privacy);
  return (call) => {
    const tenant = tenantOfCall(id, call.start.metadata);
    const observers = [
      recording &&
        recordings?.observe(call, {
          agent,
          tenant: tenantOf(agent),
          definition: recording,
          privacy: redactor,
          policy: isOneOfMany ? recording : undefined,
        }),
      live?.observe(call, tenant),
      monitors?.observe(call, { notice, tenant, redaction: redactionOf({ recording, privacy }) }),
      tracing?.observe(call, { agent, models }),
    ];
    return observers.filter((one) => one !== undefined);
  };
}

/** The model that the file names; a provider may have one of its own. */
function modelOf(options: object): string | undefined {
  const model: unknown = Reflect.get(options, 'model');
  return typeof model === 'string' ? model : undefined;
}

/** One run: providers, service and load in processes of their own, a ramp, a measured window, and everything stopped again. */
import type { NoiseMode } from '../../../shared/protocol/noise-mode.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAgent } from './agent-link.ts';
import { decisionToAudio } from './decision.ts';
import type { LoadResult } from './load.ts';
import { openCalls, startLimitMs, watchCalls, withParties, type Parties } from './parties.ts';
import type { ProvidersResult } from './providers.ts';
import {
  machineUse,
  memoryUse,
  serviceProcesses,
  timeUse,
  type MemoryUse,
  type TimeUse,
} from './processes.ts';
import type { CallFormat } from './client/speech.ts';
import { wires, type TransportName } from './client/wire.ts';
import { growth, parseMetrics, type Samples, type Summary } from './report/statistics.ts';

export interface RunOptions {
  readonly calls: number;
  readonly seconds: number;
  readonly workers: string;
  readonly format: CallFormat;
  readonly transport: TransportName;
  /** Folder for CPU profiles of the service's processes. */
  readonly profile: string | undefined;
  readonly assets: string | undefined;
  /** Variables of the service, by name. */
  readonly variables: Readonly<Record<string, string>>;
  /** Calls are recorded and traced. */
  readonly observed: boolean;
  /** Calls are linked to an agent process. */
  readonly linked: boolean;
  /** A model hears and speaks by itself. */
  readonly realtime: boolean;
  /** Whether noise is taken out before VAD hears the calls. */
  readonly noise: NoiseMode;
  /** The project's folder, as a URL that ends in a slash. */
  readonly root: URL;
}

export interface ProcessFinding {
  readonly name: string;
  /** Of one core, over the window. */
  readonly cpuShare: number;
  /** Of the window, summed over its threads: runnable, but no core was free. */
  readonly waitShare: number;
  /** Wake-ups a second, of all its threads. */
  readonly wakeRate: number;
  /** Of one core, before there were calls. */
  readonly idleCpuShare: number;
  readonly idle: MemoryUse;
  readonly loaded: MemoryUse;
}

export interface RunResult {
  readonly options: Pick<
    RunOptions,
    'calls' | 'seconds' | 'workers' | 'format' | 'transport' | 'variables' | 'noise'
  >;
  readonly voices: string;
  readonly windowMs: number;
  readonly load: LoadResult;
  readonly providers: ProvidersResult;
  readonly processes: readonly ProcessFinding[];
  /** CPU that processes outside of the run used, in cores. */
  readonly foreignCores: number;
  /** What the host of the virtual machine took away, in cores. */
  readonly stolenCores: number;
  readonly loadAverageBefore: number;
  readonly metrics: Samples;
  /** By reason, since the service started: also those of the ramp. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly decision: Summary;
  readonly complaints: readonly string[];
}

const afterLookMs = 500;
/** How long the service is looked at before there are calls. */
const idleWindowMs = 3_000;

/** Holds calls for a while and measures what they cost and what their callers saw. */
export async function runOnce(options: RunOptions): Promise<RunResult> {
  if (!options.linked) return await hold(options, {});
  const { server, port } = await startAgent({ reacts: true });
  const result = await hold(options, { SVC_AGENT_URL: `ws://127.0.0.1:${port}` });
  server.close();
  return result;
}

function hold(options: RunOptions, link: Readonly<Record<string, string>>): Promise<RunResult> {
  const { root, workers, profile, variables, transport, observed, realtime, noise } = options;
  const parties = {
    root,
    observed,
    realtime,
    noise,
    workers,
    env: {
      SVC_MAX_SESSIONS: String(Math.max(512, options.calls)),
      // Says of each turn where its time went, which is one line for each.
      SVC_LOG_LEVEL: 'debug',
      ...(profile !== undefined && { BENCH_PROFILE_DIR: profile }),
      ...wires[transport].env,
      ...link,
      ...variables,
    },
    preloads: profile === undefined ? [] : [new URL('scripts/measure/bench/profiler.mjs', root).href],
  };
  return withParties(parties, (started) => measure(options, started));
}

async function measure(options: RunOptions, parties: Parties): Promise<RunResult> {
  const { providers, load, service } = parties;
  const pids = serviceProcesses(service.pid).set('providers', providers.pid).set('load', load.pid);
  // Children settle after their start.
  await sleep(1_500);
  const restedFrom = timesOf(pids);
  const restedAt = performance.now();
  await sleep(idleWindowMs);
  const rest = { from: restedFrom, to: timesOf(pids), windowMs: performance.now() - restedAt };
  const idle = useOf(pids);
  const loadAverageBefore = machineUse().loadAverage;
  const { calls, format } = options;
  const voices = await openCalls(parties, options);

  const metricsBefore = parseMetrics(await service.metrics());
  // The look at the metrics costs the workers a moment that is not to be measured.
  await sleep(afterLookMs);
  const machineBefore = machineUse();
  const before = timesOf(pids);
  const turnsBefore = service.turns.length;
  const startedAt = performance.now();
  providers.tell('begin');
  const loadResult = await watchCalls(parties, () => sleep(options.seconds * 1000));
  const windowMs = performance.now() - startedAt;
  const times = timesOf(pids);
  const machineAfter = machineUse();
  const loaded = useOf(pids);
  const metricsAfter = parseMetrics(await service.metrics());
  const providersResult = (await providers.ask('end', 'result', startLimitMs)) as ProvidersResult;
  await load.ask('close', 'closed', startLimitMs);

  const processes = [...pids.keys()].map((name) =>
    finding(name, { idle, loaded, before, times, windowMs, rest }),
  );
  const ours = processes.reduce((sum, { cpuShare }) => sum + cpuShare, 0);
  return {
    options: {
      calls,
      seconds: options.seconds,
      workers: options.workers,
      format,
      transport: options.transport,
      variables: options.variables,
      noise: options.noise,
    },
    voices,
    windowMs,
    load: loadResult,
    providers: providersResult,
    processes,
    foreignCores: Math.max(0, (machineAfter.busyMs - machineBefore.busyMs) / windowMs - ours),
    stolenCores: (machineAfter.stolenMs - machineBefore.stolenMs) / windowMs,
    loadAverageBefore,
    metrics: growth(metricsBefore, metricsAfter),
    refusals: refusalsIn(metricsAfter),
    decision: decisionToAudio(service.turns.slice(turnsBefore)),
    complaints: service.complaints,
  };
}

function refusalsIn(metrics: Samples): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [key, value] of metrics) {
    const reason = /^svc_refusals_total\{reason="([^"]+)"\}$/.exec(key)?.[1];
    if (reason !== undefined) found[reason] = value;
  }
  return found;
}

const useOf = (pids: ReadonlyMap<string, number>): ReadonlyMap<string, MemoryUse> =>
  new Map([...pids].map(([name, pid]) => [name, memoryUse(pid)]));

const timesOf = (pids: ReadonlyMap<string, number>): ReadonlyMap<string, TimeUse> =>
  new Map([...pids].map(([name, pid]) => [name, timeUse(pid)]));

interface Looks {
  readonly idle: ReadonlyMap<string, MemoryUse>;
  readonly loaded: ReadonlyMap<string, MemoryUse>;
  readonly before: ReadonlyMap<string, TimeUse>;
  readonly times: ReadonlyMap<string, TimeUse>;
  readonly windowMs: number;
  /** The same before there were calls. */
  readonly rest: {
    readonly from: ReadonlyMap<string, TimeUse>;
    readonly to: ReadonlyMap<string, TimeUse>;
    readonly windowMs: number;
  };
}

function finding(name: string, { idle, loaded, before, times, windowMs, rest }: Looks): ProcessFinding {
  const noTime: TimeUse = { cpuMs: 0, waitedMs: 0, wakes: 0 };
  const noMemory: MemoryUse = { rssBytes: 0, pssBytes: 0, anonymousBytes: 0 };
  const from = before.get(name) ?? noTime;
  const to = times.get(name) ?? noTime;
  return {
    name,
    cpuShare: (to.cpuMs - from.cpuMs) / windowMs,
    waitShare: (to.waitedMs - from.waitedMs) / windowMs,
    wakeRate: ((to.wakes - from.wakes) * 1000) / windowMs,
    idleCpuShare:
      ((rest.to.get(name) ?? noTime).cpuMs - (rest.from.get(name) ?? noTime).cpuMs) / rest.windowMs,
    idle: idle.get(name) ?? noMemory,
    loaded: loaded.get(name) ?? noMemory,
  };
}

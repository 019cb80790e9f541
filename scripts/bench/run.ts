/** One run: providers, service and load in processes of their own, a ramp, a measured window, and everything stopped again. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadOrder, LoadResult } from './load.ts';
import type { ProvidersReady, ProvidersResult } from './providers.ts';
import {
  machineUse,
  memoryUse,
  serviceProcesses,
  timeUse,
  type MemoryUse,
  type TimeUse,
} from './processes.ts';
import { agentFile } from './script.ts';
import type { CallFormat } from './speech.ts';
import { Messenger, ServiceProcess } from './started.ts';
import { growth, parseMetrics, type Samples } from './statistics.ts';

export interface RunOptions {
  readonly calls: number;
  readonly seconds: number;
  readonly workers: string;
  readonly format: CallFormat;
  /** Folder for CPU profiles of the service's processes. */
  readonly profile: string | undefined;
  readonly assets: string | undefined;
  /** The project's folder, as a URL that ends in a slash. */
  readonly root: URL;
}

export interface ProcessFinding {
  readonly name: string;
  /** Of one core, over the window. */
  readonly cpuShare: number;
  /** Of the window, summed over its threads: runnable, but no core was free. */
  readonly waitShare: number;
  readonly idle: MemoryUse;
  readonly loaded: MemoryUse;
}

export interface RunResult {
  readonly options: Pick<RunOptions, 'calls' | 'seconds' | 'workers' | 'format'>;
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
  readonly complaints: readonly string[];
}

const callsPerSecond = 25;
const startLimitMs = 60_000;
/** After the last call is open: greetings end and callers are spread over their turns. */
const settleMs = 8_000;

const afterLookMs = 500;

const running = new Set<() => void>();

/** For signals: ends what a run has started. */
export function stopEverything(): void {
  for (const stop of running) stop();
}

export async function runOnce(options: RunOptions): Promise<RunResult> {
  const folder = mkdtempSync(join(tmpdir(), 'voice-bench-'));
  const providers = new Messenger(new URL('dist/bench/providers.mjs', options.root));
  const load = new Messenger(new URL('dist/bench/load.mjs', options.root));
  let service: ServiceProcess | undefined;
  const stop = (): void => {
    service?.kill();
    providers.stop();
    load.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  running.add(stop);
  try {
    const ports = (await providers.ask(undefined, 'ready', startLimitMs)) as ProvidersReady;
    const file = join(folder, 'agent.toml');
    writeFileSync(file, agentFile(ports));
    service = startService(options, file);
    await service.ready();
    const result = await measure(options, { providers, load, service });
    await service.stop();
    return result;
  } finally {
    stop();
    running.delete(stop);
  }
}

function startService(options: RunOptions, file: string): ServiceProcess {
  const withParent = new URL('scripts/stop-with-parent.mjs', options.root).href;
  const profiler = new URL('scripts/bench/profiler.mjs', options.root).href;
  const profiling: Record<string, string> =
    options.profile === undefined
      ? {}
      : { NODE_OPTIONS: `--import ${profiler}`, BENCH_PROFILE_DIR: options.profile };
  const cli = new URL('dist/supervisor/cli.js', options.root).pathname;
  return new ServiceProcess({
    command: ['--import', withParent, '--enable-source-maps', cli, '--workers', options.workers],
    env: {
      SVC_AGENT_FILE: file,
      SVC_WS_ADDR: '127.0.0.1:0',
      SVC_HEALTH_ADDR: '127.0.0.1:0',
      SVC_MAX_SESSIONS: String(Math.max(512, options.calls)),
      SVC_DRAIN_TIMEOUT: '1s',
      ...profiling,
    },
  });
}

interface Parties {
  readonly providers: Messenger;
  readonly load: Messenger;
  readonly service: ServiceProcess;
}

async function measure(options: RunOptions, { providers, load, service }: Parties): Promise<RunResult> {
  const pids = serviceProcesses(service.pid).set('providers', providers.pid).set('load', load.pid);
  // Children settle after their start.
  await sleep(1_500);
  const idle = useOf(pids);
  const loadAverageBefore = machineUse().loadAverage;
  const [host = '', port = ''] = service.ws.split(':');
  const { calls, format, assets } = options;
  const order: LoadOrder = {
    type: 'open',
    address: { host, port: Number(port) },
    calls,
    callsPerSecond,
    format,
    assets,
  };
  const speech = load.ask(undefined, 'loaded', startLimitMs);
  await load.ask(order, 'opened', startLimitMs + (calls / callsPerSecond) * 2_000);
  const voices = ((await speech) as { source: string }).source;
  await sleep(settleMs);

  const metricsBefore = parseMetrics(await service.metrics());
  // The look at the metrics costs the workers a moment that is not to be measured.
  await sleep(afterLookMs);
  const machineBefore = machineUse();
  const before = timesOf(pids);
  const startedAt = performance.now();
  load.tell('begin');
  providers.tell('begin');
  await sleep(options.seconds * 1000);
  const loadResult = (await load.ask('end', 'result', startLimitMs)) as LoadResult;
  const windowMs = performance.now() - startedAt;
  const times = timesOf(pids);
  const machineAfter = machineUse();
  const loaded = useOf(pids);
  const metricsAfter = parseMetrics(await service.metrics());
  const providersResult = (await providers.ask('end', 'result', startLimitMs)) as ProvidersResult;
  await load.ask('close', 'closed', startLimitMs);

  const processes = [...pids.keys()].map((name) => finding(name, { idle, loaded, before, times, windowMs }));
  const ours = processes.reduce((sum, { cpuShare }) => sum + cpuShare, 0);
  return {
    options: { calls, seconds: options.seconds, workers: options.workers, format },
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
}

function finding(name: string, { idle, loaded, before, times, windowMs }: Looks): ProcessFinding {
  const noTime: TimeUse = { cpuMs: 0, waitedMs: 0 };
  const noMemory: MemoryUse = { rssBytes: 0, pssBytes: 0 };
  const from = before.get(name) ?? noTime;
  const to = times.get(name) ?? noTime;
  return {
    name,
    cpuShare: (to.cpuMs - from.cpuMs) / windowMs,
    waitShare: (to.waitedMs - from.waitedMs) / windowMs,
    idle: idle.get(name) ?? noMemory,
    loaded: loaded.get(name) ?? noMemory,
  };
}

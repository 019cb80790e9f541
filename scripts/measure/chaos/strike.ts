/** Does each fault to the service, and knows which calls it should touch. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Prng } from '../../../shared/base/prng.ts';
import { descriptorsOf, isThere } from '../bench/processes.ts';
import { growth, histogramOf, parseMetrics, type HistogramSummary } from '../bench/report/statistics.ts';
import type { Caller } from './caller.ts';
import type { Crowd } from './crowd.ts';
import { lastsMs, type FaultName } from './faults.ts';
import type { ChaosProviders, ChaosStage, ProviderFault } from './providers.ts';
import { stages } from '../scripted-providers.ts';
import type { ChaosService } from './service.ts';

/** The service's default. */
export const hangTimeoutMs = 5_000;

export interface Struck {
  readonly what: string;
  readonly affected: ReadonlySet<Caller>;
  /** The affected calls are expected to answer again within this time. */
  readonly limitMs: number;
  /** Ends what would last. */
  heal(): void;
  inferenceAwayMs(): number | undefined;
  /** How soon calls were judged by energy; undefined where it was not touched. */
  fallback(): HistogramSummary | undefined;
}

export interface Target {
  readonly crowd: Crowd;
  readonly providers: ChaosProviders;
  readonly service: ChaosService;
  readonly clockFile: string;
  readonly prng: Prng;
  /** How long one stage of providers is at fault. */
  readonly providerMs: number;
}

const takeUpLimitMs = 1_000;
const pauseMs = 500;
const killEveryMs = 2_000;
/** Between the request for a new supervisor and the death of a worker, which is one of the old supervisor's or of the new one's then. */
const restartKillsMs = [400, 1_500, 3_000];
/** Descriptors that the supervisor may open beyond those that it has. */
const spareDescriptors = 0;
const clientStopMs = 3_000;
const clockStepMs = 3_600_000;
const stoppedShare = 0.05;

const plain = (what: string, affected: Iterable<Caller>, limitMs = takeUpLimitMs): Struck => ({
  what,
  affected: new Set(affected),
  limitMs,
  heal: () => undefined,
  inferenceAwayMs: () => undefined,
  fallback: () => undefined,
});

export async function strike(name: FaultName, target: Target): Promise<Struck> {
  switch (name) {
    case 'worker-kill':
    case 'worker-stop':
    case 'worker-pause':
      return strikeWorker(name, target);
    case 'inference-kill':
    case 'inference-stop':
      return strikeInference(name, target);
    case 'worker-kill-often':
      return killOften(target);
    case 'restart-kill':
      return restartAndKill(target);
    case 'descriptors':
      return useUpDescriptors(target);
    case 'memory-limit':
      return takeMemory(target);
    case 'client-stop':
      return stopClients(target);
    case 'clock-step':
      return stepClock(target);
    case 'log-full':
    case 'supervisor-kill':
      return plain('for the whole run', []);
    default: {
      const [stage, fault] = name.split('-');
      const struck = stage === 'all' ? [...stages, 'model' as const] : [stage as ChaosStage];
      const durationMs = lastsMs(name, target.providerMs);
      return strikeProviders(struck, { fault: fault as ProviderFault, durationMs }, target);
    }
  }
}

/** One of the workers that have calls. */
function strikeWorker(
  name: 'worker-kill' | 'worker-stop' | 'worker-pause',
  { crowd, service, prng }: Target,
): Struck {
  const open = crowd.stillOpen;
  const busy = [...new Set(open.flatMap(({ id }) => service.workerOf.get(id) ?? []))].sort((a, b) => a - b);
  // Without a log nobody knows who serves whom.
  const pid = prng.pick(busy.length > 0 ? busy : service.processes().workers);
  const affected = busy.length > 0 ? open.filter(({ id }) => service.workerOf.get(id) === pid) : open;
  process.kill(pid, name === 'worker-kill' ? 'SIGKILL' : 'SIGSTOP');
  if (name === 'worker-pause') setTimeout(() => process.kill(pid, 'SIGCONT'), pauseMs);
  const awayMs = { 'worker-kill': 0, 'worker-stop': hangTimeoutMs, 'worker-pause': pauseMs }[name];
  return plain(`worker with ${affected.length} of ${open.length} calls`, affected, awayMs + takeUpLimitMs);
}

async function strikeInference(
  name: 'inference-kill' | 'inference-stop',
  { service }: Target,
): Promise<Struck> {
  const { inference } = service.processes();
  if (inference === undefined) return plain('there is no inference process', []);
  const before = parseMetrics(await service.metrics());
  const since = performance.now();
  process.kill(inference, name === 'inference-kill' ? 'SIGKILL' : 'SIGSTOP');
  let backMs: number | undefined;
  let fallback: HistogramSummary | undefined;
  const look = async (): Promise<void> => {
    while (backMs === undefined && performance.now() - since < 15_000) {
      await sleep(50);
      const now = service.processes().inference;
      if (now === undefined || now === inference) continue;
      const text = await service.metrics();
      if (!/^svc_inference_up 1$/m.test(text)) continue;
      backMs = performance.now() - since;
      fallback = histogramOf(growth(before, parseMetrics(text)), 'svc_vad_fallback_seconds');
    }
  };
  void look();
  return {
    ...plain('speech detection', []),
    inferenceAwayMs: () => backMs ?? Infinity,
    fallback: () => fallback,
  };
}

function strikeProviders(
  struck: readonly ChaosStage[],
  { fault, durationMs }: { readonly fault: ProviderFault; readonly durationMs: number },
  { providers, crowd }: Target,
): Struck {
  for (const stage of struck) providers.setFault(stage, fault);
  setTimeout(() => {
    for (const stage of struck) providers.setFault(stage, undefined);
  }, durationMs);
  return plain(`${durationMs / 1000} s`, crowd.stillOpen);
}

/** One worker after the other, whichever is there. */
function killOften(target: Target): Struck {
  const { crowd, service, prng } = target;
  const open = crowd.stillOpen;
  const until = performance.now() + lastsMs('worker-kill-often', 0);
  const kill = (): void => {
    const { workers } = service.processes();
    if (workers.length > 0) process.kill(prng.pick(workers), 'SIGKILL');
    if (performance.now() + killEveryMs < until) setTimeout(kill, killEveryMs);
  };
  kill();
  return plain(`every ${killEveryMs / 1000} s`, open);
}

/** A new supervisor takes over, and a worker of the old one dies meanwhile. */
function restartAndKill(target: Target): Struck {
  const { crowd, service } = target;
  const open = crowd.stillOpen;
  const afterMs = target.prng.pick(restartKillsMs);
  service.signal('SIGUSR2');
  setTimeout(() => strikeWorker('worker-kill', target), afterMs);
  return plain(`a worker dies ${afterMs / 1000} s into a restart`, open, afterMs + takeUpLimitMs);
}

/** A worker dies while the supervisor can open next to nothing. */
function useUpDescriptors(target: Target): Struck {
  const { supervisor } = target.service.processes();
  const limit = (value: number | string): void => {
    // One that was only about to take over gives up without descriptors, and is gone when the fault is over.
    if (isThere(supervisor)) execFileSync('prlimit', ['--pid', String(supervisor), `--nofile=${value}:`]);
  };
  limit(descriptorsOf(supervisor) + spareDescriptors);
  const struck = strikeWorker('worker-kill', target);
  return { ...struck, what: `${struck.what}, no descriptors`, heal: () => limit(4096) };
}

/** The service may use less memory than it does: the kernel takes back what it can, and then ends the largest of its processes. */
function takeMemory({ crowd, service }: Target): Struck {
  const { memory } = service;
  if (memory === undefined) return plain('the service is in no group', []);
  const lasts = lastsMs('memory-limit', 0);
  const left = memory.squeeze();
  setTimeout(() => memory.release(), lasts);
  return { ...plain(`${left} for ${lasts / 1000} s`, crowd.stillOpen), heal: () => memory.release() };
}

function stopClients({ crowd, prng }: Target): Struck {
  const open = crowd.stillOpen;
  const count = Math.max(1, Math.round(open.length * stoppedShare));
  const affected = Array.from({ length: count }, () => prng.pick(open));
  for (const caller of affected) caller.setReading(false);
  setTimeout(() => {
    for (const caller of affected) caller.setReading(true);
  }, clientStopMs);
  return plain(
    `${count} clients read nothing for ${clientStopMs / 1000} s`,
    affected,
    clientStopMs + takeUpLimitMs,
  );
}

function stepClock({ clockFile, prng }: Target): Struck {
  const stepMs = prng.chance(0.5) ? clockStepMs : -clockStepMs;
  writeFileSync(clockFile, String(stepMs));
  return plain(`the wall clock jumps by ${stepMs / 60_000} min`, []);
}

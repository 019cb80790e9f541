/** Does each fault to the service, and knows which calls it should touch. */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Prng } from '../../shared/base/prng.ts';
import { growth, histogramOf, parseMetrics, type HistogramSummary } from '../bench/report/statistics.ts';
import type { Caller } from './caller.ts';
import type { Crowd } from './crowd.ts';
import type { FaultName } from './faults.ts';
import type { ChaosProviders, ProviderFault, Stage } from './providers.ts';
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
}

const takeUpLimitMs = 1_000;
const pauseMs = 500;
const providerFaultMs = 2_000;
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
    case 'client-stop':
      return stopClients(target);
    case 'clock-step':
      return stepClock(target);
    case 'log-full':
    case 'supervisor-kill':
      return plain('for the whole run', []);
    default: {
      const [stage, fault] = name.split('-');
      return strikeProvider(stage as Stage, fault as ProviderFault, target);
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

function strikeProvider(stage: Stage, fault: ProviderFault, { providers, crowd }: Target): Struck {
  providers.setFault(stage, fault);
  setTimeout(() => providers.setFault(stage, undefined), providerFaultMs);
  return plain(`${providerFaultMs / 1000} s`, crowd.stillOpen);
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

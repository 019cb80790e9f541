/** The faults of a run and when they come. The same seed gives the same schedule. */
import type { Prng } from '../../../shared/base/prng.ts';

export const faultNames = [
  'worker-kill',
  'worker-stop',
  'worker-pause',
  'worker-kill-often',
  'inference-kill',
  'inference-stop',
  'stt-stall',
  'stt-reset',
  'stt-garbage',
  'llm-stall',
  'llm-reset',
  'llm-garbage',
  'llm-limit',
  'tts-stall',
  'tts-reset',
  'tts-garbage',
  'model-stall',
  'model-reset',
  'all-stall',
  'all-reset',
  'client-stop',
  'clock-step',
  'descriptors',
  'memory-limit',
  'restart-kill',
  'log-full',
  'supervisor-kill',
] as const;
export type FaultName = (typeof faultNames)[number];

/** Hold for the whole run, or end it; they have no place in the schedule. */
const unscheduled: readonly FaultName[] = ['log-full', 'supervisor-kill'];

export interface PlannedFault {
  readonly name: FaultName;
  /** Milliseconds after the last call was opened. */
  readonly atMs: number;
}

/** A fault shows its effects for about this long before the next one comes. */
const effectMs = 6_000;
/** A hung worker is found after the service's own time first. */
const hangEffectMs = 14_000;
/** The service is back, and its breakers close again. */
const outageEffectMs = 14_000;
/** Replacements come with growing pauses after many deaths. */
const manyDeathsEffectMs = 20_000;

const allStalledMs = 10_000;
const allGoneMs = 30_000;
const killsLastMs = 60_000;
const tightLastsMs = 10_000;

const isProviderFault = (name: FaultName): boolean => /^(stt|llm|tts|model|all)-/.test(name);

/** How long a fault lasts; `providerMs` is that of one stage. */
export function lastsMs(name: FaultName, providerMs: number): number {
  if (name === 'all-stall') return Math.max(allStalledMs, providerMs);
  if (name === 'all-reset') return Math.max(allGoneMs, providerMs);
  if (name === 'worker-kill-often') return killsLastMs;
  if (name === 'memory-limit') return tightLastsMs;
  return isProviderFault(name) ? providerMs : 0;
}

export function spaceAfter(name: FaultName, providerMs: number): number {
  const lasts = lastsMs(name, providerMs);
  if (name === 'worker-kill-often') return lasts + manyDeathsEffectMs;
  if (name === 'memory-limit') return lasts + effectMs;
  if (isProviderFault(name)) return lasts > effectMs ? lasts + outageEffectMs : effectMs;
  return name === 'worker-stop' || name === 'inference-stop' ? hangEffectMs : effectMs;
}

/** Every wanted fault once, then more of them by chance, until the time is over. */
export function plan(
  wanted: readonly FaultName[],
  options: { seconds: number; providerMs: number; prng: Prng },
): PlannedFault[] {
  const names = wanted.filter((name) => !unscheduled.includes(name));
  const faults: PlannedFault[] = [];
  if (names.length === 0) return faults;
  const left = [...names];
  let atMs = 1_000;
  for (;;) {
    const name =
      left.length > 0
        ? (left.splice(options.prng.below(left.length), 1)[0] ?? names[0])
        : options.prng.pick(names);
    if (name === undefined) return faults;
    const space = spaceAfter(name, options.providerMs);
    if (atMs + space > options.seconds * 1_000) {
      // A shorter one may still fit.
      if (left.length > 0) continue;
      return faults;
    }
    faults.push({ name, atMs });
    atMs += space + options.prng.below(1_000);
  }
}

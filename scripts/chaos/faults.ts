/** The faults of a run and when they come. The same seed gives the same schedule. */
import type { Prng } from '../../shared/base/prng.ts';

export const faultNames = [
  'worker-kill',
  'worker-stop',
  'worker-pause',
  'inference-kill',
  'inference-stop',
  'stt-stall',
  'stt-reset',
  'stt-garbage',
  'llm-stall',
  'llm-reset',
  'llm-garbage',
  'tts-stall',
  'tts-reset',
  'tts-garbage',
  'client-stop',
  'clock-step',
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
export const spacingMs = 6_000;
/** A hung worker is found after the service's own time first. */
export const hangSpacingMs = 14_000;

export const spaceAfter = (name: FaultName): number =>
  name === 'worker-stop' || name === 'inference-stop' ? hangSpacingMs : spacingMs;

/** Every wanted fault once, then more of them by chance, until the time is over. */
export function plan(wanted: readonly FaultName[], options: { seconds: number; prng: Prng }): PlannedFault[] {
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
    if (name === undefined || atMs + spaceAfter(name) > options.seconds * 1_000) return faults;
    faults.push({ name, atMs });
    atMs += spaceAfter(name) + options.prng.below(1_000);
  }
}

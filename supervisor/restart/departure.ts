/**
 * The end of a supervisor that has no call left: others may still need it. Connections are on their way to the supervisor after
 * it, or the one before it has calls, which a service manager would end together with this one.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { DrainTimes } from '../service/lifecycle.ts';

const lookEveryMs = 20;
/** Of the time after SIGTERM: what is neither drain, grace nor wait (spec 03, Limits). */
const marginMs = 7_000;

export interface DepartureOptions {
  readonly clock: Clock;
  readonly drain: DrainTimes;
  readonly isNeeded: () => boolean;
  readonly leave: () => void;
}

/** Calls `leave` once nobody needs this process, or when a whole drain of another one would be over as well. */
export function departWhenUnneeded({ clock, drain, isNeeded, leave }: DepartureOptions): void {
  const mostMs: Millis = drain.drainTimeoutMs + drain.cancelGraceMs + drain.abortWaitMs + marginMs;
  const untilMs = clock.now() + mostMs;
  const look = (): void => {
    if (isNeeded() && clock.now() < untilMs) clock.after(lookEveryMs, look);
    else leave();
  };
  look();
}

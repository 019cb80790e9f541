/**
 * The end of a supervisor that has no call left: others may still need it. Connections are on their way to the supervisor after
 * it, or the one before it has calls, which a service manager would end together with this one.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { DrainTimes } from '../service/lifecycle.ts';

const lookEveryMs = 20;
/** Of the time after SIGTERM: what is neither drain, grace nor wait (docs/reference/server-settings.md). */
const marginMs = 7_000;

export interface DepartureOptions {
  readonly clock: Clock;
  readonly drain: DrainTimes;
  readonly isNeeded: () => boolean;
  /** The service was told to stop, or the supervisor after this one was: nobody is waited for without end any more. */
  readonly isStopping: () => boolean;
  readonly leave: () => void;
}

/** Calls `leave` once nobody needs this process, or when a whole drain of another one would be over as well, counted from the stop. */
export function departWhenUnneeded({ clock, drain, isNeeded, isStopping, leave }: DepartureOptions): void {
  const mostMs: Millis = drain.drainTimeoutMs + drain.cancelGraceMs + drain.abortWaitMs + marginMs;
  let untilMs: Millis | undefined;
  const look = (): void => {
    if (isStopping()) untilMs ??= clock.now() + mostMs;
    if (isNeeded() && (untilMs === undefined || clock.now() < untilMs)) clock.after(lookEveryMs, look);
    else leave();
  };
  look();
}

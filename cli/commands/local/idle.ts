/** Waiting for work to end, for a while. */
import type { Millis } from '../../../shared/base/units.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';

const lookEveryMs = 50;

/** Calls `done` once, as soon as `open` is 0, or when `withinMs` are over. */
export function whenIdle(
  open: () => number,
  options: { readonly clock: Clock; readonly withinMs: Millis; readonly done: () => void },
): void {
  const { clock, withinMs, done } = options;
  const giveUpAt = clock.now() + withinMs;
  const look = (): void => {
    if (open() === 0 || clock.now() >= giveUpAt) done();
    else clock.after(lookEveryMs, look);
  };
  look();
}

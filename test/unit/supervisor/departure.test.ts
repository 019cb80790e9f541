/** A supervisor without calls ends when nobody needs it any more, and never later than a drain takes. */
import { describe, expect, it } from 'vitest';
import { departWhenUnneeded } from '../../../supervisor/restart/departure.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const drain = { drainTimeoutMs: 30_000, cancelGraceMs: 5_000, abortWaitMs: 1_000 };

function depart(
  isNeededUntilMs: number,
  isStopping = (): boolean => true,
): { ends: number[]; advance: (ms: number) => void } {
  const clock = newVirtualClock();
  const ends: number[] = [];
  departWhenUnneeded({
    clock,
    drain,
    isNeeded: () => clock.now() < isNeededUntilMs,
    isStopping,
    leave: () => ends.push(clock.now()),
  });
  return { ends, advance: (ms) => clock.advance(ms) };
}

describe('a supervisor without calls', () => {
  it('ends at once when nobody needs it', () => {
    expect(depart(0).ends).toEqual([0]);
  });

  it('ends as soon as nobody needs it', () => {
    const { ends, advance } = depart(1_000);
    advance(999);
    expect(ends).toEqual([]);
    advance(60_000);
    expect(ends).toEqual([1_000]);
  });

  it('does not wait longer than 43 s with the default times', () => {
    const { ends, advance } = depart(Number.POSITIVE_INFINITY);
    advance(600_000);
    expect(ends).toEqual([43_000]);
  });

  it('waits without end for calls of the one before it after a reload, until the service stops', () => {
    let isStopping = false;
    const { ends, advance } = depart(Number.POSITIVE_INFINITY, () => isStopping);
    advance(3_600_000);
    expect(ends).toEqual([]);
    isStopping = true;
    advance(43_100);
    expect(ends).toHaveLength(1);
  });
});

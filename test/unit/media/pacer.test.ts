/** The ticker of a worker, on a clock whose every timer can be made late. */
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { Pacer, tickMs } from '../../../worker/media/out/pacer.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

/** Timers that fire late by what `lateMs` says. */
const lateClock = (clock: Clock, lateMs: () => number): Clock => ({
  now: () => clock.now(),
  after: (delayMs, callback) => clock.after(delayMs + lateMs(), callback),
});

/** One that wants every point of the grid, and may do something in its ticks. */
function newBusy(clock: Clock, inTick: (now: number, pacer: Pacer) => void = () => undefined) {
  const ticks: number[] = [];
  const pacer: Pacer = new Pacer(clock, (now) => {
    ticks.push(now);
    inTick(now, pacer);
    return now;
  });
  const start = (): void => {
    pacer.start();
    pacer.wakeBy(0);
  };
  return { pacer, ticks, start };
}

describe('the pacer', () => {
  it('ticks where something is due, at the first point of a grid of 5 ms behind it', () => {
    const clock = newVirtualClock();
    const wanted = [20, 31, 31, 40, Infinity];
    const ticks: number[] = [];
    const pacer = new Pacer(clock, (now) => {
      ticks.push(now);
      return wanted.shift() ?? Infinity;
    });
    pacer.start();
    pacer.wakeBy(20);
    pacer.wakeBy(7);
    pacer.wakeBy(60);
    clock.advance(100);
    expect(ticks).toEqual([10, 20, 35, 40, 45]);
    expect(clock.pending).toBe(0);
    pacer.wakeBy(101);
    clock.advance(100);
    expect(ticks.slice(5)).toEqual([105]);
  });

  it('ticks every 5 ms where something always is', () => {
    const clock = newVirtualClock();
    const { ticks, start } = newBusy(clock);
    start();
    clock.advance(50);
    expect(ticks).toEqual([5, 10, 15, 20, 25, 30, 35, 40, 45, 50]);
  });

  it('says how late a tick is', () => {
    const clock = newVirtualClock();
    const late: number[] = [];
    const pacer = new Pacer(
      lateClock(clock, () => 3),
      (now, lateMs) => {
        late.push(lateMs);
        return now + 20;
      },
    );
    pacer.start();
    pacer.wakeBy(20);
    clock.advance(60);
    expect(late).toEqual([3, 3]);
  });

  it('does not drift, however late each of its timers is', () => {
    const clock = newVirtualClock();
    let count = 0;
    const { ticks, start } = newBusy(lateClock(clock, () => (count++ % 3) + 0.4));
    start();
    clock.advance(60_000);
    expect(ticks).toHaveLength(60_000 / tickMs - 1);
    for (const [i, time] of ticks.entries()) expect(time - (i + 1) * tickMs).toBeLessThan(3);
  });

  it('leaves out the ticks that a stall swallowed', () => {
    const clock = newVirtualClock();
    const delays = [0, 0, 500];
    const { ticks, start } = newBusy(lateClock(clock, () => delays.shift() ?? 0));
    start();
    clock.advance(530);
    expect(ticks).toEqual([5, 10, 515, 515, 520, 525, 530]);
  });

  it('rests when stopped, and starts a grid of its own afterwards', () => {
    const clock = newVirtualClock();
    const { pacer, ticks, start } = newBusy(clock);
    start();
    start();
    expect(clock.pending).toBe(1);
    clock.advance(5);
    pacer.stop();
    expect(clock.pending).toBe(0);
    clock.advance(98);
    start();
    clock.advance(5);
    expect(ticks).toEqual([5, 108]);
    expect(pacer.gridBefore(127)).toBe(123);
    expect(pacer.gridBefore(128)).toBe(128);
    expect(pacer.gridBefore(142, 20)).toBe(123);
  });

  it('keeps one timer when a tick stops and starts it', () => {
    const clock = newVirtualClock();
    const { start } = newBusy(clock, (_, pacer) => {
      pacer.stop();
      pacer.start();
    });
    start();
    clock.advance(50);
    expect(clock.pending).toBe(1);
  });

  it('rests when a tick stops it', () => {
    const clock = newVirtualClock();
    const { start } = newBusy(clock, (_, pacer) => pacer.stop());
    start();
    clock.advance(50);
    expect(clock.pending).toBe(0);
  });

  it('goes on after a tick that threw', () => {
    const clock = newVirtualClock();
    const { ticks, start } = newBusy(clock, (now) => {
      if (now === 5) throw new Error('broken tick');
    });
    start();
    expect(() => clock.advance(5)).toThrow('broken tick');
    clock.advance(25);
    expect(ticks).toEqual([5, 25, 30]);
  });
});

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

describe('the pacer', () => {
  it('ticks every 5 ms', () => {
    const clock = newVirtualClock();
    const ticks: number[] = [];
    new Pacer(clock, (now) => ticks.push(now)).start();
    clock.advance(50);
    expect(ticks).toEqual([5, 10, 15, 20, 25, 30, 35, 40, 45, 50]);
  });

  it('does not drift, however late each of its timers is', () => {
    const clock = newVirtualClock();
    let count = 0;
    const ticks: number[] = [];
    const late = lateClock(clock, () => (count++ % 3) + 0.4);
    new Pacer(late, (now) => ticks.push(now)).start();
    clock.advance(60_000);
    expect(ticks).toHaveLength(60_000 / tickMs - 1);
    for (const [i, time] of ticks.entries()) expect(time - (i + 1) * tickMs).toBeLessThan(3);
  });

  it('leaves out the ticks that a stall swallowed', () => {
    const clock = newVirtualClock();
    const delays = [0, 0, 500];
    const ticks: number[] = [];
    const stalling = lateClock(clock, () => delays.shift() ?? 0);
    new Pacer(stalling, (now) => ticks.push(now)).start();
    clock.advance(530);
    expect(ticks).toEqual([5, 10, 515, 515, 520, 525, 530]);
  });

  it('rests when stopped, and starts a grid of its own afterwards', () => {
    const clock = newVirtualClock();
    const ticks: number[] = [];
    const pacer = new Pacer(clock, (now) => ticks.push(now));
    pacer.start();
    pacer.start();
    expect(clock.pending).toBe(1);
    clock.advance(5);
    pacer.stop();
    expect(clock.pending).toBe(0);
    clock.advance(98);
    pacer.start();
    clock.advance(5);
    expect(ticks).toEqual([5, 108]);
    expect(pacer.gridBefore(127)).toBe(123);
    expect(pacer.gridBefore(128)).toBe(128);
  });

  it('keeps one timer when a tick stops and starts it', () => {
    const clock = newVirtualClock();
    const pacer: Pacer = new Pacer(clock, () => {
      pacer.stop();
      pacer.start();
    });
    pacer.start();
    clock.advance(50);
    expect(clock.pending).toBe(1);
  });

  it('rests when a tick stops it', () => {
    const clock = newVirtualClock();
    const pacer: Pacer = new Pacer(clock, () => pacer.stop());
    pacer.start();
    clock.advance(50);
    expect(clock.pending).toBe(0);
  });

  it('goes on after a tick that threw', () => {
    const clock = newVirtualClock();
    const ticks: number[] = [];
    const pacer = new Pacer(clock, (now) => {
      ticks.push(now);
      if (ticks.length === 1) throw new Error('broken tick');
    });
    pacer.start();
    expect(() => clock.advance(5)).toThrow('broken tick');
    clock.advance(10);
    expect(ticks).toEqual([5, 10, 15]);
  });
});

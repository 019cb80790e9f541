/** The one timer of a session: it wakes when something is due, and never for nothing. */
import { describe, expect, it } from 'vitest';
import { Deadline } from '../../../worker/stages/timers.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

function newDeadline() {
  const clock = newVirtualClock();
  const passedAt: number[] = [];
  const context = { clock, bind: <T extends (...args: never[]) => unknown>(callback: T) => callback };
  const deadline = new Deadline(context, () => passedAt.push(clock.now()));
  return { clock, deadline, passedAt };
}

describe('a deadline', () => {
  it('passes once when it is due, however often it was moved', () => {
    const { clock, deadline, passedAt } = newDeadline();
    for (let at = 100; at <= 1_000; at += 100) deadline.setAt(at);
    deadline.setAt(500);
    clock.advance(5_000);
    expect(passedAt).toEqual([500]);
  });

  it('at Infinity is none: no timer waits for it, nor wakes again and again', () => {
    const { clock, deadline, passedAt } = newDeadline();
    deadline.setAt(Infinity);
    expect(clock.pending).toBe(0);
    deadline.setAt(200);
    deadline.setAt(Infinity);
    clock.advance(1_000);
    expect(clock.pending).toBe(0);
    expect(passedAt).toEqual([]);
  });
});

/** Which ends of a worker are the fault of what it did, and which came from outside. */
import { describe, expect, it } from 'vitest';
import { isEndedByItsWork, type ChildEnd } from '../../../supervisor/children/child-end.ts';

const died = (end: Partial<ChildEnd>): ChildEnd => ({ code: null, signal: null, asked: false, ...end });

describe('the work of a worker', () => {
  it.each([
    ['an endless loop', died({ signal: 'SIGKILL', killed: 'hung' }), 2_000],
    ['a crash', died({ signal: 'SIGSEGV' }), 50],
    ['exhausted memory', died({ signal: 'SIGABRT' }), 3_000],
    ['an exit of its own', died({ code: 0 }), 50],
    ['an exit with an error', died({ code: 7 }), 50],
    ['the kernel, after it had kept the processor', died({ signal: 'SIGKILL' }), 300],
    ['a crash while it was to leave', died({ signal: 'SIGSEGV', asked: true }), 50],
  ])('is to blame for %s', (_name, end, silentMs) => {
    expect(isEndedByItsWork(end, silentMs)).toBe(true);
  });

  it.each([
    ['a kill from outside', died({ signal: 'SIGKILL' }), 299],
    ['a stop from outside', died({ signal: 'SIGKILL', killed: 'stopped' }), 1_000],
    ['another signal from outside', died({ signal: 'SIGTERM' }), 5_000],
    ['its leave', died({ code: 0, asked: true }), 50],
  ])('is not to blame for %s', (_name, end, silentMs) => {
    expect(isEndedByItsWork(end, silentMs)).toBe(false);
  });
});

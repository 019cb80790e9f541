/** Memory that is free goes back to the system. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { collectGarbage, giveBackFreeMemory, MemoryKeeper } from '../../../shared/runtime/free-memory.ts';
import { newVirtualClock } from '../../support/virtual-clock.ts';

const residentKiB = (): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);

/** Only the GNU C library keeps so much that it can be asked to give it back. */
const isGnu = 'glibcVersionRuntime' in (process.report.getReport() as { header: object }).header;

describe('free memory', () => {
  it.skipIf(!isGnu)('in pieces between what is in use is given back, and asking again does no harm', () => {
    const pieces = Array.from({ length: 4_000 }, () => Buffer.allocUnsafeSlow(16_384).fill(1));
    const kept = pieces.filter((_, index) => index % 8 === 7);
    const before = residentKiB();
    pieces.length = 0;
    expect(kept.every((piece) => piece[0] === 1)).toBe(true);
    for (let time = 0; time < 50 && residentKiB() > before - 20_000; time += 1) {
      // A second collection completes what the first began beside the program.
      collectGarbage();
      giveBackFreeMemory();
    }
    expect(residentKiB()).toBeLessThanOrEqual(before - 20_000);
    giveBackFreeMemory();
    expect(kept.every((piece) => piece[0] === 1)).toBe(true);
  });
});

describe('a process without calls', () => {
  /** Whether something that nobody refers to any more has been collected. */
  const newWaste = (): WeakRef<object> => new WeakRef({ of: 'a call' });
  /** A reference that was looked at lives to the end of the present job. */
  const nextJob = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

  it('collects what they left after a while, and not before', async () => {
    const clock = newVirtualClock();
    const waste = newWaste();
    await nextJob();
    new MemoryKeeper(clock, () => true).ended();
    clock.advance(2_999);
    expect(waste.deref()).toBeDefined();
    await nextJob();
    clock.advance(1);
    expect(waste.deref()).toBeUndefined();
  });

  it.each([
    ['while there are others', [1, 1]],
    ['when another began meanwhile', [0, 1]],
  ])('is left alone %s', async (_, calls) => {
    const clock = newVirtualClock();
    const waste = newWaste();
    const counts = [...calls];
    await nextJob();
    new MemoryKeeper(clock, () => counts.shift() === 0).ended();
    clock.advance(60_000);
    expect(waste.deref()).toBeDefined();
  });

  it('waits anew after each of several that end one after another', async () => {
    const clock = newVirtualClock();
    const waste = newWaste();
    await nextJob();
    const keeper = new MemoryKeeper(clock, () => true);
    for (let call = 0; call < 5; call += 1) {
      keeper.ended();
      clock.advance(2_000);
    }
    expect(waste.deref()).toBeDefined();
  });
});

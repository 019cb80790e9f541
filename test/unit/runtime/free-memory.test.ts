/** Memory that is free goes back to the system. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { giveBackFreeMemory } from '../../../shared/runtime/free-memory.ts';

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
      // Allocating makes the engine let go of the pieces.
      Array.from({ length: 1_000 }, () => Buffer.allocUnsafeSlow(16_384));
      giveBackFreeMemory();
    }
    expect(residentKiB()).toBeLessThanOrEqual(before - 20_000);
    giveBackFreeMemory();
    expect(kept.every((piece) => piece[0] === 1)).toBe(true);
  });
});

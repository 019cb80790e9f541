/** When a VAD thread looks for frames. */
import { describe, expect, it } from 'vitest';
import { beatMsOf, mayGather } from '../../../inference/vad-pace.ts';

describe('a thread between two looks', () => {
  it('looks again by itself only where many calls have frames', () => {
    const looks = [
      { found: true, calls: 40 },
      { found: true, calls: 5 },
      { found: true, calls: 4 },
      { found: true, calls: 1 },
      { found: false, calls: 40 },
      { found: false, calls: 0 },
    ];
    expect(looks.map(mayGather)).toEqual([true, true, false, false, false, false]);
  });

  it('shows that it lives before anybody takes it for gone', () => {
    const [idleMs, busyMs] = [beatMsOf(0), beatMsOf(1)];
    expect(busyMs).toBeLessThan(100);
    expect(idleMs).toBeGreaterThan(busyMs);
    expect(idleMs).toBeLessThan(600);
  });
});

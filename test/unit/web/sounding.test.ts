/** When a voice from a stream sounds, and when it has fallen silent. */
import { describe, expect, it } from 'vitest';
import { Sounding } from '../../../web/client/audio/sounding.ts';

/** Levels of frames, and `cut` where the service cut what it was saying. */
function heardOf(levels: readonly (number | 'cut')[]): unknown[] {
  const sounding = new Sounding();
  let samples = 0;
  return levels.flatMap((rms) => {
    if (rms === 'cut') {
      sounding.cut();
      return [];
    }
    samples += 960;
    return sounding.push({ rms, endSample: samples }, 960) ?? [];
  });
}

describe('a voice from a stream', () => {
  it('sounds anew with an answer that follows at once on one that was cut', () => {
    const answer = [0.1, 0.1, 0, 0, 0, 0.2, ...new Array<number>(9).fill(0), 0.2];
    expect(heardOf([0.1, 'cut', ...answer])).toEqual([
      { type: 'sounded', atSample: 0 },
      { type: 'drained', atSample: 3 * 960 },
      { type: 'sounded', atSample: 6 * 960 },
    ]);
    expect(heardOf([0.1, ...answer])).toEqual([{ type: 'sounded', atSample: 0 }]);
  });

  it('sounds from its first loud frame to its last, over the pauses between words', () => {
    const levels = [0, 0.1, 0.1, 0, 0, 0.1, ...new Array<number>(12).fill(0), 0.2];
    expect(heardOf(levels)).toEqual([
      { type: 'sounded', atSample: 960 },
      { type: 'drained', atSample: 6 * 960 },
      { type: 'sounded', atSample: 18 * 960 },
    ]);
  });
});

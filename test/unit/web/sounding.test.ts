/** When a voice from a stream sounds, and when it has fallen silent. */
import { describe, expect, it } from 'vitest';
import { Sounding } from '../../../web/client/audio/sounding.ts';

describe('a voice from a stream', () => {
  it('sounds from its first loud frame to its last, over the pauses between words', () => {
    const sounding = new Sounding();
    const heard: unknown[] = [];
    const levels = [0, 0.1, 0.1, 0, 0, 0.1, ...new Array<number>(12).fill(0), 0.2];
    levels.forEach((rms, index) => {
      const event = sounding.push({ rms, endSample: (index + 1) * 960 }, 960);
      if (event !== undefined) heard.push(event);
    });
    expect(heard).toEqual([
      { type: 'sounded', atSample: 960 },
      { type: 'drained', atSample: 6 * 960 },
      { type: 'sounded', atSample: 18 * 960 },
    ]);
  });
});

/** The codec of a call: what of a packet that is lost stands in the one behind it. */
import { describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import { LossGuard } from '../../../worker/webrtc/loss-guard.ts';
import { freeOpus, newOpus } from '../../../worker/media/opus/opus.ts';

const frameMs = 20;
const rms = (pcm: Int16Array): number =>
  Math.sqrt(pcm.reduce((sum, sample) => sum + sample * sample, 0) / pcm.length);

describe('a packet of speech', () => {
  it.each([16_000, 24_000] as const)(
    'at %d Hz holds a copy of the one before it, unless that is not asked for',
    async (spoken) => {
      const rates = { heard: 16_000, spoken } as const;
      const flite = await loadFlite();
      const pcm = flite('In Paris it is eighteen degrees with clear sky.', { voice: 'slt', speed: 1 });
      const { encoder } = await newOpus(rates);
      const samples = (spoken * frameMs) / 1000;
      const copiesIn = async (frames: readonly Int16Array[]): Promise<number> => {
        const copied: number[] = [];
        for (const [index, packet] of frames
          .map((frame) => Uint8Array.from(encoder.encode(frame)))
          .entries()) {
          if (rms(frames[index - 1] ?? new Int16Array(1)) < 1_000) continue;
          // One that has heard nothing before has nothing of its own to make up.
          const deaf = await newOpus(rates);
          copied.push(rms(deaf.decoder.recover(frameMs, packet)));
          freeOpus(deaf);
        }
        expect(copied.length).toBeGreaterThan(30);
        return copied.filter((level) => level > 300).length / copied.length;
      };
      const frames = Array.from({ length: Math.floor(pcm.length / samples) }, (_, index) =>
        pcm.slice(index * samples, (index + 1) * samples),
      );
      expect(await copiesIn(frames)).toBeGreaterThan(0.9);
      encoder.guard(false);
      expect(await copiesIn(frames)).toBe(0);
      encoder.guard(true);
      expect(await copiesIn(frames)).toBeGreaterThan(0.9);
    },
  );
});

describe('the codec inside of Opus', () => {
  it('is the one of voices with copies, and without them the one that costs a third', async () => {
    const { encoder } = await newOpus({ heard: 16_000, spoken: 24_000 });
    const flite = await loadFlite();
    const pcm = flite('In Paris it is eighteen degrees with clear sky.', { voice: 'slt', speed: 1 });
    const frame = pcm.slice(16_000, 16_000 + 480);
    // Configurations from 16 on are CELT (RFC 6716, 3.1).
    const isCelt = (): boolean => (encoder.encode(frame)[0] ?? 0) >> 3 >= 16;
    expect(isCelt()).toBe(false);
    encoder.guard(false);
    // The first packet hands over from one to the other.
    isCelt();
    expect(isCelt()).toBe(true);
    encoder.guard(true);
    isCelt();
    expect(isCelt()).toBe(false);
  });
});

describe('what guards against loss', () => {
  it('is on until the way is known, and for a minute behind a report of loss', () => {
    const guard = new LossGuard(0);
    expect([guard.isNeeded(9_999), guard.isNeeded(10_000)]).toEqual([true, false]);
    guard.reported(0, 12_000);
    expect(guard.isNeeded(12_000)).toBe(false);
    guard.reported(0.01, 15_000);
    expect([guard.isNeeded(74_999), guard.isNeeded(75_000)]).toEqual([true, false]);
  });
});

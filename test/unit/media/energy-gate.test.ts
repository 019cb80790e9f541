/** The judge by loudness that stands in for inference. */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { EnergyGate } from '../../../worker/media/vad/energy-gate.ts';
import { noRecordings, recordings } from '../../support/audio/recordings.ts';

const frameSamples = 512;
const amplitudeAt = (db: number): number => 32_768 * 10 ** (db / 20);

/** White noise of the given level in dBFS. */
function noise(db: number, frames: number, seed = 1): Int16Array {
  const prng = newPrng(seed);
  const peak = amplitudeAt(db) * Math.sqrt(3);
  return Int16Array.from({ length: frames * frameSamples }, () => Math.round((prng.next() * 2 - 1) * peak));
}

function tone(db: number, frames: number): Int16Array {
  const peak = amplitudeAt(db) * Math.SQRT2;
  return Int16Array.from({ length: frames * frameSamples }, (_, i) => Math.round(peak * Math.sin(i / 6)));
}

/** Share of frames judged as voice. */
function voiced(gate: EnergyGate, pcm: Int16Array): number {
  let voices = 0;
  const frames = Math.floor(pcm.length / frameSamples);
  for (let i = 0; i < frames; i += 1)
    voices += gate.judge(pcm.subarray(i * frameSamples, (i + 1) * frameSamples));
  return voices / frames;
}

describe('the energy gate', () => {
  it('takes silence for silence, however long', () => {
    expect(voiced(new EnergyGate(), new Int16Array(frameSamples * 1_000))).toBe(0);
  });

  it('takes a loud tone over a quiet room for voice at once', () => {
    const gate = new EnergyGate();
    expect(voiced(gate, noise(-65, 100))).toBe(0);
    expect(voiced(gate, tone(-20, 30))).toBe(1);
    expect(voiced(gate, noise(-65, 30))).toBe(0);
  });

  it('gets used to steady noise', () => {
    const gate = new EnergyGate();
    voiced(gate, noise(-40, 400));
    expect(voiced(gate, noise(-40, 100, 2))).toBe(0);
    expect(voiced(gate, tone(-20, 10))).toBe(1);
  });

  it('hears no voice below -50 dBFS', () => {
    expect(voiced(new EnergyGate(), tone(-51, 100))).toBe(0);
  });

  it('is back to noise within seven seconds of it, also after digital silence', () => {
    const gate = new EnergyGate();
    voiced(gate, new Int16Array(frameSamples * 200));
    voiced(gate, noise(-45, 220));
    expect(voiced(gate, noise(-45, 30, 3))).toBe(0);
  });

  it('hears voice in every recording of speech', ({ skip }) => {
    skip(noRecordings !== undefined, noRecordings);
    const shares = recordings('speech').map(({ name, pcm }) => ({
      name,
      share: voiced(new EnergyGate(), pcm),
    }));
    expect(shares.length).toBeGreaterThan(40);
    expect(shares.filter(({ share }) => share < 0.1)).toEqual([]);
  });

  // Shorter recordings of noise are judged as voice for most of their length: the floor rises by 3 dB a second.
  it('has got used to the noise in the second half of every long recording of it', ({ skip }) => {
    skip(noRecordings !== undefined, noRecordings);
    const long = recordings('noise').filter(({ pcm }) => pcm.length > 15 * 16_000);
    expect(long.length).toBeGreaterThan(1);
    for (const { name, pcm } of long) {
      const gate = new EnergyGate();
      const half = Math.floor(pcm.length / 2);
      voiced(gate, pcm.subarray(0, half));
      expect(voiced(gate, pcm.subarray(half)), name).toBeLessThan(0.02);
    }
  });
});

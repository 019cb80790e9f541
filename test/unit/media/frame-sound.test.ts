/** What is measured of a frame's sound: loudness, and where in the spectrum it lies. */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { decibels, MeasuredSound, SoundMeter } from '../../../worker/media/vad/frame-sound.ts';

const frameSamples = 512;
const tone = (hz: number, amplitude: number): Int16Array =>
  Int16Array.from({ length: frameSamples * 4 }, (_, i) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hz * i) / 16_000)),
  );

/** Level and bright part of the last frame, in dB. */
function measured(pcm: Int16Array): { levelDb: number; brightDb: number } {
  const meter = new SoundMeter();
  const sound = new MeasuredSound();
  for (let at = 0; at < pcm.length; at += frameSamples)
    meter.measure(pcm.subarray(at, at + frameSamples), sound);
  return { levelDb: decibels(sound.power), brightDb: decibels(sound.brightPower / sound.power) };
}

describe('the sound of a frame', () => {
  it('is as loud as its samples', () => {
    expect(measured(tone(500, 32_767 / 10)).levelDb).toBeCloseTo(-23, 1);
    expect(measured(new Int16Array(frameSamples)).levelDb).toBe(-120);
  });

  it('is dark where a hum is, bright where a hiss is, and in between where vowels are', () => {
    expect(measured(tone(150, 5_000)).brightDb).toBeLessThan(-30);
    expect(measured(tone(250, 5_000)).brightDb).toBeLessThan(-24);
    expect(measured(tone(700, 5_000)).brightDb).toBeGreaterThan(-15);
    expect(measured(tone(4_000, 5_000)).brightDb).toBeGreaterThan(-5);
    const prng = newPrng(3);
    const hiss = Int16Array.from({ length: frameSamples * 4 }, () => prng.below(8_000) - 4_000);
    expect(measured(hiss).brightDb).toBeGreaterThan(-8);
  });

  it('is known for each quarter of the frame', () => {
    const sound = new MeasuredSound();
    const pcm = Int16Array.from({ length: frameSamples }, (_, i) => (i < 128 ? 3_277 : i >= 384 ? 328 : 0));
    new SoundMeter().measure(pcm, sound);
    expect(sound.quarters.map((power) => Math.round(decibels(power)))).toEqual([-20, -120, -120, -40]);
  });

  it('does not depend on where frames begin', () => {
    const pcm = tone(300, 9_000);
    const whole = new SoundMeter();
    const parts = new SoundMeter();
    const [one, two] = [new MeasuredSound(), new MeasuredSound()];
    whole.measure(pcm.subarray(0, 1_024), one);
    parts.measure(pcm.subarray(0, 700), two);
    parts.measure(pcm.subarray(700, 1_024), two);
    whole.measure(pcm.subarray(1_024, 1_536), one);
    parts.measure(pcm.subarray(1_024, 1_536), two);
    expect(two).toEqual(one);
  });
});

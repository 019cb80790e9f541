/** Sound at three times its rate and back. */
import { expect, it } from 'vitest';
import { blockSamples, Thirder, tripledSamples, Tripler } from '../../../../inference/noise/triple-rate.ts';

const blocks = 20;

/** There and back. */
function there(pcm: Float32Array): Float32Array {
  const [up, down] = [new Tripler(), new Thirder()];
  const [wide, out] = [new Float32Array(tripledSamples), new Float32Array(pcm.length)];
  for (let at = 0; at < pcm.length; at += blockSamples) {
    up.block.set(pcm.subarray(at, at + blockSamples));
    up.run(wide);
    down.run(wide, out.subarray(at, at + blockSamples));
  }
  return out;
}

const tone = (hz: number): Float32Array =>
  Float32Array.from({ length: blocks * blockSamples }, (_, at) => Math.sin((2 * Math.PI * hz * at) / 16_000));

const powerOf = (pcm: Float32Array): number =>
  pcm.reduce((sum, sample) => sum + sample * sample, 0) / pcm.length;

it.each([100, 440, 1_000, 3_000, 6_000])('keeps a tone of %i Hz within half a decibel', (hz) => {
  const [before, after] = [tone(hz), there(tone(hz))].map((pcm) => powerOf(pcm.subarray(blockSamples)));
  expect(Math.abs(10 * Math.log10((after ?? 0) / (before ?? 1)))).toBeLessThan(0.5);
});

it('is the same whether blocks begin here or there', () => {
  const pcm = tone(700);
  const whole = there(pcm);
  const shifted = there(
    Float32Array.from([...new Float32Array(blockSamples), ...pcm]).subarray(0, pcm.length),
  );
  expect(shifted.subarray(blockSamples)).toEqual(whole.subarray(0, pcm.length - blockSamples));
});

it('delays by about a millisecond', () => {
  const pcm = new Float32Array(4 * blockSamples);
  pcm[100] = 1;
  const out = there(pcm);
  const peak = out.reduce((best, sample, at) => (sample > (out[best] ?? 0) ? at : best), 0);
  expect(peak - 100).toBeGreaterThanOrEqual(14);
  expect(peak - 100).toBeLessThanOrEqual(17);
});

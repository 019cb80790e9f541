/** The noise model that ships: what it takes out of a call and what it leaves. */
import { beforeAll, expect, it } from 'vitest';
import { noiseModelPath } from '../../../../inference/models.ts';
import { NoiseModel, NoiseSuppressor } from '../../../../inference/noise/suppressor.ts';
import { newPrng } from '../../../../shared/base/prng.ts';
import { vadFrameSamples } from '../../../../shared/protocol/mailbox-slot.ts';
import { noRecordings, recordings } from '../../../support/audio/recordings.ts';

let model: NoiseModel;

beforeAll(() => {
  model = NoiseModel.open(noiseModelPath());
});

function cleaned(pcm: Int16Array, suppressor = new NoiseSuppressor(model)): Float32Array {
  const frames = Math.floor(pcm.length / vadFrameSamples);
  const out = new Float32Array(frames * vadFrameSamples);
  for (let at = 0; at < out.length; at += vadFrameSamples)
    suppressor.take(pcm.subarray(at, at + vadFrameSamples), out.subarray(at, at + vadFrameSamples));
  return out;
}

const db = (pcm: ArrayLike<number>, from = 0, to = pcm.length): number => {
  let sum = 0;
  for (let at = from; at < to; at += 1) sum += (pcm[at] ?? 0) ** 2;
  return 10 * Math.log10(sum / (to - from) + 1e-9);
};

const hiss = (seconds: number, seed = 1): Int16Array => {
  const prng = newPrng(seed);
  return Int16Array.from({ length: seconds * 16_000 }, () => prng.below(2_000) - 1_000);
};

it('takes at least 20 dB from a hiss once it has heard a second of it', () => {
  const noise = hiss(3);
  const out = cleaned(noise);
  expect(db(noise, 16_000, out.length) - db(out, 16_000)).toBeGreaterThan(20);
});

it.skipIf(noRecordings !== undefined)('keeps a clean voice within 2 dB', () => {
  const voices = recordings('speech').filter(({ name }) => /jfk|arctic|libri/.test(name));
  expect(voices.length).toBe(3);
  for (const { pcm } of voices) expect(Math.abs(db(cleaned(pcm)) - db(pcm))).toBeLessThan(2);
});

it('hears calls apart: what one says changes nothing in another', () => {
  const [one, other] = [hiss(1, 1), hiss(1, 2)];
  const alone = cleaned(one);
  const [first, second] = [new NoiseSuppressor(model), new NoiseSuppressor(model)];
  const between = new Float32Array(alone.length);
  const into = new Float32Array(vadFrameSamples);
  for (let at = 0; at < between.length; at += vadFrameSamples) {
    first.take(one.subarray(at, at + vadFrameSamples), between.subarray(at, at + vadFrameSamples));
    second.take(other.subarray(at, at + vadFrameSamples), into);
  }
  expect(between).toEqual(alone);
});

it('gives the memory of calls back', () => {
  const own = NoiseModel.open(noiseModelPath());
  const begin = (): number => {
    const suppressors = Array.from({ length: 40 }, () => new NoiseSuppressor(own));
    const { byteLength } = own.block.buffer;
    for (const one of suppressors) one.close();
    return byteLength;
  };
  const once = begin();
  for (let times = 0; times < 20; times += 1) expect(begin()).toBe(once);
});

it('opens nothing that is no such model, and nothing that is not there', () => {
  expect(() => NoiseModel.open('/nowhere/rnnoise.wasm')).toThrow(/ENOENT/);
  expect(() => NoiseModel.open(import.meta.filename)).toThrow();
});

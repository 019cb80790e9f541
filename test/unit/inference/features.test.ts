/** The features of the turn model, against the reference extractor and against the definition of the transform. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { featureFrames, melBands, TurnFeatures, turnWindowSamples } from '../../../inference/features.ts';
import { newPrng } from '../../../shared/base/prng.ts';

const assets = process.env['SVC_TEST_ASSETS'];
const folder = assets === undefined ? undefined : join(assets, 'models', 'smart-turn');
const noVectors =
  folder === undefined || !existsSync(folder)
    ? 'SVC_TEST_ASSETS does not name a folder with reference features'
    : undefined;

function floats(name: string): Float32Array {
  const bytes = readFileSync(join(folder!, name));
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** Puts the last 8 s of the audio at the end of the window. */
function computed(audio: Float32Array, extractor = new TurnFeatures()): Float32Array {
  const last = audio.subarray(Math.max(0, audio.length - turnWindowSamples));
  extractor.window.set(last, turnWindowSamples - last.length);
  return extractor.compute(turnWindowSamples - last.length);
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  expect(a.length).toBe(b.length);
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}

const noise = (samples: number, seed: number): Float32Array => {
  const prng = newPrng(seed);
  return Float32Array.from({ length: samples }, () => (prng.below(20_001) - 10_000) / 32_768);
};

describe.skipIf(noVectors !== undefined)(
  `turn features against the reference${noVectors ? `: ${noVectors}` : ''}`,
  () => {
    for (const name of ['a', 'b']) {
      it(`agree to 1e-5 for recording ${name}`, () => {
        const ours = computed(floats(`audio-${name}.f32`));
        expect(largestDifference(ours, floats(`features-${name}.f32`))).toBeLessThan(1e-5);
      });
    }
  },
);

describe('turn features', () => {
  it('have one row of 800 frames for each of 80 bands', () => {
    expect(computed(noise(turnWindowSamples, 3)).length).toBe(melBands * featureFrames);
  });

  it('do not depend on what the extractor has seen before', () => {
    const used = new TurnFeatures();
    computed(noise(turnWindowSamples, 4), used);
    const short = noise(20_011, 5);
    expect(largestDifference(computed(short, used).slice(), computed(short))).toBe(0);
  });

  it.each([0, 1, 399, 400, 401, 16_000, 127_000, 127_999, 128_000])(
    'of %i samples are those of the same audio behind zeros that are written out',
    (samples) => {
      const audio = noise(samples, 6);
      const written = new TurnFeatures();
      written.window.fill(0);
      written.window.set(audio, turnWindowSamples - samples);
      expect(largestDifference(computed(audio), written.compute(0))).toBe(0);
    },
  );

  it('hear only the last 8 s', () => {
    const audio = noise(turnWindowSamples + 5_000, 7);
    expect(largestDifference(computed(audio), computed(audio.subarray(5_000)))).toBe(0);
  });
});

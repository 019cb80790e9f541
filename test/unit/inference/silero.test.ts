/** The network of Silero VAD against ONNX Runtime, on every file of the package. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';
import newWabt from 'wabt';
import { sileroPath } from '../../../inference/models.ts';
import { affineBytes } from '../../../inference/silero/affine-bytes.ts';
import { inputSamples, memoryFloats, Silero } from '../../../inference/silero/silero.ts';
import { readWeights } from '../../../inference/silero/weights.ts';
import { newPrng } from '../../../shared/base/prng.ts';
import { noRecordings, recordings } from '../../support/audio/recordings.ts';

const frameSamples = 512;
const folder = dirname(sileroPath(undefined));
const files = readdirSync(folder).filter((name) => name.endsWith('.onnx'));

/** Inputs of the model for each frame of a sound. */
function* inputsOf(pcm: Int16Array): Generator<Float32Array> {
  const input = new Float32Array(inputSamples);
  for (let at = 0; at + frameSamples <= pcm.length; at += frameSamples) {
    input.copyWithin(0, frameSamples);
    for (let i = 0; i < frameSamples; i += 1)
      input[inputSamples - frameSamples + i] = (pcm[at + i] ?? 0) / 32_768;
    yield input;
  }
}

async function byRuntime(path: string, pcm: Int16Array): Promise<number[]> {
  const session = await InferenceSession.create(path, { intraOpNumThreads: 1, logSeverityLevel: 3 });
  const sr = new Tensor('int64', BigInt64Array.of(16_000n), []);
  let state = new Float32Array(memoryFloats);
  const found: number[] = [];
  for (const input of inputsOf(pcm)) {
    const { output, stateN } = await session.run({
      input: new Tensor('float32', input, [1, inputSamples]),
      state: new Tensor('float32', state, [2, 1, memoryFloats / 2]),
      sr,
    });
    state = Float32Array.from(stateN?.data as Float32Array);
    found.push((output?.data as Float32Array)[0] ?? Number.NaN);
  }
  return found;
}

function here(path: string, pcm: Int16Array): number[] {
  const model = Silero.open(path);
  const memory = new Float32Array(memoryFloats);
  return Array.from(inputsOf(pcm), (input) => model.judge(input, memory));
}

const prng = newPrng(3);
/** Harmonics that rise and fall between silence, noise and full scale. */
const sounds = Int16Array.from({ length: 120 * frameSamples }, (_, at) => {
  const loudness = Math.max(0, Math.sin(at / 9_000)) ** 2;
  const voice = [1, 2, 3, 5, 8].reduce(
    (sum, n) => sum + Math.sin((at * n * 140 * 2 * Math.PI) / 16_000) / n,
    0,
  );
  const raw = loudness * voice * 14_000 + prng.below(601) - 300;
  return Math.max(-32_768, Math.min(32_767, Math.round(at % 30_000 < 3_000 ? 0 : raw)));
});

describe('Silero VAD', () => {
  it.each(files)('says of %s what ONNX Runtime says', async (file) => {
    const voices = noRecordings === undefined ? recordings('speech').slice(0, 2) : [];
    for (const pcm of [sounds, ...voices.map((voice) => voice.pcm)]) {
      const expected = await byRuntime(join(folder, file), pcm);
      const off = here(join(folder, file), pcm).map((value, at) =>
        Math.abs(value - (expected[at] ?? Number.NaN)),
      );
      expect(Math.max(...off)).toBeLessThan(1e-5);
    }
  });

  it('tells calls apart by their memory alone', () => {
    const model = Silero.open(sileroPath(undefined));
    const [one, other] = [new Float32Array(memoryFloats), new Float32Array(memoryFloats)];
    const mixed: number[] = [];
    for (const input of inputsOf(sounds)) {
      mixed.push(model.judge(input, one));
      model.judge(new Float32Array(inputSamples).fill(0.1), other);
    }
    expect(mixed).toEqual(here(sileroPath(undefined), sounds));
  });

  it('is refused where the file is another model, is cut off, or is none', () => {
    const whole = readFileSync(sileroPath(undefined));
    expect(() => readWeights(new Uint8Array())).toThrow('holds no Silero VAD model, v5 or v6, for 16 kHz');
    expect(() => readWeights(Buffer.from('not a model at all'))).toThrow();
    expect(() => readWeights(whole.subarray(0, whole.length / 2))).toThrow();
    expect(() => readWeights(whole)('encoder.0.reparam_conv.bias', 64)).toThrow(
      'has no encoder.0.reparam_conv.bias of 64 numbers',
    );
  });
});

describe('the inner loop', () => {
  it('is what affine.wat says', async () => {
    const source = new URL('../../../inference/silero/affine.wat', import.meta.url);
    const wabt = await newWabt();
    const module = wabt.parseWat('affine.wat', readFileSync(source, 'utf8'), { simd: true });
    expect(affineBytes).toEqual(new Uint8Array(module.toBinary({}).buffer));
  });
});

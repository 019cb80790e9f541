/**
 * The smallest speech models that sherpa-onnx takes: a language of tones. The voice gives each letter a tone of its own, the
 * streaming recogniser reads letters from the loudest tone. Real engine, real files; only the language is small.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeModel } from './tiny-onnx.ts';

const letters = Array.from('abcdefghijklmnopqrstuvwxyz ');
/** Heard as nothing. */
const silent = Array.from(".,?!'");
const melBands = 80;
const voiceRate = 22_050;
const toneS = 0.08;
const letterS = 0.12;
/** Log energy from which on a tone counts. */
const audible = 3;

/** Middle of a band of the recogniser's features, in Hz: 80 bands from 20 to 7,600 Hz on the mel scale. */
function middleOf(band: number): number {
  const mel = (hz: number): number => 1127 * Math.log(1 + hz / 700);
  const [low, high] = [mel(20), mel(7_600)];
  return 700 * (Math.exp((low + ((band + 1) * (high - low)) / (melBands + 1)) / 1127) - 1);
}

const bandOf = (letter: number): number => 22 + 2 * letter;

function recognizer(): Buffer {
  const tokens = letters.length + 1;
  const weights = new Float32Array(melBands * tokens);
  letters.forEach((_, letter) => {
    weights[bandOf(letter) * tokens + letter] = 1;
  });
  const bias = new Float32Array(tokens);
  bias[letters.length] = audible;
  const cache = ['batch', 1, 1, 1];
  return encodeModel({
    nodes: [
      { op: 'Transpose', inputs: ['audio_signal'], output: 'frames', ints: { perm: [0, 2, 1] } },
      { op: 'MatMul', inputs: ['frames', 'weights'], output: 'energies' },
      { op: 'Add', inputs: ['energies', 'bias'], output: 'logits' },
      { op: 'Identity', inputs: ['length'], output: 'logits_length' },
      { op: 'Identity', inputs: ['cache_last_channel'], output: 'next_channel' },
      { op: 'Identity', inputs: ['cache_last_time'], output: 'next_time' },
      { op: 'Identity', inputs: ['cache_last_channel_len'], output: 'next_channel_len' },
    ],
    constants: [
      { name: 'weights', dims: [melBands, tokens], data: weights },
      { name: 'bias', dims: [tokens], data: bias },
    ],
    inputs: [
      { name: 'audio_signal', type: 'float', dims: ['batch', melBands, 'time'] },
      { name: 'length', type: 'int64', dims: ['batch'] },
      { name: 'cache_last_channel', type: 'float', dims: cache },
      { name: 'cache_last_time', type: 'float', dims: cache },
      { name: 'cache_last_channel_len', type: 'int64', dims: ['batch'] },
    ],
    outputs: [
      { name: 'logits', type: 'float', dims: ['batch', 'time', tokens] },
      { name: 'logits_length', type: 'int64', dims: ['batch'] },
      { name: 'next_channel', type: 'float', dims: cache },
      { name: 'next_time', type: 'float', dims: cache },
      { name: 'next_channel_len', type: 'int64', dims: ['batch'] },
    ],
    metadata: {
      window_size: 32,
      chunk_shift: 32,
      subsampling_factor: 1,
      vocab_size: letters.length,
      cache_last_channel_dim1: 1,
      cache_last_channel_dim2: 1,
      cache_last_channel_dim3: 1,
      cache_last_time_dim1: 1,
      cache_last_time_dim2: 1,
      cache_last_time_dim3: 1,
    },
  });
}

function voice(): Buffer {
  const samples = Math.round(letterS * voiceRate);
  const toned = Math.round(toneS * voiceRate);
  const radians = Float32Array.from({ length: samples }, (_, n) => (2 * Math.PI * n) / voiceRate);
  const envelope = Float32Array.from({ length: samples }, (_, n) =>
    n < toned ? 0.5 * Math.min(1, n / 100, (toned - n) / 100) : 0,
  );
  const pitches = [...letters.map((_, letter) => middleOf(bandOf(letter))), ...silent.map(() => 0)];
  const one = [1];
  return encodeModel({
    nodes: [
      { op: 'Gather', inputs: ['pitches', 'x'], output: 'pitch', int: { axis: 0 } },
      { op: 'Reshape', inputs: ['pitch', 'column'], output: 'pitch_column' },
      { op: 'MatMul', inputs: ['pitch_column', 'radians'], output: 'phases' },
      { op: 'Sin', inputs: ['phases'], output: 'tones' },
      { op: 'Mul', inputs: ['tones', 'envelope'], output: 'shaped' },
      { op: 'Reshape', inputs: ['shaped', 'row'], output: 'y' },
    ],
    constants: [
      { name: 'pitches', dims: [pitches.length], data: Float32Array.from(pitches) },
      { name: 'column', dims: [2], data: BigInt64Array.of(-1n, 1n) },
      { name: 'radians', dims: [1, samples], data: radians },
      { name: 'envelope', dims: [1, samples], data: envelope },
      { name: 'row', dims: [3], data: BigInt64Array.of(1n, 1n, -1n) },
    ],
    inputs: [
      { name: 'x', type: 'int64', dims: [1, 'letters'] },
      { name: 'x_length', type: 'int64', dims: one },
      { name: 'noise_scale', type: 'float', dims: one },
      { name: 'length_scale', type: 'float', dims: one },
      { name: 'noise_scale_w', type: 'float', dims: one },
    ],
    outputs: [{ name: 'y', type: 'float', dims: [1, 1, 'samples'] }],
    metadata: {
      sample_rate: voiceRate,
      n_speakers: 1,
      add_blank: 0,
      use_eos_bos: 0,
      language: 'Tones',
      frontend: 'characters',
      comment: 'tones',
    },
  });
}

/** Writes both models below `folder`, each in a folder of its own. */
export function writeToneModels(folder: string): void {
  const [ear, mouth] = [join(folder, 'tone-ear'), join(folder, 'tone-voice')];
  for (const path of [ear, mouth]) mkdirSync(path, { recursive: true });
  writeFileSync(join(ear, 'model.onnx'), recognizer());
  const heard = letters.map((letter) => (letter === ' ' ? '\u2581' : letter.toUpperCase()));
  writeFileSync(
    join(ear, 'tokens.txt'),
    [...heard, '<blk>'].map((token, index) => `${token} ${index}\n`).join(''),
  );
  writeFileSync(join(mouth, 'model.onnx'), voice());
  writeFileSync(
    join(mouth, 'tokens.txt'),
    [...letters, ...silent].map((token, index) => `${token} ${index}\n`).join(''),
  );
  writeFileSync(join(mouth, 'lexicon.txt'), '');
}

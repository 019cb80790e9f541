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
/** The same where it decides on the first moment of a tone, which is blurred. */
const onsetLevel = 5;

/** Middle of a band of the recogniser's features, in Hz: 80 bands from 20 to 7,600 Hz on the mel scale. */
function middleOf(band: number): number {
  const mel = (hz: number): number => 1127 * Math.log(1 + hz / 700);
  const [low, high] = [mel(20), mel(7_600)];
  return 700 * (Math.exp((low + ((band + 1) * (high - low)) / (melBands + 1)) / 1127) - 1);
}

const bandOf = (letter: number): number => 22 + 2 * letter;

const chunkFrames = 32;

/** Hears a letter in the frame in which its tone begins, and nothing in all others. */
function transducerEncoder(): Buffer {
  const tokens = letters.length + 1;
  const weights = new Float32Array(melBands * tokens);
  letters.forEach((_, letter) => {
    weights[bandOf(letter) * tokens + letter + 1] = 1;
  });
  const blank = new Float32Array(tokens);
  blank[0] = 1_000;
  const state = [1, 'batch', 1];
  const loudest = { ints: { axes: [2] }, int: { keepdims: 1 } };
  return encodeModel({
    nodes: [
      { op: 'Slice', inputs: ['x', 'one', 'all', 'one'], output: 'present' },
      { op: 'Slice', inputs: ['x', 'zero', 'last', 'one'], output: 'before' },
      { op: 'MatMul', inputs: ['present', 'weights'], output: 'energies' },
      { op: 'MatMul', inputs: ['before', 'weights'], output: 'energies_before' },
      { op: 'ReduceMax', inputs: ['energies'], output: 'peak', ...loudest },
      { op: 'ReduceMax', inputs: ['energies_before'], output: 'peak_before', ...loudest },
      { op: 'Less', inputs: ['peak', 'level'], output: 'silent' },
      { op: 'Greater', inputs: ['peak_before', 'level'], output: 'goes_on' },
      { op: 'Or', inputs: ['silent', 'goes_on'], output: 'nothing_new' },
      { op: 'Cast', inputs: ['nothing_new'], output: 'nothing', int: { to: 1 } },
      { op: 'Mul', inputs: ['nothing', 'blank'], output: 'blanks' },
      { op: 'Add', inputs: ['energies', 'blanks'], output: 'encoder_out' },
      { op: 'Identity', inputs: ['h'], output: 'next_h' },
      { op: 'Identity', inputs: ['c'], output: 'next_c' },
    ],
    constants: [
      { name: 'weights', dims: [melBands, tokens], data: weights },
      { name: 'blank', dims: [tokens], data: blank },
      { name: 'level', dims: [1], data: Float32Array.of(onsetLevel) },
      { name: 'zero', dims: [1], data: BigInt64Array.of(0n) },
      { name: 'one', dims: [1], data: BigInt64Array.of(1n) },
      { name: 'last', dims: [1], data: BigInt64Array.of(BigInt(chunkFrames)) },
      { name: 'all', dims: [1], data: BigInt64Array.of(BigInt(chunkFrames + 1)) },
    ],
    inputs: [
      { name: 'x', type: 'float', dims: ['batch', chunkFrames + 1, melBands] },
      { name: 'h', type: 'float', dims: state },
      { name: 'c', type: 'float', dims: state },
    ],
    outputs: [
      { name: 'encoder_out', type: 'float', dims: ['batch', chunkFrames, tokens] },
      { name: 'next_h', type: 'float', dims: state },
      { name: 'next_c', type: 'float', dims: state },
    ],
    metadata: {
      model_type: 'lstm',
      num_encoder_layers: 1,
      T: chunkFrames + 1,
      decode_chunk_len: chunkFrames,
      rnn_hidden_size: 1,
      d_model: 1,
    },
  });
}

/** Knows nothing of the letters before. */
function transducerDecoder(): Buffer {
  const tokens = letters.length + 1;
  return encodeModel({
    nodes: [
      { op: 'Cast', inputs: ['y'], output: 'context', int: { to: 1 } },
      { op: 'MatMul', inputs: ['context', 'nothing'], output: 'decoder_out' },
    ],
    constants: [{ name: 'nothing', dims: [2, tokens], data: new Float32Array(2 * tokens) }],
    inputs: [{ name: 'y', type: 'int64', dims: ['batch', 2] }],
    outputs: [{ name: 'decoder_out', type: 'float', dims: ['batch', tokens] }],
    metadata: { vocab_size: tokens, context_size: 2 },
  });
}

function transducerJoiner(): Buffer {
  const dims = ['batch', letters.length + 1];
  return encodeModel({
    nodes: [{ op: 'Add', inputs: ['encoder_out', 'decoder_out'], output: 'logit' }],
    constants: [],
    inputs: [
      { name: 'encoder_out', type: 'float', dims },
      { name: 'decoder_out', type: 'float', dims },
    ],
    outputs: [{ name: 'logit', type: 'float', dims }],
    metadata: { joiner_dim: letters.length + 1 },
  });
}

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

/** Folders of the two recognisers: a CTC model, and a transducer. */
export const toneEars = ['tone-ctc', 'tone-transducer'] as const;

/** Writes the models below `folder`, each in a folder of its own. */
export function writeToneModels(folder: string): void {
  const [ctc, transducer] = toneEars.map((name) => join(folder, name));
  const mouth = join(folder, 'tone-voice');
  for (const path of [ctc!, transducer!, mouth]) mkdirSync(path, { recursive: true });
  const heard = letters.map((letter) => (letter === ' ' ? '\u2581' : letter.toUpperCase()));
  const table = (tokens: readonly string[]): string =>
    tokens.map((token, index) => `${token} ${index}\n`).join('');
  writeFileSync(join(ctc!, 'model.onnx'), recognizer());
  writeFileSync(join(ctc!, 'tokens.txt'), table([...heard, '<blk>']));
  writeFileSync(join(transducer!, 'encoder.onnx'), transducerEncoder());
  writeFileSync(join(transducer!, 'decoder.onnx'), transducerDecoder());
  writeFileSync(join(transducer!, 'joiner.onnx'), transducerJoiner());
  writeFileSync(join(transducer!, 'tokens.txt'), table(['<blk>', ...heard]));
  writeFileSync(join(mouth, 'model.onnx'), voice());
  writeFileSync(join(mouth, 'tokens.txt'), table([...letters, ...silent]));
  writeFileSync(join(mouth, 'lexicon.txt'), '');
}

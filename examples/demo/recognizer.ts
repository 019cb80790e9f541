/**
 * The recognizer: one caller's turn in, its words out, or the admission that it was not understood.
 *
 * Invariant: a turn is decoded as a whole after it ended, because the model adapts to a voice over the turn. Every utterance is
 * forced into the grammar, so the words alone mean nothing: they count only when the grammar explains the sound about as
 * well as a free sequence of phones does. It blocks its thread while it works.
 */
import createModule from 'soundswallower';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findSpeech, highPass } from './audio.ts';
import { bigramGrammar, padded, phoneLoopGrammar } from './grammar.ts';

/** What is delivered for speech that fits nothing the demo knows. */
export const unclear = '[unclear]';
/** What is delivered for a hum, which is no speech. */
export const hummed = 'mm-hmm';
/** A hum has next to nothing above `brightHz`: at most this much of the whole, in dB. The darkest words have twice as much. */
const hum = { brightHz: 1_000, mostDb: -24 } as const;

export interface Heard {
  /** The words, `mm-hmm`, `[unclear]`, or nothing when there was no speech. */
  readonly text: string;
  /** The forced words, understood or not; for measuring. */
  readonly words: string;
  /** How much better than free phones the grammar explains the sound, per 10 ms of speech; higher is surer. */
  readonly confidence: number;
}

export interface Recognizer {
  /** Takes 16 kHz mono in [-1, 1]. */
  hear(samples: Float32Array): Heard;
  /** True when the dictionary knows the word. */
  knows(word: string): boolean;
}

/** The part of the recognizer's module that its type declarations leave out. */
interface DecoderModule {
  readonly Decoder: new (config: Readonly<Record<string, string | number>>) => Decoder;
  readonly HEAP32: Int32Array;
  _malloc(bytes: number): number;
  _free(at: number): void;
  _decoder_hyp(decoder: number, score: number): number;
}

interface Decoder {
  readonly cdecoder: number;
  initialize(): Promise<unknown>;
  start(): void;
  stop(): void;
  process_audio(samples: Float32Array, noSearch: boolean, whole: boolean): number;
  get_text(): string;
  lookup_word(word: string): string | null;
}

const isDecoderModule = (module: unknown): module is DecoderModule =>
  typeof module === 'object' &&
  module !== null &&
  ['Decoder', '_malloc', '_free', '_decoder_hyp'].every(
    (name) => typeof Reflect.get(module, name) === 'function',
  );

const sampleRate = 16_000;
const rumbleHz = 100;

/** Less loud sound than this is a click or a breath. */
const minSpeechMs = 120;

/**
 * Single words carry a fixed cost that long sentences spread out, so the
 * bar rises with the length of the speech from `shortMs` to `longMs`.
 */
const bar = { shortMs: 350, longMs: 1100, short: -13, long: 7 } as const;

/** The lowest confidence at which words count, for this much speech. */
export function confidenceBar(loudMs: number): number {
  const share = Math.min(1, Math.max(0, (loudMs - bar.shortMs) / (bar.longMs - bar.shortMs)));
  return bar.short + share * (bar.long - bar.short);
}

function decode(
  module: DecoderModule,
  decoder: Decoder,
  samples: Float32Array,
): { text: string; score: number } | undefined {
  decoder.start();
  decoder.process_audio(samples, false, true);
  decoder.stop();
  const cell = module._malloc(4);
  const found = module._decoder_hyp(decoder.cdecoder, cell);
  const score = module.HEAP32[cell >> 2] ?? 0;
  module._free(cell);
  return found === 0 ? undefined : { text: decoder.get_text(), score };
}

interface Domain {
  readonly patterns: readonly string[];
  readonly slots: Readonly<Record<string, readonly string[]>>;
  /** Where the grammar's files lie while they are loaded; the system's folder for such files by default. */
  readonly scratch?: string;
}

/** Loads the acoustic model, about 0.4 s, and the grammar of the domain. */
export async function loadRecognizer(domain: Domain): Promise<Recognizer> {
  const base = join(dirname(createRequire(import.meta.url).resolve('soundswallower/jsonly')), '..', 'model');
  const silent = { modelBase: `${base}/`, print: () => undefined, printErr: () => undefined };
  const module: unknown = await createModule(silent);
  if (!isDecoderModule(module)) throw new Error('the recognizer has another shape than this version knows');
  const phoneset: unknown = JSON.parse(await readFile(join(base, 'en-us', 'phoneset.json'), 'utf8'));
  const phones = Object.keys(phoneset ?? {}).filter((name) => /^[A-Z]+$/.test(name) && name !== 'SIL');
  const word = (phone: string): string => `__${phone.toLowerCase()}`;
  const folder = await mkdtemp(join(domain.scratch ?? tmpdir(), 'demo-grammar-'));
  const files = {
    words: join(folder, 'words.fsg'),
    phones: join(folder, 'phones.fsg'),
    dict: join(folder, 'phones.dict'),
  };
  try {
    await writeFile(files.words, padded(bigramGrammar(domain.patterns, domain.slots)));
    await writeFile(files.phones, padded(phoneLoopGrammar(phones.map(word))));
    await writeFile(files.dict, padded(phones.map((phone) => `${word(phone)} ${phone}\n`).join('')));
    const settings = { samprate: sampleRate, loglevel: 'FATAL' };
    const words = new module.Decoder({ ...settings, fsg: files.words });
    await words.initialize();
    const free = new module.Decoder({ ...settings, fsg: files.phones, dict: files.dict });
    await free.initialize();
    return {
      hear: (samples) =>
        hear(samples, (speech) => ({
          words: decode(module, words, speech),
          free: decode(module, free, speech),
        })),
      knows: (text) => words.lookup_word(text) !== null,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Scored = { readonly text: string; readonly score: number } | undefined;

function isHum(samples: Float32Array): boolean {
  const energy = (signal: Float32Array): number => signal.reduce((sum, x) => sum + x * x, 0);
  return energy(highPass(samples, hum.brightHz)) <= energy(samples) * 10 ** (hum.mostDb / 10);
}

function hear(samples: Float32Array, run: (speech: Float32Array) => { words: Scored; free: Scored }): Heard {
  const speech = findSpeech(highPass(samples, rumbleHz));
  if (speech === undefined || speech.loudMs < minSpeechMs)
    return { text: '', words: '', confidence: -Infinity };
  if (isHum(speech.samples)) return { text: hummed, words: '', confidence: -Infinity };
  const { words, free } = run(speech.samples);
  if (words === undefined || words.text === '') return { text: unclear, words: '', confidence: -Infinity };
  const confidence = free === undefined ? 0 : (words.score - free.score) / (speech.loudMs / 10);
  const understood = confidence >= confidenceBar(speech.loudMs);
  return { text: understood ? words.text : unclear, words: words.text, confidence };
}

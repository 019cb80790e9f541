/** The demo's voice heard by the demo's ear, and real recordings: how much is understood, and that the rest is admitted. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { patterns, slots } from '../../../examples/demo/domain.ts';
import { loadFlite, type Flite } from '../../../examples/demo/flite.ts';
import { vocabulary } from '../../../examples/demo/grammar.ts';
import { loadRecognizer, hummed, unclear, type Recognizer } from '../../../examples/demo/recognizer.ts';
import { voices, type Voice } from '../../../examples/demo/voices.ts';
import { backchannelsOf } from '../../../shared/config/agent/texts.ts';
import { spokenWords } from '../../../shared/languages/spelling.ts';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { listeningOf, withoutListening } from '../../../worker/core/turn/backchannels.ts';
import { everyNth } from '../../support/sampled.ts';

const allPatterns = Object.values(patterns).flat();

const inDomain = [
  'hello',
  'what time is it',
  'what day is it today',
  "what's the weather like in london",
  'will it rain in paris tomorrow',
  'i would like to book a table',
  'book a table for four tomorrow at seven thirty',
  'six people please',
  'on friday at half past eight',
  'where is my order',
  'my order number is four two seven',
  'two pizzas please',
  'i would like to order a lasagna',
  'my name is anna',
  'thank you very much',
  'can you repeat that',
  'yes please',
  'no thank you',
  'that is all thank you',
];

const outOfDomain = [
  'the quick brown fox jumps over the lazy dog',
  'how do i cook spaghetti with tomato sauce',
  'i think the government should lower taxes',
  'who won the football match yesterday',
  'could you recommend a good movie for tonight',
];

/** Half a second of near silence before and after, as the service sends it. */
function turn(samples: Int16Array): Float32Array {
  const out = Float32Array.from(
    { length: samples.length + 16_000 },
    (_, at) => Math.sin(at * 12.9898) * 1e-4,
  );
  for (const [at, sample] of samples.entries()) out[at + 8000] = sample / 32_768;
  return out;
}

/** Words to insert, remove and replace. */
function wordErrors(said: string, heard: string): number {
  const [a, b] = [said.split(' '), heard.split(' ').filter((word) => word !== '')];
  let row = [0, ...b.map((_, index) => index + 1)];
  for (const [i, word] of a.entries()) {
    const next = [i + 1];
    for (const [j, other] of b.entries()) {
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (word === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1)!;
}

let flite: Flite;
let recognizer: Recognizer;
beforeAll(async () => {
  flite = await loadFlite();
  recognizer = await loadRecognizer({ patterns: allPatterns, slots });
}, 240_000);

describe('the domain', () => {
  it('has only words that the recognizer knows', () => {
    expect(
      vocabulary(allPatterns, slots).filter((word) => word !== '</s>' && !recognizer.knows(word)),
    ).toEqual([]);
  });
});

/** In a build a voice says one of four sentences, and each sentence is said. */
const sampleFor = (voice: Voice, sentences: readonly string[]): readonly string[] =>
  everyNth(sentences, 4, voices.indexOf(voice));

describe('a sentence of the domain', () => {
  it.each(voices)('is understood in the voice %s', (voice: Voice) => {
    let errors = 0;
    let total = 0;
    let refused = 0;
    for (const sentence of sampleFor(voice, inDomain)) {
      const heard = recognizer.hear(turn(flite(sentence, { voice, speed: 1 })));
      errors += wordErrors(sentence, heard.words);
      total += sentence.split(' ').length;
      if (heard.text === unclear) refused += 1;
    }
    console.log(`${voice}: word errors ${errors} of ${total}, refused ${refused}`);
    expect(errors / total).toBeLessThan(0.1);
    expect(refused).toBeLessThanOrEqual(2);
  });
});

describe('a sentence of another world', () => {
  it.each(voices)('is mostly admitted as unclear in the voice %s', (voice: Voice) => {
    const said = sampleFor(voice, outOfDomain);
    const heard = said.map((text) => recognizer.hear(turn(flite(text, { voice, speed: 1 }))).text);
    expect(heard.filter((text) => text !== unclear).length).toBeLessThanOrEqual(1);
  });
});

describe('a word of listening', () => {
  it.each(voices)('is mostly heard as one in the voice %s', (voice: Voice) => {
    const texts = ['right', 'I see', 'got it', 'alright', 'yeah yeah', 'okay okay'];
    const heard = everyNth(texts, 2, voices.indexOf(voice)).map(
      (text) => recognizer.hear(turn(flite(text, { voice, speed: 1 }))).text,
    );
    const { listening } = listeningOf(backchannelsOf('en'), vocabularyOf(['en']));
    const isTelling = (text: string) => withoutListening(spokenWords(text), listening).length > 0;
    expect(heard.filter(isTelling).length).toBeLessThanOrEqual(heard.length / 3);
  });
});

describe('a hum', () => {
  const dark: readonly Voice[] = ['slt', 'rms', 'awb'];

  it.each(dark)('is written down as one in the voice %s', (voice) => {
    const texts = ['mm-hmm', 'Mm.', 'Mhm', 'hmm'].map((text) => flite(text, { voice, speed: 1 }));
    expect(texts.map((pcm) => recognizer.hear(turn(pcm)).text)).toEqual(texts.map(() => hummed));
  });

  it.each(voices)('is not what short dark words are in the voice %s', (voice) => {
    const texts = ['no', 'one', 'two', 'more', 'oh'].map((text) => flite(text, { voice, speed: 1 }));
    expect(texts.map((pcm) => recognizer.hear(turn(pcm)).text)).not.toContain(hummed);
  });
});

describe('no speech', () => {
  it.each([
    ['nothing', new Float32Array(0)],
    ['digital silence', new Float32Array(16_000)],
    [
      'a quiet hum',
      Float32Array.from({ length: 16_000 }, (_, at) => Math.sin((at * 2 * Math.PI * 50) / 16_000) * 0.01),
    ],
    ['a click', Float32Array.from({ length: 16_000 }, (_, at) => (at > 8000 && at < 8100 ? 0.5 : 0))],
  ])('gives no text: %s', (_, samples) => {
    expect(recognizer.hear(samples).text).toBe('');
  });
});

const assets = process.env['SVC_TEST_ASSETS'];

interface Recording {
  readonly id: string;
  readonly file: string;
  readonly seconds: number;
  readonly text?: string;
}

function samplesOf(file: string): Int16Array {
  const bytes = readFileSync(file);
  let at = 12;
  while (bytes.toString('latin1', at, at + 4) !== 'data') at += 8 + bytes.readUInt32LE(at + 4);
  const length = Math.min(bytes.readUInt32LE(at + 4), bytes.length - at - 8) >> 1;
  return Int16Array.from({ length }, (_, index) => bytes.readInt16LE(at + 8 + 2 * index));
}

describe.skipIf(assets === undefined)('real recordings (skipped without SVC_TEST_ASSETS)', () => {
  const folder = join(assets ?? '', 'audio');
  const manifest = assets !== undefined && existsSync(join(folder, 'manifest.json'));
  const all = manifest
    ? (JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Recording[])
    : [];
  const find = (id: string): Recording => all.find((recording) => recording.id === id)!;
  const hear = (recording: Recording) => recognizer.hear(turn(samplesOf(join(folder, recording.file))));

  it.each(['jambonz_support', 'vosk_digits', 'lk_hello'])('understands %s word for word', (id) => {
    expect(hear(find(id)).text).toBe(find(id).text);
  });

  it('understands most single digits of two speakers', () => {
    const digits = all.filter(({ id }) => id.startsWith('digit_'));
    const right = digits.filter((recording) => hear(recording).words === recording.text);
    console.log(`single digits: ${right.length} of ${digits.length}`);
    expect(digits).toHaveLength(20);
    expect(right.length).toBeGreaterThanOrEqual(14);
  });

  it('admits that it does not understand read sentences', () => {
    const read = all.filter(({ id }) => /^(arctic|coqui|libri|sb_|austen_08[789]0)/.test(id));
    const refused = read.filter((recording) => hear(recording).text === unclear);
    console.log(`sentences outside the domain refused: ${refused.length} of ${read.length}`);
    expect(read.length).toBeGreaterThanOrEqual(8);
    expect(refused.length / read.length).toBeGreaterThanOrEqual(0.9);
  });
});

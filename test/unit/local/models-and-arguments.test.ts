/** What `local` is told, which models it finds, and what it makes of a text. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseLocalArguments } from '../../../cli/commands/local/arguments.ts';
import { findRecognizer, findVoice } from '../../../cli/commands/local/speech-models.ts';
import { readSpeechRequest, sentencesOf, voiceNames } from '../../../cli/commands/local/speech-request.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-find-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const put = (...paths: string[]): void => {
  for (const path of paths) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), path.includes('nemo') ? 'cache_last_channel' : '');
  }
};
const any = { name: undefined, preferred: [] };

describe('the models in a folder', () => {
  it('are found in folders of their own, 8-bit weights first', () => {
    put(
      ...[
        'encoder-99.onnx',
        'encoder-99.int8.onnx',
        'decoder-99.onnx',
        'joiner-99.int8.onnx',
        'tokens.txt',
      ].map((file) => `zip/${file}`),
      ...['en.onnx', 'tokens.txt', 'espeak-ng-data/phontab'].map((file) => `piper/${file}`),
    );
    expect(findRecognizer(folder, any)).toEqual({
      ok: true,
      value: {
        name: 'zip',
        files: {
          kind: 'transducer',
          encoder: join(folder, 'zip/encoder-99.int8.onnx'),
          decoder: join(folder, 'zip/decoder-99.onnx'),
          joiner: join(folder, 'zip/joiner-99.int8.onnx'),
          tokens: join(folder, 'zip/tokens.txt'),
        },
      },
    });
    expect(findVoice(folder, any)).toMatchObject({
      value: { name: 'piper', files: { kind: 'vits', dataDir: join(folder, 'piper/espeak-ng-data') } },
    });
  });

  it('may lie in the folder itself', () => {
    put('model.onnx', 'voices.bin', 'tokens.txt', 'espeak-ng-data/phontab', 'lexicon-us-en.txt');
    expect(findVoice(folder, any)).toMatchObject({
      value: { files: { kind: 'kokoro', lexicons: [join(folder, 'lexicon-us-en.txt')] } },
    });
    expect(findRecognizer(folder, any).ok).toBe(false);
  });

  it.each([
    [['a/encoder.onnx', 'a/decoder.onnx', 'a/tokens.txt'], 'there is no joiner*.onnx in the folder a'],
    [['a/encoder.onnx', 'a/decoder.onnx', 'a/joiner.onnx'], 'there is no tokens.txt in the folder a'],
    [['a/joiner.onnx', 'a/tokens.txt'], 'there is no encoder*.onnx in the folder a'],
    [['a/nemo.onnx'], 'there is no tokens.txt in the folder a'],
  ])('are refused with the name of what is missing: %j', (files, error) => {
    put(...files);
    expect(findRecognizer(folder, any)).toEqual({ ok: false, error });
  });

  it.each([
    [['v/model.onnx', 'v/voices.bin', 'v/tokens.txt'], 'there is no espeak-ng-data in the folder v'],
    [['v/voices.bin', 'v/tokens.txt'], 'there is no model (*.onnx) in the folder v'],
    [['v/model.onnx', 'v/espeak-ng-data/phontab'], 'there is no tokens.txt in the folder v'],
  ])('are refused when a voice is not whole: %j', (files, error) => {
    put(...files);
    expect(findVoice(folder, any)).toEqual({ ok: false, error });
  });

  it('are chosen by name, or by preference, and never by chance', () => {
    for (const name of ['a', 'b'])
      put(...['m.onnx', 'tokens.txt', 'lexicon.txt'].map((file) => `${name}/${file}`));
    expect(findVoice(folder, any)).toMatchObject({
      ok: false,
      error: expect.stringContaining('(a, b)') as string,
    });
    const name = (wish: { name: string | undefined; preferred: string[] }): unknown => {
      const found = findVoice(folder, wish);
      return found.ok ? found.value.name : found.error;
    };
    expect(name({ name: 'b', preferred: ['a'] })).toBe('b');
    expect(name({ name: undefined, preferred: ['b', 'a'] })).toBe('b');
    expect(name({ name: 'c', preferred: [] })).toMatch(/^--tts-model: must be the name of a folder/);
  });

  it('are missed where there is no folder, and in an empty one', () => {
    expect(findVoice(join(folder, 'none'), any)).toEqual({
      ok: false,
      error: 'must be a folder that exists',
    });
    expect(findRecognizer(folder, any)).toMatchObject({
      ok: false,
      error: expect.stringContaining('holds no streaming recogniser') as string,
    });
  });
});

describe('the arguments of local', () => {
  const parse = (...args: string[]) => parseLocalArguments(args, { cores: 4 });

  it('have defaults', () => {
    expect(parse()).toEqual({
      ok: true,
      value: { host: '127.0.0.1', sttPort: 6006, ttsPort: 8880, threads: 2, maxStreams: 32 },
    });
  });

  it.each([
    [['--stt-port', '70000'], '--stt-port: must be a whole number from 0 to 65535'],
    [['--threads', '0'], '--threads: must be a whole number from 1 to 64'],
    [['--max-streams', '1.5'], '--max-streams: must be a whole number from 1 to 1000'],
    [['--without', 'llm'], '--without: must be stt or tts'],
    [['--models'], '--models: needs a value'],
    [['--host', 'a', '--host', 'b'], '--host: must be given once'],
    [['--modles', 'x'], 'unknown option --modles; did you mean --models?'],
  ])('are refused by name and rule: %j', (args, error) => {
    expect(parse(...args)).toEqual({ ok: false, error });
  });
});

describe('a text to speak', () => {
  it.each([
    ['Hello!  You there?\nYes.', ['Hello!', 'You there?', 'Yes.']],
    ['It is 3.5 degrees in St. Ives', ['It is 3.5 degrees in St.', 'Ives']],
    ['"Stop!" he said. (Really.) Go', ['"Stop!"', 'he said.', '(Really.)', 'Go']],
    ['... — !', []],
    ['', []],
  ])('is cut into sentences: %j', (text, sentences) => {
    expect(sentencesOf(text)).toEqual(sentences);
  });

  it('keeps every word of a long sentence, in pieces that are spoken soon', () => {
    const words = Array.from({ length: 200 }, (_, index) =>
      index % 17 === 16 ? `word${index},` : `word${index}`,
    );
    const pieces = sentencesOf(words.join(' '));
    expect(pieces.join(' ').split(' ')).toEqual(words);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(300);
    expect(sentencesOf('x'.repeat(700)).join('')).toBe('x'.repeat(700));
  });

  it('names a voice by its name or its number', () => {
    const kokoro = voiceNames('kokoro', 11);
    const speaker = (voice: unknown, voices: string[]): unknown => {
      const read = readSpeechRequest({ input: 'Hi.', voice }, voices);
      return read.ok ? read.value.jobs[0]?.speaker : read.error;
    };
    expect([speaker('am_adam', kokoro), speaker('3', kokoro), speaker(4, kokoro)]).toEqual([5, 3, 4]);
    expect(speaker('af_heart', kokoro)).toMatch(/^voice must be one of af, /);
    expect(speaker('alloy', voiceNames('vits', 1))).toBe(0);
    expect(speaker('904', voiceNames('vits', 904))).toBe('voice must be a number from 0 to 903, or default');
    expect(speaker(undefined, kokoro)).toBe(0);
  });
});

/**
 * Speech through the service's own stages and the demo's real servers: a recorded sentence becomes its words, and what is spoken
 * can be written down again.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseWav } from '../../shared/audio/wav.ts';
import { loadAnswerEar } from '../support/audio/answer-ear.ts';
import { atRate, startDemo, type RunningDemo } from '../support/process/running-demo.ts';
import { heardBy, padded, speechOf } from '../support/core/speech-stages.ts';

const assets = process.env['SVC_TEST_ASSETS'];
const withoutAssets = assets === undefined ? ' (skipped: SVC_TEST_ASSETS names no folder of recordings)' : '';

let demo: RunningDemo;

beforeAll(async () => {
  demo = await startDemo();
});

afterAll(() => demo.stop());

describe('speech through the demo', () => {
  it.skipIf(assets === undefined)(`hears recorded sentences word for word${withoutAssets}`, async () => {
    const names = ['lk_hello', 'jambonz_support'];
    const manifest = JSON.parse(readFileSync(join(assets!, 'audio', 'manifest.json'), 'utf8')) as {
      id: string;
      file: string;
      text: string;
    }[];
    const said = names.map((name) => manifest.find(({ id }) => id === name)!);
    const pcms = said.map(({ file }) => {
      const wav = parseWav(readFileSync(join(assets!, 'audio', file)));
      return padded(atRate(wav.pcm, { from: wav.sampleRate, to: 16_000 }));
    });
    const heard = await heardBy(demo.stt, pcms);
    expect(heard.map(({ finals }) => finals)).toEqual(said.map(({ text }) => [text]));
  });

  it('speaks what can be written down again', async () => {
    const pcm = await speechOf(demo.tts, [
      'Hello!',
      'You can ask me about the time, the weather, a table, or an order.',
    ]);
    expect((await loadAnswerEar()).transcribe(pcm, 16_000)).toBe(
      'hello you can ask me about the time the weather a table or an order',
    );
  });

  it('hears its own voice', async () => {
    const pcm = await speechOf(demo.tts, ['What is the weather like in London?']);
    const [heard] = await heardBy(demo.stt, [padded(pcm)]);
    expect(heard?.finals).toEqual(['what is the weather like in london']);
  });
});

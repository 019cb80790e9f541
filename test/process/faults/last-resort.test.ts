/** A running service that never had a voice: both providers of TTS are down from the start, and callers hear the announcement. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseWav, writeWav } from '../../../shared/audio/wav.ts';
import { FakeChat } from '../../support/fakes/fake-chat.ts';
import { reply, silence } from '../../support/fakes/fake-http.ts';
import { ask, callTo } from './voiceless.ts';

const toneHz = 440;
const words = 'The lines are down. Call again tomorrow.';
const rate = 16_000;
const shipped = parseWav(readFileSync(new URL('../../../worker/announcements/en.wav', import.meta.url))).pcm;

let folder: string;

/** One refuses everything, the other takes everything and says nothing. */
const refusing = new FakeChat(reply({ status: 503, chunks: ['{}'] }));
const dumb = new FakeChat(silence);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-announcement-'));
  const tone = Int16Array.from({ length: 8_000 }, (_, at) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * toneHz * at) / 8_000)),
  );
  writeFileSync(join(folder, 'down.wav'), writeWav(tone, 8_000));
  await Promise.all([refusing.start(), dumb.start()]);
  return async () => {
    await Promise.all([refusing.close(), dumb.close()]);
    rmSync(folder, { recursive: true, force: true });
  };
});

/** Share of the sound that is the tone of the recording. */
function toneShare(pcm: Int16Array): number {
  const loud = pcm.filter((sample) => Math.abs(sample) > 100);
  const whole = pcm.reduce((sum, sample) => sum + sample ** 2, 0);
  let [sine, cosine] = [0, 0];
  for (const [at, sample] of pcm.entries()) {
    sine += sample * Math.sin((2 * Math.PI * toneHz * at) / rate);
    cosine += sample * Math.cos((2 * Math.PI * toneHz * at) / rate);
  }
  return loud.length === 0 ? 0 : (2 * (sine ** 2 + cosine ** 2)) / pcm.length / whole;
}

/** How alike the loudness of two sounds goes up and down, from -1 to 1. */
function likeness(one: Int16Array, other: Int16Array): number {
  const frame = 320;
  const levels = (pcm: Int16Array): number[] =>
    Array.from({ length: Math.floor(pcm.length / frame) }, (_, index) =>
      Math.sqrt(
        pcm.subarray(index * frame, (index + 1) * frame).reduce((sum, sample) => sum + sample ** 2, 0),
      ),
    );
  const centred = (values: readonly number[]): number[] => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return values.map((value) => value - mean);
  };
  const [a, b] = [centred(levels(one)), centred(levels(other))];
  const dot = (left: readonly number[], right: readonly number[]): number =>
    left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

const firstLoud = (pcm: Int16Array): number => pcm.findIndex((sample) => Math.abs(sample) > 2_000);

describe.concurrent('a service without a voice', () => {
  it('plays the recording of its operator, and remembers what it says', async (test) => {
    const agent = `[agent.announcement]
file = "${join(folder, 'down.wav')}"
text = "${words}"`;
    const line = await callTo({ tts: refusing.baseUrl, agent }, test);
    const { call, service, llm } = line;
    await ask(line, 'what time is it');
    const heard = call.heard();
    const from = firstLoud(heard);
    expect(toneShare(heard.slice(from, from + rate * 0.9))).toBeGreaterThan(0.95);
    expect(await service.says('stage fault', ({ stage }) => stage === 'tts')).toBeDefined();
    await ask(line, 'and the day');
    expect(JSON.stringify(llm.requests.at(-1)?.body['messages'])).toContain(words);
    await call.hangUp();
  });

  it('plays the recording that ships, in its language, when TTS takes text and says nothing', async (test) => {
    const line = await callTo({ tts: dumb.baseUrl }, test);
    const { call, service } = line;
    await ask(line, 'what time is it');
    await service.says('stage fault', ({ stage, what }) => stage === 'tts' && what === 'stalled');
    expect(await service.says('announcement played')).toMatchObject({ stage: 'tts' });
    const heard = call.heard();
    const from = firstLoud(heard) - firstLoud(shipped);
    // Resampled twice, the first loud sample may be another one.
    const shifts = Array.from({ length: 41 }, (_, index) => from + (index - 20) * 160);
    const likenesses = shifts.map((at) => likeness(heard.slice(at, at + shipped.length), shipped));
    expect(Math.max(...likenesses)).toBeGreaterThan(0.95);
    await call.hangUp();
  });

  it('plays a signal to callers of another language', async (test) => {
    const line = await callTo({ tts: dumb.baseUrl, agent: 'language = "de"' }, test);
    const { call } = line;
    await ask(line, 'wie spät ist es');
    const heard = call.heard();
    const from = firstLoud(heard);
    const loud = heard.slice(from, from + rate).filter((sample) => Math.abs(sample) > 1_000).length;
    // Tones without a pause, and nothing behind them until TTS is given up once more.
    expect(loud).toBeGreaterThan(rate * 0.7);
    expect(heard.slice(from + rate * 1.1, from + rate * 2.5).every((sample) => Math.abs(sample) < 100)).toBe(
      true,
    );
    await call.hangUp();
  });
});

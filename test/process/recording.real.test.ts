/** Recordings of real calls: what was said and played stands in files, aligned in time, whatever happens to the worker. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { wholeRecordingFile } from '../../shared/installation/recording-file.ts';
import { keyOf, type RecordingKeys } from '../../shared/recording/keys.ts';
import { loadFlite } from '../../examples/demo/flite.ts';
import type { CallClient } from '../../cli/commands/call/caller.ts';
import { answer, toolCall } from '../support/fakes/fake-chat.ts';
import type { FakeReply } from '../support/fakes/fake-http.ts';
import { samplesOf } from '../support/fakes/fake-speech.ts';
import { TestService, type TestServiceOptions } from '../support/process/service.ts';

let service: TestService;
let folder: string;
let question: Int16Array;

const greeting = 'Good morning and welcome to the harbour office. My name is Ada, and I can help you.';
const consent = 'This call is recorded.';
const rate = 16_000;
/** The fakes speak at 24 kHz. */
const lengthMs = (text: string): number => samplesOf(text) / 24;

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 });
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-recordings-'));
});

afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(recording: string, options: TestServiceOptions = {}): Promise<void> {
  service = await TestService.start({
    greeting,
    agent: `[recording]\n${recording}\nconsent = "${consent}"`,
    ...options,
    env: { SVC_RECORDING_DIR: folder, ...options.env },
  });
}

/** A caller that counts what it hears. */
class Listener {
  heardMs = 0;
  call!: CallClient;

  static async join(): Promise<Listener> {
    const listener = new Listener();
    listener.call = await service.call({}, (event) => {
      if (event.type === 'audio') listener.heardMs += event.durationMs;
    });
    return listener;
  }

  async hear(ms: number): Promise<void> {
    while (this.heardMs < ms) {
      const event = await this.call.next(({ type }) => type === 'audio');
      if (event === undefined) throw new Error('the call ended');
    }
  }

  /** Hears everything that was spoken up to a text of this length, to its last mark. */
  async hearOut(ms: number): Promise<void> {
    await this.hear(ms - 40);
    await this.call.next(({ type }) => type === 'mark-played');
  }
}

const greetingMs = lengthMs(`${consent} ${greeting}`);
const answerMs = lengthMs('It is noon.');

/** One question of the caller, answered. */
async function talk(): Promise<Listener> {
  const { stt, llm } = service.providers;
  llm.script.push(answer('It is noon.'));
  stt.utterances.push('my card is 4111 1111 1111 1111');
  const caller = await Listener.join();
  await caller.hearOut(greetingMs);
  await caller.call.say(question);
  await caller.hearOut(greetingMs + answerMs);
  return caller;
}

interface Recording {
  readonly path: string;
  readonly left: Int16Array;
  readonly right: Int16Array;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

/** Waits until a recording is finished, and reads it. */
async function finished(call: CallClient, keys?: RecordingKeys): Promise<Recording> {
  await service.counted('svc_recordings_total{what="finished"}', 1);
  const [day = ''] = readdirSync(join(folder, 'kept'));
  const path = join(folder, 'kept', day, call.callId);
  const wav = await wholeRecordingFile(path, 'audio.wav', keys);
  expect(wav.readUInt32LE(24)).toBe(rate);
  expect(wav.readUInt16LE(22)).toBe(2);
  const samples = (wav.length - 44) / 4;
  const side = (at: number): Int16Array =>
    Int16Array.from({ length: samples }, (_, index) => wav.readInt16LE(44 + index * 4 + at));
  const text = (await wholeRecordingFile(path, 'call.jsonl', keys)).toString().trim();
  const lines = text.split('\n').map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  return { path, left: side(0), right: side(2), lines };
}

/** Milliseconds of a side that hold sound, in windows of 20 ms. */
function soundMs(pcm: Int16Array): number {
  let windows = 0;
  for (let at = 0; at + 320 <= pcm.length; at += 320)
    if (pcm.subarray(at, at + 320).some((sample) => Math.abs(sample) > 200)) windows += 1;
  return windows * 20;
}

/** Where a side has the most of what was said, in samples: the best of the places where its loudness fits. */
function placeOf(part: Int16Array, pcm: Int16Array): number {
  const loudness = (from: Int16Array): number[] =>
    Array.from({ length: Math.floor(from.length / 160) }, (_, index) =>
      from.subarray(index * 160, index * 160 + 160).reduce((sum, sample) => sum + Math.abs(sample), 0),
    );
  const [short, long] = [loudness(part), loudness(pcm)];
  let best = { at: 0, score: -Infinity };
  for (let at = 0; at + short.length <= long.length; at += 1) {
    const score = -short.reduce((sum, value, index) => sum + Math.abs(value - (long[at + index] ?? 0)), 0);
    if (score > best.score) best = { at, score };
  }
  return best.at * 160;
}

describe('a recorded call', () => {
  it('is there as a WAV of both sides, a transcript without what is redacted, and its times', async () => {
    await start("audio = true\ntranscript = true\nredact = ['[0-9][0-9 ]{11,18}[0-9]']");
    const caller = await talk();
    await caller.call.hangUp();
    const { path, left, right, lines } = await finished(caller.call);
    expect(readdirSync(path).toSorted()).toEqual(['audio.wav', 'audio.waveform', 'call.jsonl']);
    expect(Math.abs(soundMs(right) - greetingMs - answerMs)).toBeLessThan(200);
    // What the caller said stands between greeting and answer on the other side.
    const asked = placeOf(question, left);
    expect(soundMs(right.subarray(asked, asked + question.length))).toBeLessThan(100);
    expect(lines[0]).toMatchObject({ type: 'call', call: caller.call.callId, agent: 'test', rate });
    expect(lines.filter(({ type }) => type === 'agent').map(({ text }) => text)).toEqual([
      `${consent} ${greeting}`,
      'It is noon.',
    ]);
    expect(lines.find(({ type }) => type === 'caller')?.['text']).toBe('my card is [redacted]');
    expect(lines.find(({ type }) => type === 'times')).toHaveProperty('responseMs');
    expect(lines.at(-1)).toMatchObject({ type: 'ended', end: 'hangup' });
    expect(await service.metric('svc_recording_lost_total{what="audio"}')).toBe(0);
  });

  it.each([
    ['', undefined],
    [', encrypted', [keyOf(randomBytes(32))] as const],
  ])('goes on in one file when its worker is killed%s, and loses nothing that was sent', async (_, keys) => {
    if (keys !== undefined) writeFileSync(join(folder, 'key'), keys[0].secret);
    await start('audio = true\ntranscript = true\nfacts = true', {
      workers: 2,
      env: {
        SVC_SPARE_WORKER: 'on',
        ...(keys !== undefined && { SVC_RECORDING_KEY_FILE: join(folder, 'key') }),
      },
    });
    const caller = await Listener.join();
    await caller.hear(1_500);
    await service.readiness();
    process.kill(await service.workerOf(caller.call), 'SIGKILL');
    await service.says('call taken up');
    await caller.hearOut(greetingMs);
    await caller.call.hangUp();
    const { path, right, lines } = await finished(caller.call, keys);
    expect(readdirSync(path).every((name) => name.endsWith('.enc') === (keys !== undefined))).toBe(true);
    expect(Math.abs(soundMs(right) - caller.heardMs)).toBeLessThanOrEqual(60);
    expect(lines.filter(({ type }) => type === 'call')).toHaveLength(1);
    expect(lines.filter(({ type }) => type === 'taken_up')).toHaveLength(1);
    expect(lines.at(-1)).toMatchObject({ type: 'ended', end: 'hangup' });
    const facts = gunzipSync(await wholeRecordingFile(path, 'facts.jsonl.gz', keys)).toString();
    expect(facts.match(/"type":"call",/g)).toHaveLength(2);
  });

  it('holds silence of the same length, and no word, while it is paused, in whichever worker', async () => {
    await start('audio = true\ntranscript = true', { workers: 2, env: { SVC_SPARE_WORKER: 'on' } });
    const { stt, llm } = service.providers;
    const caller = await Listener.join();
    let spokenMs = greetingMs;
    await caller.hearOut(spokenMs);
    const say = async (words: string, ...answers: readonly FakeReply[]): Promise<void> => {
      stt.utterances.push(words);
      llm.script.push(...answers);
      await caller.call.say(question);
      spokenMs += lengthMs('Just so.');
      await caller.hearOut(spokenMs);
    };
    await say('I want to pay', toolCall('pause_recording', {}), answer('Just so.'));
    process.kill(await service.workerOf(caller.call), 'SIGKILL');
    await service.says('call taken up');
    await say('my card is 4111 1111 1111 1111', answer('Just so.'));
    await say('that is all', toolCall('resume_recording', {}), answer('Just so.'));
    await caller.call.hangUp();
    const { left, right, lines } = await finished(caller.call);
    const texts = (type: string): unknown[] =>
      lines.filter((line) => line['type'] === type).map(({ text }) => text);
    const hidden = '[not recorded]';
    expect(texts('caller')).toEqual(['I want to pay', hidden, hidden]);
    expect(texts('agent')).toEqual([`${consent} ${greeting}`, hidden, hidden, 'Just so.']);
    expect(lines.filter(({ type }) => type === 'recording_resumed')).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toContain('4111');
    expect(Math.abs(soundMs(left) - soundMs(question))).toBeLessThan(200);
    expect(Math.abs(soundMs(right) - greetingMs - lengthMs('Just so.'))).toBeLessThan(200);
    const endedMs = Number(lines.at(-1)?.['at']);
    expect(Math.abs(left.length / (rate / 1000) - endedMs)).toBeLessThan(500);
  });

  it('is Opus where the agent file says so', async () => {
    await start('audio = true\naudio_format = "opus"');
    const caller = await Listener.join();
    await caller.hear(500);
    await caller.call.hangUp();
    await service.counted('svc_recordings_total{what="finished"}', 1);
    const [day = ''] = readdirSync(join(folder, 'kept'));
    const sound = readFileSync(join(folder, 'kept', day, caller.call.callId, 'audio.opus'));
    expect(sound.subarray(0, 4).toString()).toBe('OggS');
    expect(sound.length).toBeGreaterThan(500);
  });

  it('is finished when the service ends in the middle of it', async () => {
    await start('audio = true');
    const caller = await service.call();
    await caller.next(({ type }) => type === 'audio');
    // One signal: a second one would kill the worker over it, and leave the rest to the next start.
    service.signal('SIGTERM');
    await service.ended;
    const ended = readdirSync(join(folder, 'kept')).flatMap((day) => readdirSync(join(folder, 'kept', day)));
    const waiting = existsSync(join(folder, 'ended')) ? readdirSync(join(folder, 'ended')) : [];
    expect([...ended, ...waiting]).toEqual([caller.callId]);
  });
});

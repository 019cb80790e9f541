/**
 * The whole way of a call as a newcomer has it: `npm start`, a plain WebSocket client, spoken questions, and what was answered
 * written down from the sound of the answer.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseWav } from '../../shared/audio/wav.ts';
import { type AnswerEar, heardByDemo, loadAnswerEar } from '../support/audio/answer-ear.ts';
import { Conversation } from '../support/core/conversation.ts';
import { recordLlm, type RecordedLlm } from '../support/core/recorded-llm.ts';
import {
  atRate,
  type RunningDemo,
  spoken,
  startDemo,
  startService,
} from '../support/process/running-demo.ts';
import { isTime, zoneAtTen } from '../support/audio/spoken-time.ts';

const assets = process.env['SVC_TEST_ASSETS'];
const withoutAssets = assets === undefined ? '(skipped: SVC_TEST_ASSETS names no folder of recordings)' : '';

let demo: RunningDemo;
let ear: AnswerEar;

beforeAll(async () => {
  [demo, ear] = await Promise.all([startDemo({ TZ: zoneAtTen(new Date()) }), loadAnswerEar()]);
});

afterAll(() => demo.stop());

/**
 * Holds calls side by side, each in a test of its own, and returns what they heard when the last has ended: the recogniser that writes answers
 * down holds this process up, and a caller that is held up hears holes.
 */
const talks = { open: 0, allEnded: Promise.resolve(), end: (): void => undefined };
async function talk<T>(hold: () => Promise<T>): Promise<T> {
  if (talks.open++ === 0) talks.allEnded = new Promise((resolve) => (talks.end = resolve));
  const { allEnded } = talks;
  try {
    return await hold();
  } finally {
    if (--talks.open === 0) talks.end();
    await allEnded;
  }
}

describe.concurrent('a call with the demo', () => {
  it('greets, tells the weather, tells the time, says goodbye and hangs up', async () => {
    const rate = 16_000;
    const { call, ...heard } = await talk(async () => {
      const call = await Conversation.open({ ws: demo.ws, rate });
      const greeting = await call.answerSince(0);
      const weather = await call.ask(await spoken(demo, "What's the weather in Paris?", { rate }));
      const askedAt = new Date();
      const time = await call.ask(await spoken(demo, 'What time is it?', { rate }));
      const answeredAt = new Date();
      const byeMs = call.client.nowMs();
      await call.client.say(await spoken(demo, 'Goodbye.', { rate }));
      const end = await call.client.closed;
      return { call, greeting, weather, time, askedAt, answeredAt, bye: call.heardSince(byeMs), end };
    });
    expect(ear.transcribe(heard.greeting, rate)).toBe(
      'hello you can ask me about the time the weather a table or an order',
    );
    expect(ear.transcribe(heard.weather, rate)).toBe(
      'in paris it is eighteen degrees with clear sky that is demo data not a real forecast',
    );
    expect(ear.transcribeTime(heard.time, rate)).toSatisfy((text: string) =>
      isTime(text, [heard.askedAt, heard.answeredAt]),
    );
    expect(ear.transcribe(heard.bye, rate)).toMatch(/^thank you for calling/);
    expect(heard.end).toEqual({ code: 1000, reason: 'ended' });
    expect(call.of('fault')).toEqual([]);
    expect(call.of('error')).toEqual([]);
    expect(call.of('clear')).toEqual([]);
    expect(call.of('mark-played').map(({ id }) => id)).toEqual(call.of('mark').map(({ id }) => id));
  });

  it.each([
    {
      rate: 8000,
      encoding: 'mulaw' as const,
      city: 'chicago',
      answer: /^in chicago it is seven degrees with strong wind/,
    },
    {
      rate: 24_000,
      encoding: 'pcm16' as const,
      city: 'rome',
      answer: /^in rome it is twenty two degrees with sunshine/,
    },
    {
      rate: 48_000,
      encoding: 'pcm16' as const,
      city: 'tokyo',
      answer: /^in tokyo it is nineteen degrees with a clear sky/,
    },
  ])('answers a question about $city at $rate Hz in $encoding', async ({ rate, encoding, city, answer }) => {
    const { sound, end } = await talk(async () => {
      const call = await Conversation.open({ ws: demo.ws, rate, encoding });
      await call.answerSince(0);
      const question = await spoken(demo, `Tell me the weather in ${city}.`, { rate, voice: 'slt' });
      return { sound: await call.ask(question), end: await call.client.hangUp() };
    });
    expect(ear.transcribe(sound, rate)).toMatch(answer);
    expect(end).toEqual({ code: 1000, reason: 'ended' });
  });

  it.skipIf(assets === undefined)(
    `understands a recording of a telephone caller ${withoutAssets}`,
    async () => {
      const rate = 8000;
      const wav = parseWav(readFileSync(join(assets!, 'audio/speech/jambonz_support.wav')));
      const sound = await talk(() => askedOnce(atRate(wav.pcm, { from: wav.sampleRate, to: rate }), rate));
      expect(ear.transcribe(sound, rate)).toContain('i am only a demo and cannot connect you to a person');
    },
  );

  it('says so when it understood nothing', async () => {
    const rate = 16_000;
    const sound = await talk(async () =>
      askedOnce(await spoken(demo, 'Quantum chromodynamics describes quarks and gluons.', { rate }), rate),
    );
    expect(ear.transcribe(sound, rate)).toMatch(/^sorry i did not catch that/);
  });

  it('stops when it is talked over: clear comes, the cut audio is never heard, and the new question is answered', async () => {
    const rate = 16_000;
    const { call, overMs, overEndMs, sound } = await talk(async () => {
      const call = await Conversation.open({ ws: demo.ws, rate });
      await call.answerSince(0);
      const asked = await call.client.say(await spoken(demo, "What's the weather in London?", { rate }));
      await call.untilBotSpeaks(asked!.endMs, 700);
      const overMs = call.client.nowMs();
      const over = await call.client.say(await spoken(demo, "What's the weather in Madrid?", { rate }));
      await call.until(() => call.of('clear').length > 0, 'a clear came');
      const sound = await call.answerSince(over!.endMs);
      await call.client.hangUp();
      return { call, overMs, overEndMs: over!.endMs, sound };
    });
    const [clear] = call.of('clear');
    expect(clear!.atMs).toBeGreaterThan(overMs);
    expect(ear.transcribe(sound, rate)).toMatch(/^in madrid it is twenty four degrees with sunshine/);
    // The answer about London stopped under the caller's voice, and its rest was not heard: the next sound is the new answer.
    const [stopped, next] = call.client.playout.speech().filter(({ endMs }) => endMs > overMs);
    expect(stopped!.endMs).toBeLessThan(overEndMs);
    expect(next!.startMs).toBeGreaterThan(clear!.atMs);
    // No mark of the cut audio is echoed after the clear; the later ones all are.
    const before = call.of('mark').filter(({ atMs }) => atMs < clear!.atMs);
    const after = call.of('mark').filter(({ atMs }) => atMs > clear!.atMs);
    const echoed = call.of('mark-played').filter(({ atMs }) => atMs > clear!.atMs);
    expect(echoed.map(({ id }) => id)).toEqual(after.map(({ id }) => id));
    expect(before.length).toBeGreaterThan(0);
    expect(call.of('fault')).toEqual([]);
  });

  it('leaves in the next LLM request only what was heard', async () => {
    const rate = 16_000;
    const llm: RecordedLlm = await recordLlm(demo.llm);
    const service = await startService({ ...demo, llm: llm.url });
    try {
      const call = await talk(async () => {
        const call = await Conversation.open({ ws: service.ws, rate });
        await call.answerSince(0);
        const asked = await call.client.say(await spoken(demo, "What's the weather in London?", { rate }));
        await call.untilBotSpeaks(asked!.endMs, 1200);
        await call.client.say(await spoken(demo, 'Goodbye.', { rate }));
        await call.client.closed;
        return call;
      });
      expect(call.of('clear')).toHaveLength(1);
      const messages = llm.requests.at(-1)!;
      const said = messages.filter(({ role }) => role === 'assistant').at(-1)!.content;
      const full = 'In London it is 14 degrees with light rain. That is demo data, not a real forecast.';
      expect(said.length).toBeGreaterThan(0);
      expect(full.startsWith(said.replace(/(\.\.\.|…)$/, '').trim())).toBe(true);
      expect(said.length).toBeLessThan(full.length);
      expect(messages.at(-1)).toEqual({ role: 'user', content: 'goodbye' });
    } finally {
      await service.stop();
      await llm.close();
    }
  });
});

/** The sound of the answer in a call with one question. */
async function askedOnce(question: Int16Array, rate: number): Promise<Int16Array> {
  const call = await Conversation.open({ ws: demo.ws, rate });
  await call.answerSince(0);
  const sound = await call.ask(question);
  await call.client.hangUp();
  return sound;
}

it('the goodbye is understood by the demo itself', async () => {
  const pcm = await spoken(demo, 'Goodbye!', { rate: 16_000, voice: 'slt' });
  expect(await heardByDemo(demo.stt, pcm, 16_000)).toBe('goodbye');
});

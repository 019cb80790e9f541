/**
 * A call with the demo's speaking model, `npm start -- --realtime`: spoken questions, and what was answered written down from the sound of the
 * answer.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnswerEar, loadAnswerEar } from '../support/audio/answer-ear.ts';
import { Conversation } from '../support/core/conversation.ts';
import { type RunningDemo, spoken, startDemo } from '../support/process/running-demo.ts';

const rate = 16_000;
let demo: RunningDemo;
let ear: AnswerEar;

beforeAll(async () => {
  const command = ['scripts/start.mjs', '--realtime'];
  [demo, ear] = await Promise.all([startDemo({}, command), loadAnswerEar()]);
});
afterAll(() => demo.stop());

describe('a call with a model that speaks', () => {
  it('greets, answers, says goodbye and hangs up', async () => {
    const call = await Conversation.open({ ws: demo.ws, rate });
    const greeting = await call.answerSince(0);
    const weather = await call.ask(await spoken(demo, "What's the weather in Paris?", { rate }));
    const byeMs = call.client.nowMs();
    await call.client.say(await spoken(demo, 'Goodbye.', { rate }));
    const end = await call.client.closed;
    expect(ear.transcribe(greeting, rate)).toBe(
      'hello you can ask me about the time the weather a table or an order',
    );
    expect(ear.transcribe(weather, rate)).toBe(
      'in paris it is eighteen degrees with clear sky that is demo data not a real forecast',
    );
    expect(ear.transcribe(call.heardSince(byeMs), rate)).toMatch(/^thank you for calling/);
    expect(end).toEqual({ code: 1000, reason: 'ended' });
    expect(call.of('fault')).toEqual([]);
    expect(call.of('clear')).toEqual([]);
    expect(call.of('mark-played').map(({ id }) => id)).toEqual(call.of('mark').map(({ id }) => id));
  });

  it('stops when it is talked over, and answers the new question', async () => {
    const call = await Conversation.open({ ws: demo.ws, rate });
    await call.answerSince(0);
    const asked = await call.client.say(await spoken(demo, "What's the weather in London?", { rate }));
    await call.untilBotSpeaks(asked!.endMs, 700);
    const overMs = call.client.nowMs();
    const over = await call.client.say(await spoken(demo, "What's the weather in Madrid?", { rate }));
    await call.until(() => call.of('clear').length > 0, 'a clear came');
    const sound = await call.answerSince(over!.endMs);
    await call.client.hangUp();
    expect(call.of('clear')[0]!.atMs).toBeGreaterThan(overMs);
    expect(ear.transcribe(sound, rate)).toMatch(/^in madrid it is twenty four degrees with sunshine/);
    expect(call.of('fault')).toEqual([]);
  });
});

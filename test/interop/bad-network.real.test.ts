/**
 * WebRTC calls to the demo over a network that loses 5 % of the packets of each direction and delays the others by up to 100 ms: the
 * question is understood, and the sound of the answer has every word.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadAnswerEar, type AnswerEar } from '../support/audio/answer-ear.ts';
import { spoken, startDemo, type RunningDemo } from '../support/process/running-demo.ts';
import { BadNetwork } from '../support/webrtc/bad-network.ts';
import { played } from '../support/webrtc/playout.ts';
import { WeriftCaller } from '../support/webrtc/werift-caller.ts';

/** More, to count how many of them go well. */
const calls = Number(process.env['SVC_BAD_NETWORK_CALLS'] ?? 2);
const atOnce = 2;
const bufferMs = 120;
const answer = 'in paris it is eighteen degrees with clear sky that is demo data not a real forecast';

let demo: RunningDemo;
let ear: AnswerEar;
let question: Int16Array;

beforeAll(async () => {
  [demo, ear] = await Promise.all([startDemo({ SVC_WEBRTC_ADDR: '127.0.0.1:0' }), loadAnswerEar()]);
  question = await spoken(demo, "What's the weather in Paris?", { rate: 16_000 });
});

afterAll(() => demo.stop());

/** What was understood of the question, and what was heard of the answer. */
async function call(seed: number): Promise<{ readonly understood: string; readonly heard: string }> {
  const caller = new WeriftCaller({ talks: true });
  let network: BadNetwork | undefined;
  const response = await caller.call(new URL('/whip', demo.page).href, {
    through: async (sdp) => {
      const port = Number(/candidate:\d+ 1 udp \d+ \S+ (\d+) /.exec(sdp)?.[1]);
      network = await BadNetwork.open({ ...{ port, seed }, loss: 0.05, jitterMs: 100 });
      return sdp.replaceAll(` ${port} typ host`, ` ${network.port} typ host`);
    },
  });
  expect(response.status).toBe(201);
  const told = (type: string): Record<string, unknown>[] =>
    caller.messages.filter((message) => message['type'] === type);
  const quiet = new Int16Array(16_000);
  let isOver = false;
  const speaking = (async () => {
    await caller.until(() => told('turn.bot_ended').length > 0);
    await caller.say(question);
    while (!isOver) await caller.say(quiet);
  })();
  const events = ['user.text', 'turn.bot_ended'];
  await caller.tell({ type: 'start', version: 1, sample_rate: 16_000, events });
  await caller.until(() => told('turn.bot_ended').length > 0);
  const from = caller.came.length;
  await caller.until(() => told('user.text').length > 0 && told('turn.bot_ended').length > 1);
  isOver = true;
  await speaking;
  const heard = ear.transcribe(await played(caller.came.slice(from), bufferMs), 16_000);
  await caller.hangUp();
  await caller.close();
  network?.close();
  return { understood: String(told('user.text')[0]?.['text']), heard };
}

describe('a call over a network with 5 % loss and 50 ms of jitter', () => {
  it('is understood, and understands every word', { timeout: 60_000 + calls * 20_000 }, async () => {
    const outcomes: Awaited<ReturnType<typeof call>>[] = [];
    for (let made = 0; made < calls; made += atOnce)
      outcomes.push(...(await Promise.all(Array.from({ length: atOnce }, (_, at) => call(made + at)))));
    const isUnderstood = ({ understood }: (typeof outcomes)[0]): boolean =>
      /weather in paris/i.test(understood);
    const wrong = outcomes.filter(({ heard }) => heard !== answer);
    console.log(JSON.stringify({ calls, understood: outcomes.filter(isUnderstood).length, wrong }));
    expect(outcomes.filter(isUnderstood).length).toBeGreaterThanOrEqual(Math.floor(calls * 0.95));
    expect(wrong).toEqual([]);
  });
});

/**
 * Calls over a network that loses 5 % of the packets of each direction and delays each by 0 to 50 ms more than the shortest way: the
 * question is understood, and what the client plays of the answer has every word. `SVC_BAD_NETWORK_CALLS=20` asks twenty times.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnswerEar, loadAnswerEar } from '../support/audio/answer-ear.ts';
import { spoken, startDemo, type RunningDemo } from '../support/process/running-demo.ts';
import { BadNetwork } from '../support/webrtc/bad-network.ts';
import { play, type Played } from '../support/webrtc/loudspeaker.ts';
import { WeriftCaller } from '../support/webrtc/werift-caller.ts';

const calls = Number(process.env['SVC_BAD_NETWORK_CALLS'] ?? 3);
/** The machine that serves the calls also hears their answers. */
const atOnce = 3;
const loss = 0.05;
const jitterMs = 50;
const bufferMs = 120;
const question = "What's the weather in Paris?";
const answered = /^in paris it is eighteen degrees with clear sky that is demo data not a real forecast$/;

interface Outcome {
  readonly seed: number;
  readonly understood: string;
  readonly heard: string;
  readonly played: Omit<Played, 'pcm'>;
}

describe('a call over a network with 5 % loss and 50 ms of jitter', () => {
  let demo: RunningDemo;
  let ear: AnswerEar;
  let voice: Int16Array;

  beforeAll(async () => {
    const env = { SVC_WEBRTC_ADDR: '127.0.0.1:0', SVC_WEBRTC_OFFERS_PER_MINUTE: 'off' };
    [demo, ear] = await Promise.all([startDemo(env), loadAnswerEar()]);
    voice = await spoken(demo, question, { rate: 16_000 });
  });

  afterAll(() => demo.stop());

  async function ask(seed: number): Promise<Outcome> {
    const network = await BadNetwork.open({ seed, loss, leastMs: 10, jitterMs });
    const caller = new WeriftCaller({ talks: true });
    try {
      await caller.call(new URL('/whip', demo.page).href, { reroute: (sdp) => network.reroute(sdp) });
      await caller.connected();
      const events = ['user.text', 'turn.bot_ended'];
      await caller.tell({ type: 'start', version: 1, sample_rate: 16_000, events });
      const count = (type: string): number => caller.messages.filter((one) => one['type'] === type).length;
      const silentUntil = async (ended: number): Promise<void> => {
        const stop = new AbortController();
        const silence = caller.say(new Int16Array(16_000 * 60), stop.signal);
        await caller.until(() => count('turn.bot_ended') >= ended);
        stop.abort();
        await silence;
      };
      await silentUntil(1);
      const from = caller.packets.length;
      await caller.say(voice);
      await silentUntil(2);
      const { pcm, ...played } = await play(caller, { from, bufferMs });
      const said = caller.messages.filter(({ type }) => type === 'user.text').map(({ text }) => String(text));
      return { seed, understood: said.join(' | '), heard: ear.transcribe(pcm, 16_000), played };
    } finally {
      await caller.hangUp();
      await caller.close();
      network.close();
    }
  }

  it('is understood, and understands every word', { timeout: 60_000 + calls * 15_000 }, async () => {
    const outcomes: Outcome[] = [];
    for (let first = 0; first < calls; first += atOnce) {
      const seeds = Array.from({ length: Math.min(atOnce, calls - first) }, (_, at) => 1 + first + at);
      outcomes.push(...(await Promise.all(seeds.map(ask))));
    }
    const isUnderstood = ({ understood }: Outcome): boolean => /weather in paris/i.test(understood);
    const wrong = outcomes.filter((outcome) => !isUnderstood(outcome) || !answered.test(outcome.heard));
    console.log(JSON.stringify({ calls, outcomes }, undefined, 1));
    expect(wrong.length).toBeLessThanOrEqual(Math.floor(calls / 20));
  });
});

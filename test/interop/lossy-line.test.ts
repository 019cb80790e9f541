/**
 * Calls of Chromium by WebRTC where each direction loses 5 % of its packets and delays every other one by up to 50 ms: what the demo hears of
 * the caller, and what the caller hears of the demo. It takes 5 s a call and a machine with nothing else to do, so that it runs where
 * `SVC_TEST_LOSSY_CALLS` says how many, and says what became of each.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cities } from '../../examples/demo/domain.ts';
import { type AnswerEar, loadAnswerEar } from '../support/audio/answer-ear.ts';
import { chromiumMissing, openChromium, type ChromiumPage } from '../support/chromium.ts';
import { spoken, startDemo, type RunningDemo } from '../support/process/running-demo.ts';
import { LossyPage, type LossyCall } from '../support/webrtc/lossy-page.ts';

const wanted = process.env['SVC_TEST_LOSSY_CALLS'];
const calls = Number(wanted ?? 0);
const missing = wanted === undefined ? 'SVC_TEST_LOSSY_CALLS does not say how many' : chromiumMissing;
const atOnce = 3;
const rate = LossyPage.rate;

interface Outcome {
  readonly city: string;
  readonly isUnderstood: boolean;
  /** What was heard, where it is something else than the same text without a network. */
  readonly misheard: readonly string[];
  readonly call: Pick<LossyCall, 'connectMs' | 'understood' | 'stats'>;
}

describe.skipIf(missing !== undefined)(`a lossy line ${missing ?? ''}`, () => {
  let demo: RunningDemo;
  let ear: AnswerEar;
  let chromium: ChromiumPage;
  let page: LossyPage;

  beforeAll(async () => {
    [demo, ear, chromium] = await Promise.all([
      startDemo({ SVC_WEBRTC_ADDR: '127.0.0.1:0', SVC_WEBRTC_OFFERS_PER_MINUTE: 'off' }),
      loadAnswerEar(),
      openChromium('/dev/null'),
    ]);
    const whip = new URL('whip', demo.page).href;
    page = await LossyPage.open(chromium.page, whip, { loss: 0.05, jitterMs: 50 });
  });

  afterAll(async () => {
    page.close();
    await chromium.close();
    await demo.stop();
  });

  async function misheard({ text, pcm }: LossyCall['answer']): Promise<string[]> {
    const said = ear.transcribe(await spoken(demo, text, { rate, voice: 'slt' }), rate);
    const heard = ear.transcribe(pcm, rate);
    return heard === said ? [] : [heard];
  }

  async function ask(seed: number): Promise<Outcome> {
    const city = cities[seed % cities.length] ?? '';
    const question = await spoken(demo, `What's the weather in ${city}?`, { rate });
    const { greeting, answer, ...call } = await page.ask(seed, question);
    const isUnderstood = call.understood.toLowerCase().includes(`weather in ${city}`);
    const outcome = {
      ...{ city, isUnderstood, call },
      misheard: [...(await misheard(greeting)), ...(await misheard(answer))],
    };
    console.log(JSON.stringify(outcome));
    return outcome;
  }

  it('questions are understood, and answers and greetings heard word by word', async () => {
    const outcomes: Outcome[] = [];
    for (let from = 0; from < calls; from += atOnce) {
      const some = Array.from({ length: Math.min(atOnce, calls - from) }, (_, index) => ask(from + index));
      outcomes.push(...(await Promise.all(some)));
    }
    const [understood, whole] = [
      outcomes.filter(({ isUnderstood }) => isUnderstood),
      outcomes.filter(({ misheard: words }) => words.length === 0),
    ];
    console.log(`${understood.length} and ${whole.length} of ${calls}`);
    // A line that loses what it likes may lose a word.
    expect(understood.length).toBeGreaterThanOrEqual(calls - Math.ceil(calls / 20));
    expect(whole.length).toBeGreaterThanOrEqual(calls - Math.ceil(calls / 5));
  });
});

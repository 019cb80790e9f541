/**
 * The call page of the running demo in Chromium: a spoken question as the microphone, and what came out of the loudspeaker
 * written down from its sound.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeWav } from '../../shared/audio/wav.ts';
import { type AnswerEar, loadAnswerEar } from '../support/audio/answer-ear.ts';
import { chromiumMissing, openChromium } from '../support/chromium.ts';
import { type Heard, heardSoFar, listensAtTheLoudspeaker } from '../support/loudspeaker.ts';
import { type RunningDemo, spoken, startDemo } from '../support/process/running-demo.ts';

const RATE = 16_000;

/** Keeps every state that the page has shown, in order. */
const KEEPS_THE_STATES = `
  window.states = [];
  addEventListener('DOMContentLoaded', () => {
    const stage = document.getElementById('stage');
    new MutationObserver(() => window.states.push(stage.dataset.state)).observe(stage, { attributeFilter: ['data-state'] });
  });
`;

/** A microphone that hears what the test says, when it says it: on a busy machine a recording would miss its moment. */
const SPEAKS_WHEN_TOLD = `
  const asked = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (wanted) => {
    const stream = await asked(wanted);
    const context = new AudioContext();
    const microphone = context.createMediaStreamDestination();
    context.createMediaStreamSource(stream).connect(microphone);
    window.say = (samples) => {
      const buffer = context.createBuffer(1, samples.length, ${RATE});
      buffer.copyToChannel(Float32Array.from(samples, (x) => x / 32768), 0);
      const source = context.createBufferSource();
      source.buffer = buffer;
      source.connect(microphone);
      source.start();
    };
    return microphone.stream;
  };
`;

/** The page's policy forbids to evaluate strings, so the state is awaited in the document. */
const untilState = (page: Page, state: string): Promise<void> =>
  page.locator(`#stage[data-state="${state}"]`).waitFor({ timeout: 30_000 });

/** The marks behind sentences that the page has echoed, as rows of its log; there are others within long ones. */
const echoedMarks = (page: Page, after = ''): Locator =>
  page
    .locator(`#log ${after} li.row-sent`, { has: page.locator('.row-label', { hasText: /^mark$/ }) })
    .filter({ has: page.locator('.row-detail', { hasText: /\bm\d+\b/ }) });

/** The conversation as the page shows it: who, what, and whether it was interrupted. */
const linesOf = async (page: Page): Promise<string[][]> =>
  (await page.getByRole('log').getByRole('listitem').allInnerTexts()).map((text) => text.split('\n'));

/** Waits until the agent has been heard to the end: both sentences of a line of the demo, and a pause. */
async function untilHeard(page: Page, marks: Locator): Promise<void> {
  await marks.nth(1).waitFor({ timeout: 40_000 });
  await untilState(page, 'listening');
}

const joined = (first: Heard, second: Heard): Heard => ({
  pcm: Int16Array.from([...first.pcm, ...second.pcm]),
  rate: second.rate,
});

/** What was heard before the first quarter of a second of silence, and behind it. */
function splitAtPause({ pcm, rate }: Heard): [Heard, Heard] {
  const length = rate / 4;
  let at = 0;
  while (at + length < pcm.length && loudSeconds({ pcm: pcm.subarray(at, at + length), rate }) > 0)
    at += rate / 50;
  return [
    { pcm: pcm.subarray(0, at), rate },
    { pcm: pcm.subarray(at), rate },
  ];
}

/** Waits until the loudspeaker has sounded for so long. */
async function heardFor(page: Page, seconds: number): Promise<Heard> {
  let heard = await heardSoFar(page);
  while (loudSeconds(heard) < seconds) heard = joined(heard, await heardSoFar(page));
  return heard;
}

/** How long it sounded: blocks of 20 ms that are louder than a whisper. */
function loudSeconds({ pcm, rate }: { readonly pcm: Int16Array; readonly rate: number }): number {
  const length = rate / 50;
  let loud = 0;
  for (let at = 0; at + length <= pcm.length; at += length) {
    const peak = pcm.subarray(at, at + length).reduce((max, sample) => Math.max(max, Math.abs(sample)), 0);
    if (peak > 300) loud += 1;
  }
  return loud / 50;
}

describe.skipIf(chromiumMissing !== undefined)(`a call from the page ${chromiumMissing ?? ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'page-call-'));
  let demo: RunningDemo;
  let ear: AnswerEar;

  beforeAll(async () => {
    [demo, ear] = await Promise.all([startDemo(), loadAnswerEar()]);
  });

  afterAll(async () => {
    await demo.stop();
    rmSync(folder, { recursive: true });
  });

  /** The caller says this, beginning now. */
  const say = (page: Page, question: Int16Array): Promise<unknown> =>
    page.evaluate(`window.say(${JSON.stringify(Array.from(question))})`);

  async function withPage(use: (page: Page) => Promise<void>): Promise<void> {
    const silence = join(folder, 'silence.wav');
    writeFileSync(silence, writeWav(new Int16Array(RATE * 40), RATE));
    const chromium = await openChromium(silence, { whole: true });
    try {
      const { page } = chromium;
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.addInitScript(listensAtTheLoudspeaker);
      await page.addInitScript(KEEPS_THE_STATES);
      await page.addInitScript(SPEAKS_WHEN_TOLD);
      await page.goto(demo.page);
      await page.getByRole('button', { name: 'Call' }).click();
      await page.getByText('Protocol messages').click();
      await use(page);
      expect(complaints).toEqual([]);
    } finally {
      await chromium.close();
    }
  }

  it('goes from the greeting over the question to the right spoken answer, and hangs up', async () => {
    const question = await spoken(demo, "What's the weather in Boston?", { rate: RATE });
    await withPage(async (page) => {
      await untilHeard(page, echoedMarks(page));
      const greeting = await heardSoFar(page);
      await say(page, question);
      await echoedMarks(page).nth(3).waitFor({ timeout: 30_000 });
      await untilState(page, 'listening');
      const answer = await heardSoFar(page);
      expect(await page.evaluate('window.svcCall.answers.count')).toBe(1);
      await page.getByRole('button', { name: 'Hang up' }).click();
      await untilState(page, 'ended');

      expect(ear.transcribe(greeting.pcm, greeting.rate)).toBe(
        'hello you can ask me about the time the weather a table or an order',
      );
      expect(ear.transcribe(answer.pcm, answer.rate)).toBe(
        'in boston it is nine degrees with fog that is demo data not a real forecast',
      );
      expect(await linesOf(page)).toEqual([
        ['Agent', expect.stringMatching(/^Hello/)],
        ['You', expect.stringMatching(/^what's the weather in boston/i)],
        ['Agent', expect.stringMatching(/^In Boston it is 9 degrees .* real forecast\.$/)],
      ]);
      const states = await page.evaluate<string[]>('window.states');
      expect(states.slice(states.indexOf('caller-speaking')).slice(0, 3)).toEqual([
        'caller-speaking',
        'thinking',
        'agent-speaking',
      ]);
      expect(states.slice(0, states.indexOf('caller-speaking'))).toContain('listening');
      expect(await page.evaluate('window.svcCall.received')).not.toContain('clear');
      expect(await page.evaluate('window.svcCall.lastError')).toBeUndefined();
    });
  });

  it('falls silent when the caller talks over the answer, and answers the new question', async () => {
    const [boston, rome] = await Promise.all([
      spoken(demo, "What's the weather in Boston?", { rate: RATE }),
      spoken(demo, "What's the weather in Rome?", { rate: RATE }),
    ]);
    await withPage(async (page) => {
      await untilHeard(page, echoedMarks(page));
      await heardSoFar(page);
      await say(page, boston);
      const begun = await heardFor(page, 1.2);
      await say(page, rome);
      const clear = page.locator('#log li.row-clear');
      await clear.waitFor({ timeout: 30_000 });
      await untilHeard(page, echoedMarks(page, 'li.row-clear ~'));
      const [rest, answer] = splitAtPause(await heardSoFar(page));
      const cut = joined(begun, rest);

      expect(loudSeconds(cut)).toBeGreaterThan(1);
      expect(ear.transcribe(cut.pcm, cut.rate)).not.toMatch(/real forecast$/);
      expect(ear.transcribe(answer.pcm, answer.rate)).toMatch(
        /\bin rome it is twenty two degrees with sunshine that is demo data\b/,
      );
      expect(await clear.allTextContents()).toEqual([expect.stringMatching(/epoch \d+$/)]);
      const lines = await linesOf(page);
      expect(lines.filter((parts) => parts.includes('You interrupted this answer'))).toEqual([
        ['Agent', expect.stringMatching(/Boston/), 'You interrupted this answer'],
      ]);
      expect(lines.at(-1)).toEqual(['Agent', expect.stringMatching(/^In Rome .* real forecast\.$/)]);
      await page.getByRole('button', { name: 'Hang up' }).click();
      await untilState(page, 'ended');
    });
  });
});

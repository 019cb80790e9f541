/** A sound behind the voice in real Chromium, by WebRTC and by WebSocket: what its loudspeaker plays between the agent's sentences. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rmsDbfs } from '../../shared/audio/pcm.ts';
import { writeWav } from '../../shared/audio/wav.ts';
import { chromiumMissing, type ChromiumPage, openChromium } from '../support/chromium.ts';
import { answer } from '../support/fakes/fake-chat.ts';
import { speech, tone } from '../support/fakes/fake-speech.ts';
import { type Heard, heardSoFar, listensAtTheLoudspeaker } from '../support/loudspeaker.ts';
import { TestService } from '../support/process/service.ts';

/** Of TTS, in Hz. */
const voiceRate = 24_000;
const pauseS = 1;
/** The agent's voice is a tone of -15 dBFS, the street is 10 dB and more below that. */
const voiceDb = -18;
/** The street between its cars is louder than this; silence is -120. */
const streetDb = -60;

/** Levels of what was heard, 20 ms each. */
function levels({ pcm, rate }: Heard): number[] {
  const frame = rate / 50;
  return Array.from({ length: Math.floor(pcm.length / frame) }, (_, at) =>
    rmsDbfs(pcm.subarray(at * frame, (at + 1) * frame)),
  );
}

/** What lies between the last two stretches of the agent's voice, without 100 ms at either end. */
function betweenSentences(heard: readonly number[]): number[] {
  const isVoice = heard.map((level) => level > voiceDb);
  const lastTo = isVoice.lastIndexOf(true);
  const lastFrom = isVoice.lastIndexOf(false, lastTo) + 1;
  const firstTo = isVoice.lastIndexOf(true, lastFrom - 1);
  return heard.slice(firstTo + 6, lastFrom - 5);
}

describe.skipIf(chromiumMissing !== undefined)(`Chromium ${chromiumMissing ?? ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'page-background-'));
  let service: TestService;
  let chromium: ChromiumPage;

  beforeAll(async () => {
    const wav = join(folder, 'silence.wav');
    writeFileSync(wav, writeWav(new Int16Array(16_000), 16_000));
    service = await TestService.start({
      turn: '[audio.background]\nsound = "street"\nvolume = 0.5',
      env: { SVC_PAGE_ADDR: '127.0.0.1:0', SVC_WEBRTC_ADDR: '127.0.0.1:0' },
    });
    chromium = await openChromium(wav);
  });

  afterAll(async () => {
    await chromium.close();
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  async function call(line: string): Promise<Page> {
    const page = await chromium.browser.newPage();
    await page.addInitScript(listensAtTheLoudspeaker);
    await page.addInitScript(
      `addEventListener('load', () => (document.querySelector('#lines-choice').value = '${line}'))`,
    );
    await page.goto(`http://${service.address('page')}/`);
    await page.getByRole('button', { name: 'Call' }).click();
    await page.locator('#stage[data-state="listening"]').waitFor();
    expect(await page.evaluate('window.svcCall.line')).toBe(line);
    return page;
  }

  it.each(['webrtc', 'websocket'])('plays it between the sentences of the agent by %s', async (line) => {
    const page = await call(line);
    // It is heard already, and is nobody who speaks.
    await expect.poll(async () => Math.max(...levels(await heardSoFar(page)))).toBeGreaterThan(streetDb);
    expect(await page.locator('#stage').getAttribute('data-state')).toBe('listening');
    const { llm, tts } = service.providers;
    const sentence = Buffer.concat([tone(voiceRate), Buffer.alloc(2 * voiceRate * pauseS)]);
    tts.script.push(speech([sentence]), speech([sentence]));
    llm.script.push(answer('It is noon. It will be one very soon.'));
    await page.getByLabel('Write to the agent').fill('What time is it?');
    await page.keyboard.press('Enter');
    await page.locator('#stage[data-state="agent-speaking"]').waitFor();
    await page.locator('#stage[data-state="listening"]').waitFor();
    const heard = levels(await heardSoFar(page));
    const between = betweenSentences(heard);
    expect(between.length).toBeGreaterThan(25);
    // It is the street all the time, but for frames that a busy browser plays late.
    const heardAt = between.filter((level) => level > streetDb).length;
    expect(heardAt / between.length).toBeGreaterThan(0.8);
    expect(Math.max(...between)).toBeLessThan(-20);
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByText('You hung up.').waitFor();
    await page.close();
  });
});

/**
 * What the call page shows of a conversation, in Chromium against a scripted service: typed text, words that nobody heard, the times of each
 * answer; what screen readers and keyboards find; and the element that other pages embed.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chromiumMissing, type ChromiumPage, openChromium } from '../support/chromium.ts';
import { buildPage, buildWidget, callerWav, type Peer, ScriptedService } from './scripted-service.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong on a desk and on a phone, as rule and element. */
async function violations(page: Page): Promise<string[]> {
  const found: string[] = [];
  await page.evaluate(axeSource);
  for (const viewport of [
    { width: 390, height: 844 },
    { width: 1280, height: 720 },
  ]) {
    await page.setViewportSize(viewport);
    const some = await page.evaluate<string[]>(
      `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target)))`,
    );
    found.push(...some);
  }
  return found;
}

const metrics = {
  end_of_turn_ms: 300,
  stt_final_ms: 50,
  llm_ttft_ms: 200,
  tts_ttfb_ms: 100,
  response_ms: 655,
};

describe.skipIf(chromiumMissing !== undefined)(`talking on the call page ${chromiumMissing ?? ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'talk-'));
  let service: ScriptedService;
  let chromium: ChromiumPage;
  let page: Page;

  beforeAll(async () => {
    const wav = join(folder, 'caller.wav');
    writeFileSync(wav, callerWav());
    await buildPage(folder);
    await buildWidget(folder);
    service = new ScriptedService(folder);
    await service.listen();
    chromium = await openChromium(wav);
  });

  afterAll(async () => {
    await chromium.close();
    await service.close();
    rmSync(folder, { recursive: true });
  });

  afterEach(() => page.close());

  async function openCall(options: Parameters<ChromiumPage['browser']['newPage']>[0] = {}): Promise<Peer> {
    page = await chromium.browser.newPage(options);
    await page.goto(service.pageUrl);
    const arriving = service.nextCall();
    await page.getByRole('button', { name: 'Call' }).click();
    const peer = await arriving;
    await peer.start();
    await page.getByRole('button', { name: 'Hang up' }).waitFor();
    await page.locator('#stage[data-state="listening"]').waitFor();
    return peer;
  }

  /** A conversation with everything that the page can show. */
  function converse(peer: Peer): void {
    peer.send({ type: 'user.text', epoch: 1, text: 'What is open today?' });
    peer.send({ type: 'bot.text', epoch: 1, text: 'Everything is open,' });
    peer.send({ type: 'bot.text', epoch: 1, text: ' but the bakery is not.' });
    peer.send({ type: 'turn.metrics', epoch: 1, metrics });
    peer.send({ type: 'bot.heard', epoch: 1, text: 'Everything is open, but' });
    peer.send({ type: 'turn.interrupted', epoch: 2 });
    peer.send({ type: 'user.transcript', text: 'And', final: false });
  }

  it('sends what is typed, to be answered aloud or as text, and not while there is no call', async () => {
    page = await chromium.browser.newPage();
    await page.goto(service.pageUrl);
    expect(await page.getByLabel('Write to the agent').isDisabled()).toBe(true);
    await page.close();
    const peer = await openCall();
    await page.getByLabel('Write to the agent').fill('  A table for two  ');
    await page.keyboard.press('Enter');
    await page.getByLabel('answer as text').check();
    await page.getByLabel('Write to the agent').fill('Read me nothing');
    await page.getByRole('button', { name: 'Send' }).click();
    await peer.until(({ messages }) => messages.filter(({ type }) => type === 'text').length === 2);
    expect(peer.messages.filter(({ type }) => type === 'text')).toEqual([
      { type: 'text', text: 'A table for two', answer: 'speech' },
      { type: 'text', text: 'Read me nothing', answer: 'text' },
    ]);
    expect(await page.getByLabel('Write to the agent').inputValue()).toBe('');
  });

  it('strikes out what the caller did not hear of an answer that was cut', async () => {
    const peer = await openCall();
    converse(peer);
    await page.getByText('You interrupted this answer').waitFor();
    const line = page.locator('.line-agent .line-text');
    expect(await line.locator('s').textContent()).toBe(' the bakery is not.');
    expect(await line.textContent()).toBe('Everything is open, but the bakery is not.');
  });

  it('draws the time of each answer in its parts, and says them in words', async () => {
    const peer = await openCall();
    expect(await page.locator('#turns-section').isVisible()).toBe(false);
    converse(peer);
    const [bar] = await page.locator('#turns li').all();
    await page.locator('#turns-section').waitFor();
    const text = await (bar ?? page.locator('#turns li').first()).textContent();
    expect(text).toBe(
      '655 msnoticing that you were done 300 ms, recognition 50 ms, language model 200 ms, voice 100 ms',
    );
    const widths = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.turn-part')].map((part) => part.getBoundingClientRect().width)`,
    );
    expect(widths[0]).toBeGreaterThan((widths[1] ?? 0) * 4);
  });

  it.each(['light', 'dark'] as const)(
    'has nothing that axe finds wrong, before, in and after a call (%s)',
    async (colorScheme) => {
      // Without motion: a button that fades from one colour to another is not judged halfway.
      const look = { colorScheme, reducedMotion: 'reduce' } as const;
      page = await chromium.browser.newPage(look);
      await page.goto(service.pageUrl);
      expect(await violations(page)).toEqual([]);
      await page.close();
      const peer = await openCall(look);
      converse(peer);
      for (const name of ['Keypad', 'Microphone and speaker', 'Protocol messages'])
        await page.getByText(name).click();
      await page.getByText('You interrupted this answer').waitFor();
      expect(await violations(page)).toEqual([]);
      peer.send({ type: 'error', code: 'bad_audio', message: 'odd byte count', fatal: true });
      await page.getByRole('alert').getByText('The call ended with an error').waitFor();
      expect(await violations(page)).toEqual([]);
    },
  );

  it('can be used by the keyboard alone', async () => {
    page = await chromium.browser.newPage();
    await page.goto(service.pageUrl);
    const arriving = service.nextCall();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const peer = await arriving;
    await peer.start();
    await page.locator('#stage[data-state="listening"]').waitFor();
    await page.getByLabel('Write to the agent').focus();
    await page.keyboard.type('hello');
    await page.keyboard.press('Enter');
    await peer.until(({ messages }) => messages.some(({ type }) => type === 'text'));
  });

  /** A page of another site with the element, under a policy of its own. */
  async function visitShop(policy: string): Promise<void> {
    const site = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.setHeader('Content-Security-Policy', policy);
      response.end(`<!doctype html><html lang="en"><title>A shop</title><main><h1>A shop</h1>
        <script src="${service.pageUrl}widget.js"></script>
        <voice-agent-call url="${service.pageUrl.replace('http', 'ws')}ws" label="Ask us"></voice-agent-call></main></html>`);
    });
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    try {
      page = await chromium.browser.newPage();
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    } finally {
      site.closeAllConnections();
      site.close();
    }
  }

  it('is embedded in a page of another site as one script and one element', async () => {
    await visitShop("default-src * blob: 'unsafe-inline'");
    const arriving = service.nextCall();
    await page.getByRole('button', { name: 'Ask us' }).click();
    const peer = await arriving;
    await peer.start();
    await peer.until(({ audio }) => audio.length > 5);
    converse(peer);
    await page.locator('voice-agent-call s').waitFor();
    expect(await page.locator('voice-agent-call s').textContent()).toBe(' the bakery is not.');
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      expect(await violations(page)).toEqual([]);
    }
    await page.evaluate(`document.querySelector('h1').before(document.querySelector('voice-agent-call'))`);
    await page.evaluate(`document.querySelector('voice-agent-call').setAttribute('label', 'Ask again')`);
    expect(peer.has('stop')).toBe(false);
    await page.getByRole('button', { name: 'Hang up' }).click();
    await peer.until((seen) => seen.has('stop'));
    peer.send({ type: 'stop', reason: 'ended' });
    await page.getByRole('button', { name: 'Ask again' }).waitFor();
  });

  it('ends the call of an element that is taken out of its page', async () => {
    await visitShop('default-src * blob:');
    const arriving = service.nextCall();
    await page.getByRole('button', { name: 'Ask us' }).click();
    const peer = await arriving;
    await peer.start();
    await page.evaluate(`document.querySelector('voice-agent-call').remove()`);
    await peer.until((seen) => seen.has('stop'));
  });

  it('says what the policy of a page lacks', async () => {
    await visitShop(`default-src *`);
    const told = page.waitForEvent('console', (message) => message.text().includes('`script-src blob:`'));
    await page.getByRole('button', { name: 'Ask us' }).click();
    await told;
    await page.getByRole('alert').getByText('The audio could not be started').waitFor();
  });
});

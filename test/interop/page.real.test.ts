/**
 * The call page in Chromium against a scripted service: real worklets, a real microphone stack fed by a recording, real
 * sockets. The service side says only what each test tells it to, so every behaviour of the page is provoked on purpose.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chromiumMissing, type ChromiumPage, openChromium } from '../support/chromium.ts';
import { buildPage, callerWav, levelOf, type Peer, RATE, ScriptedService } from './scripted-service.ts';

/** What a browser does that connects a microphone only at its own rate. */
const CONVERTS_NOTHING = `
  const Native = AudioContext;
  AudioContext = class extends Native {
    createMediaStreamSource(stream) {
      if (this.sampleRate === 16000) throw new DOMException('another rate', 'NotSupportedError');
      return super.createMediaStreamSource(stream);
    }
  };
`;

/** A browser whose microphone is unplugged when the document is told so. */
const CAN_BE_UNPLUGGED = `
  const devices = navigator.mediaDevices;
  const getUserMedia = devices.getUserMedia.bind(devices);
  devices.getUserMedia = async (wanted) => {
    const stream = await getUserMedia(wanted);
    const [track] = stream.getTracks();
    const unplug = () => {
      track.stop();
      track.dispatchEvent(new Event('ended'));
    };
    document.addEventListener('unplug', unplug, { once: true });
    return stream;
  };
`;

/** The page's policy forbids to evaluate strings, so the state is awaited in the document. */
const untilState = (page: Page, state: string): Promise<void> =>
  page.locator(`#stage[data-state="${state}"]`).waitFor();

describe.skipIf(chromiumMissing !== undefined)(`the call page in Chromium ${chromiumMissing ?? ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'page-'));
  const wav = join(folder, 'caller.wav');
  let service: ScriptedService;
  let chromium: ChromiumPage;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    writeFileSync(wav, callerWav());
    await buildPage(folder);
    service = new ScriptedService(folder);
    await service.listen();
    chromium = await openChromium(wav);
  });

  afterAll(async () => {
    await chromium.close();
    await service.close();
    rmSync(folder, { recursive: true });
  });

  afterEach(async () => {
    [service.refuseWith, service.token, service.refuseTokenWith] = [undefined, null, undefined];
    await page.close();
  });

  async function openPage(from = chromium, url = service.pageUrl, script?: string): Promise<void> {
    page = await from.browser.newPage();
    if (script !== undefined) await page.addInitScript(script);
    complaints = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(url);
  }

  async function openCall(script?: string): Promise<Peer> {
    await openPage(chromium, service.pageUrl, script);
    const arriving = service.nextCall();
    await page.getByRole('button', { name: 'Call' }).click();
    const peer = await arriving;
    await peer.start();
    await untilState(page, 'listening');
    return peer;
  }

  it('starts a call, sends 20 ms frames of the microphone and hangs up', async () => {
    const peer = await openCall();
    expect(peer.messages[0]).toMatchObject({
      type: 'start',
      version: 1,
      sample_rate: RATE,
      encoding: 'pcm16',
    });
    await peer.until(({ audio }) => audio.some((frame) => levelOf(frame) > 0.02));
    expect(new Set(peer.audio.map((frame) => frame.length))).toEqual(new Set([(RATE / 50) * 2]));
    await untilState(page, 'caller-speaking');
    await page.getByRole('button', { name: 'Hang up' }).click();
    await peer.until((seen) => seen.has('stop'));
    peer.send({ type: 'stop', reason: 'ended' });
    await untilState(page, 'ended');
    expect(await page.locator('#hint').textContent()).toBe('You hung up.');
    expect(await page.locator('#problem').isVisible()).toBe(false);
    await peer.until(({ closeCode }) => closeCode === 1000);
    expect(complaints).toEqual([]);
  });

  it('echoes marks in order, each after its audio, and says that the agent speaks', async () => {
    const peer = await openCall();
    peer.send({ type: 'turn.bot_started', epoch: 1 });
    peer.frames(25);
    peer.send({ type: 'mark', id: 'first' });
    peer.frames(25);
    peer.send({ type: 'mark', id: 'second' });
    await untilState(page, 'agent-speaking');
    await peer.until(({ echoes }) => echoes.length === 2);
    expect(peer.echoes).toEqual(['first', 'second']);
    expect(complaints).toEqual([]);
  });

  it('forgets buffered audio and its marks on clear and goes on with the new epoch', async () => {
    const peer = await openCall();
    peer.frames(10);
    peer.send({ type: 'mark', id: 'heard' });
    peer.frames(200);
    peer.send({ type: 'mark', id: 'cut' });
    await peer.until(({ echoes }) => echoes.includes('heard'));
    peer.send({ type: 'clear', epoch: 2 });
    peer.frames(10);
    peer.send({ type: 'mark', id: 'after' });
    await peer.until(({ echoes }) => echoes.includes('after'));
    expect(peer.echoes).toEqual(['heard', 'after']);
    expect(await page.evaluate('window.svcCall.received')).toEqual([
      'started',
      'mark',
      'mark',
      'clear',
      'mark',
    ]);
    await page.getByText('Protocol messages').click();
    await page.locator('#log').getByText('epoch 2').waitFor();
  });

  it('measures the time from the end of the speech to the first sound of the answer', async () => {
    const peer = await openCall();
    await peer.until(({ audio }) => audio.some((frame) => levelOf(frame) > 0.02));
    await untilState(page, 'thinking');
    expect(await page.evaluate('window.svcCall.answers.count')).toBe(0);
    peer.send({ type: 'turn.bot_started', epoch: 1 });
    peer.frames(20);
    await page.locator('#last-time', { hasNotText: '–' }).waitFor();
    expect(await page.evaluate('window.svcCall.answers.count')).toBe(1);
    const measured = Number(await page.evaluate('window.svcCall.answers.lastMs'));
    // The page is certain of the end 400 ms after it, and the answer came after that.
    expect(measured).toBeGreaterThan(400);
  });

  it('sends the keys of the keypad, pressed or typed', async () => {
    const peer = await openCall();
    await page.getByText('Keypad').click();
    await page.getByRole('button', { name: '5', exact: true }).click();
    await page.keyboard.press('#');
    const digits = (): unknown[] =>
      peer.messages.filter(({ type }) => type === 'dtmf').map(({ digit }) => digit);
    await peer.until(() => digits().length === 2);
    expect(digits()).toEqual(['5', '#']);
  });

  it.each([
    [
      'the service shuts down',
      (peer: Peer) => peer.send({ type: 'stop', reason: 'shutdown' }),
      'The service is shutting down',
    ],
    [
      'the service is full after the upgrade',
      (peer: Peer) => peer.send({ type: 'error', code: 'server_busy', message: 'full', fatal: true }),
      'The service is busy',
    ],
    [
      'the service ends the call with a fault',
      (peer: Peer) => peer.send({ type: 'error', code: 'bad_audio', message: 'odd byte count', fatal: true }),
      'The call ended with an error',
    ],
    ['the connection breaks', (peer: Peer) => peer.terminate(), 'The connection was lost'],
    ['the socket closes with 1013', (peer: Peer) => peer.close(1013), 'The service is busy'],
  ])('says so when %s', async (_name, act, title) => {
    const peer = await openCall();
    act(peer);
    await untilState(page, 'ended');
    await page.getByRole('alert').getByText(title, { exact: true }).waitFor();
    expect(await page.evaluate('window.svcCall.lastError')).toBe(title);
  });

  it('lets the goodbye play to its end and says that the agent hung up', async () => {
    const peer = await openCall();
    peer.frames(10);
    peer.send({ type: 'mark', id: 'goodbye' });
    await peer.until(({ echoes }) => echoes.includes('goodbye'));
    peer.send({ type: 'stop', reason: 'ended' });
    peer.close(1000);
    await untilState(page, 'ended');
    await page.getByText('The agent hung up.').waitFor();
    expect(await page.evaluate('window.svcCall.lastError')).toBeUndefined();
  });

  it.each([
    ['busy', 503, 'The service is busy'],
    ['at its limit for this address', 429, 'The service is busy'],
    ['not for this caller', 401, 'You are not allowed to call'],
    ['not for this page', 403, 'You are not allowed to call'],
    ['behind a proxy and gone', 502, 'The service cannot be reached'],
    ['of another mind', 418, 'The call was not accepted'],
  ])('says so when the service is %s (%i), and can call again', async (_name, status, title) => {
    service.refuseWith = status;
    await openPage();
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByRole('alert').getByText(title, { exact: true }).waitFor();
    await page.getByRole('status').getByText('Not connected').waitFor();
    service.refuseWith = undefined;
    const arriving = service.nextCall();
    await page.getByRole('button', { name: 'Call' }).click();
    await (await arriving).start();
    await untilState(page, 'listening');
    expect(await page.getByRole('alert').isVisible()).toBe(false);
  });

  it('says so when nobody is there any more', async () => {
    const gone = new ScriptedService(folder);
    await gone.listen();
    await openPage(chromium, gone.pageUrl);
    await page.getByRole('heading', { name: 'Corner shop' }).waitFor();
    await gone.close();
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByRole('alert').getByText('The service cannot be reached', { exact: true }).waitFor();
  });

  it('gets a token for each call and presents it as a subprotocol', async () => {
    service.token = 'token';
    const peer = await openCall();
    expect(peer.protocols).toMatch(/^svc, ?svc-token\.the-token$/);
    expect(complaints).toEqual([]);
  });

  it.each([
    [403, 'You are not allowed to call'],
    [429, 'The service is busy'],
    [404, 'The call could not be authorised'],
  ])('says so when the endpoint for tokens answers %i', async (status, title) => {
    [service.token, service.refuseTokenWith] = ['token', status];
    await openPage();
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByRole('alert').getByText(title, { exact: true }).waitFor();
  });

  it('shows what was said, what is being answered and where the caller interrupted', async () => {
    const peer = await openCall();
    expect(peer.messages[0]?.['events']).toContain('user.text');
    const lines = page.getByRole('log').getByRole('listitem');
    peer.send({ type: 'user.transcript', text: 'What is', final: false });
    await lines.getByText('What is').waitFor();
    expect(await lines.first().getAttribute('aria-busy')).toBe('true');
    peer.send({ type: 'user.text', epoch: 1, text: 'What is open today?' });
    peer.send({ type: 'bot.text', epoch: 1, text: 'Everything' });
    peer.send({ type: 'bot.text', epoch: 1, text: ' but the' });
    peer.send({ type: 'turn.interrupted', epoch: 2 });
    peer.send({ type: 'bot.text', epoch: 1, text: ' late delta' });
    await lines.getByText('You interrupted this answer').waitFor();
    expect(await lines.allInnerTexts()).toEqual([
      'You\nWhat is open today?',
      'Agent\nEverything but the\nYou interrupted this answer',
    ]);
    expect(await lines.first().getAttribute('aria-busy')).toBe('false');
    expect(complaints).toEqual([]);
  });

  it('says that a service sends no transcript once the agent has spoken', async () => {
    const peer = await openCall();
    await page.getByText('What you and the agent say appears here.').waitFor();
    peer.frames(20);
    peer.send({ type: 'mark', id: 'first' });
    await page.getByText('This service sends no transcript of its calls.').waitFor();
  });

  it('asks nobody for a click who has clicked, where the speaker is slow to start', async () => {
    await openPage(
      chromium,
      service.pageUrl,
      `
        const { resume } = AudioContext.prototype;
        AudioContext.prototype.resume = function () {
          return new Promise((started) => setTimeout(started, 1_000)).then(() => resume.call(this));
        };
        window.hints = [];
        addEventListener('DOMContentLoaded', () => {
          const hint = document.querySelector('#hint');
          new MutationObserver(() => window.hints.push(hint.textContent)).observe(hint, { childList: true });
        });
      `,
    );
    const arriving = service.nextCall();
    await page.getByRole('button', { name: 'Call' }).click();
    await (await arriving).start();
    await untilState(page, 'listening');
    const hints = await page.evaluate<string[]>('window.hints');
    expect(hints.length).toBeGreaterThan(0);
    expect(hints.filter((hint) => hint.startsWith('Click'))).toEqual([]);
  });

  it('sends silence while it is muted, and offers the devices', async () => {
    const peer = await openCall();
    await peer.until(({ audio }) => audio.some((frame) => levelOf(frame) > 0.02));
    await page.getByRole('button', { name: 'Mute' }).click();
    await page.getByText('Your microphone is muted.').waitFor();
    // What was on its way when the button was pressed is loud; a second after it nothing is.
    const since = peer.audio.length;
    await peer.until(({ audio }) => audio.length > since + 60);
    expect(peer.audio.slice(-10).every((frame) => levelOf(frame) === 0)).toBe(true);
    await page.getByText('Microphone and speaker').click();
    const microphones = page.getByLabel('Microphone', { exact: true });
    expect(await microphones.locator('option').count()).toBeGreaterThan(1);
    await microphones.selectOption({ index: 1 });
    await page.getByRole('button', { name: 'Unmute' }).click();
    await peer.until(({ audio }) => audio.length > since + 120);
    expect(await page.evaluate('window.svcCall.state')).not.toBe('ended');
    expect(complaints).toEqual([]);
  });

  it('goes on with the microphone of the system when its own is unplugged', async () => {
    const peer = await openCall(CAN_BE_UNPLUGGED);
    await peer.until(({ audio }) => audio.some((frame) => levelOf(frame) > 0.02));
    await page.evaluate(`document.dispatchEvent(new Event('unplug'))`);
    // Each microphone that Chromium gives out plays its recording from the beginning: silence, then a voice.
    await peer.until(({ audio }) => audio.slice(-30).every((frame) => levelOf(frame) === 0));
    const since = peer.audio.length;
    await peer.until(({ audio }) => audio.slice(since).some((frame) => levelOf(frame) > 0.02));
    expect(await page.evaluate('window.svcCall.state')).not.toBe('ended');
  });

  it('calls with the devices of the system where those that were chosen are gone', async () => {
    await openPage();
    for (const id of ['microphones', 'speakers'])
      await page.evaluate(
        `{ const choice = document.getElementById('${id}'); choice.add(new Option('Headset', 'gone')); choice.value = 'gone'; }`,
      );
    const arriving = service.nextCall();
    await page.getByRole('button', { name: 'Call' }).click();
    await (await arriving).start();
    await untilState(page, 'listening');
  });

  it('calls at the rate of the device when the browser does not convert the microphone', async () => {
    const arriving = service.nextCall();
    await openPage(chromium, service.pageUrl, CONVERTS_NOTHING);
    await page.getByRole('button', { name: 'Call' }).click();
    const peer = await arriving;
    await peer.start();
    expect([44_100, 48_000]).toContain(peer.rate);
    await peer.until(({ audio }) => audio.length > 10);
    expect(new Set(peer.audio.map((frame) => frame.length))).toEqual(new Set([(peer.rate / 50) * 2]));
    peer.frames(10);
    peer.send({ type: 'mark', id: 'heard' });
    await peer.until(({ echoes }) => echoes.includes('heard'));
  });

  it('fits a phone of 360 px without scrolling sideways, with the keypad open', async () => {
    await openPage();
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByText('Keypad').click();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    const button = await page.getByRole('button', { name: 'Call' }).boundingBox();
    expect((button?.y ?? 740) + (button?.height ?? 0)).toBeLessThanOrEqual(740);
  });

  it('explains a refused microphone', async () => {
    const refusing = await openChromium(wav, { refuseMicrophone: true });
    try {
      await openPage(refusing);
      await page.getByRole('button', { name: 'Call' }).click();
      await page.getByRole('alert').getByText('The microphone was refused').waitFor();
      await page.getByRole('status').getByText('Not connected').waitFor();
    } finally {
      await refusing.close();
    }
  });

  it('explains that a page at a plain address gets no microphone', async () => {
    const plain = await openChromium(wav, { hosts: { 'agent.example': '127.0.0.1' } });
    try {
      await openPage(plain, `http://agent.example:${service.port}/`);
      await page.getByRole('button', { name: 'Call' }).click();
      await page.getByRole('alert').getByText('This page may not use a microphone').waitFor();
    } finally {
      await plain.close();
    }
  });
});

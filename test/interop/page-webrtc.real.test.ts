/**
 * The call page by WebRTC in Chromium, against the whole service: the call has everything that one by WebSocket has, and outlives its
 * worker and its own connection. Where WebRTC is not to be had the page calls by WebSocket.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chromiumMissing, type ChromiumPage, openChromium } from '../support/chromium.ts';
import { answer } from '../support/fakes/fake-chat.ts';
import { TestService } from '../support/process/service.ts';
import { secret } from '../spec/tokens/craft.ts';
import { callerWav } from './scripted-service.ts';

describe.skipIf(chromiumMissing !== undefined)(`the page by WebRTC ${chromiumMissing ?? ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'page-webrtc-'));
  let service: TestService;
  let chromium: ChromiumPage;
  let page: Page;

  beforeAll(async () => {
    writeFileSync(join(folder, 'caller.wav'), callerWav());
    service = await TestService.start({
      greeting: 'One two three four five six seven. '.repeat(12),
      workers: 2,
      env: {
        ...{ SVC_PAGE_ADDR: '127.0.0.1:0', SVC_WEBRTC_ADDR: '127.0.0.1:0', SVC_SESSION_SECRET: secret },
        SVC_WEBRTC_OFFERS_PER_MINUTE: '100',
      },
    });
    chromium = await openChromium(join(folder, 'caller.wav'));
  });

  afterAll(async () => {
    await chromium.close();
    if (!service.isOver) await service.stop();
    rmSync(folder, { recursive: true });
  });

  afterEach(() => page.close());

  const line = (): Promise<string | undefined> => page.evaluate<string | undefined>('window.svcCall.line');

  async function open(prepare?: (page: Page) => Promise<unknown>): Promise<void> {
    page = await chromium.browser.newPage();
    await prepare?.(page);
    await page.goto(`http://${service.address('page')}/`);
    await page.getByRole('heading', { name: 'Test', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Call' }).click();
    await page.locator('#stage[data-state="agent-speaking"]').waitFor();
  }

  async function ask(text: string, reply: string): Promise<void> {
    service.providers.llm.script.push(answer(reply));
    await page.getByLabel('Write to the agent').fill(text);
    await page.keyboard.press('Enter');
    await page.getByText(reply).waitFor();
  }

  async function hangUp(): Promise<void> {
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByText('You hung up.').waitFor();
    await service.readyWhen((body) => body['connections'] === 0);
  }

  it('hears, shows and types as by WebSocket, and goes on when its worker is killed', async () => {
    await open();
    expect(await line()).toBe('webrtc');
    // It was said before the data channel was open.
    await page
      .locator('#lines')
      .getByText(/^One two three/)
      .waitFor();
    await ask('Is it noon?', 'It is noon.');
    const started = await service.says('call started');
    process.kill(Number(started['pid']), 'SIGKILL');
    await service.says('call taken up');
    await ask('And now?', 'It is one.');
    await page.locator('#stage[data-state="agent-speaking"]').waitFor();
    expect(await page.locator('#lines').getByText('It is noon.').count()).toBe(1);
    await hangUp();
  });

  it('goes on at another connection when its own is dead and its worker is not', async () => {
    // As a browser sees it whose network has changed: nothing comes any more.
    await open((one) =>
      one.addInitScript(`
        const first = new WeakSet();
        const { getStats, createDataChannel } = RTCPeerConnection.prototype;
        let isDeaf = false;
        window.deafen = () => (isDeaf = true);
        let made = 0;
        RTCPeerConnection.prototype.createDataChannel = function (...rest) {
          made += 1;
          if (made === 1) first.add(this);
          return createDataChannel.apply(this, rest);
        };
        RTCPeerConnection.prototype.getStats = function () {
          return isDeaf && first.has(this) ? Promise.resolve(new Map()) : getStats.call(this);
        };
        window.connections = () => made;
      `),
    );
    await ask('Is it noon?', 'Noon it is.');
    await page.evaluate('window.deafen()');
    await expect.poll(() => page.evaluate('window.connections()'), { timeout: 20_000 }).toBe(2);
    await page.locator('details.log summary').click();
    await page.getByText('connected again').waitFor();
    await ask('And now?', 'One it is.');
    expect(await page.locator('#lines').getByText('Noon it is.').count()).toBe(1);
    await hangUp();
  });

  it('calls by WebSocket where media does not get through, and leaves no call behind', async () => {
    await open((one) =>
      one.route('**/whip', async (route) => {
        const response = await route.fetch();
        const body = (await response.text()).replace(/ \d+ typ host/g, ' 9 typ host');
        await route.fulfill({ response, body });
      }),
    );
    expect(await line()).toBe('websocket');
    await ask('Is it noon?', 'It surely is.');
    await service.readyWhen((body) => body['sessions'] === 1);
    await hangUp();
  });

  it('calls by WebSocket where that is chosen', async () => {
    await open(async (one) => {
      await one.goto(`http://${service.address('page')}/`);
      await one.addInitScript(
        `addEventListener('load', () => (document.querySelector('#lines-choice').value = 'websocket'))`,
      );
    });
    expect(await line()).toBe('websocket');
    await hangUp();
  });

  it('calls by WebRTC for who is quicker than the network, too', async () => {
    page = await chromium.browser.newPage();
    let tell: () => void = () => undefined;
    const told = new Promise<void>((resolve) => (tell = resolve));
    await page.route('**/config.json', async (route) => {
      await told;
      await route.continue();
    });
    await page.goto(`http://${service.address('page')}/`);
    await page.getByRole('button', { name: 'Call' }).click();
    tell();
    await page.locator('#stage[data-state="agent-speaking"]').waitFor();
    expect(await line()).toBe('webrtc');
    await hangUp();
  });

  it('does not call by WebSocket for who hung up while it connected by WebRTC', async () => {
    page = await chromium.browser.newPage();
    let sockets = 0;
    page.on('websocket', () => (sockets += 1));
    let goOn: () => void = () => undefined;
    const hungUp = new Promise<void>((resolve) => (goOn = resolve));
    const offered = page.waitForRequest('**/whip');
    await page.route('**/whip', async (route) => {
      await hungUp;
      await route.continue();
    });
    await page.goto(`http://${service.address('page')}/`);
    await page.getByRole('button', { name: 'Call' }).click();
    await offered;
    await page.getByRole('button', { name: 'Cancel' }).click();
    goOn();
    // The next call takes longer than the one before would have taken to go the other way.
    await page.getByRole('button', { name: 'Call' }).click();
    await page.locator('#stage[data-state="agent-speaking"]').waitFor();
    expect([await line(), sockets]).toEqual(['webrtc', 0]);
    await hangUp();
  });

  it('is told when the service stops', async () => {
    await open();
    expect(await line()).toBe('webrtc');
    // One signal: a second one kills the worker over what it tells its callers.
    service.signal('SIGTERM');
    await page.getByRole('alert').getByText('The service is shutting down', { exact: true }).waitFor();
  });
});

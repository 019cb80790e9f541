/** The call page of the real service in Chromium, with session tokens: how a call gets one, and what a caller is told who gets no call. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumMissing, type ChromiumPage, openChromium } from '../support/chromium.ts';
import { TestService } from '../support/process/service.ts';
import { secret } from '../spec/tokens/craft.ts';
import { callerWav } from './scripted-service.ts';

describe.skipIf(chromiumMissing !== undefined)(`the page of a service ${chromiumMissing ?? ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'page-service-'));
  let service: TestService;
  let chromium: ChromiumPage;

  beforeAll(async () => {
    writeFileSync(join(folder, 'caller.wav'), callerWav());
    service = await TestService.start({
      env: { SVC_PAGE_ADDR: '127.0.0.1:0', SVC_SESSION_SECRET: secret, SVC_MAX_SESSIONS: '1' },
    });
    chromium = await openChromium(join(folder, 'caller.wav'), { hosts: { 'voice.localhost': '127.0.0.1' } });
  });

  afterAll(async () => {
    await chromium.close();
    if (!service.isOver) await service.stop();
    rmSync(folder, { recursive: true });
  });

  async function pressCall(host = '127.0.0.1'): Promise<Page> {
    const page = await chromium.browser.newPage();
    await page.goto(`http://${host}:${service.address('page').split(':').at(-1)}/`);
    await page.getByRole('heading', { name: 'Test', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Call' }).click();
    return page;
  }

  const says = (page: Page, title: string): Promise<void> =>
    page.getByRole('alert').getByText(title, { exact: true }).waitFor();

  it('gets a token for a call, and tells busy, unauthorised and down apart', async () => {
    const first = await pressCall();
    await first.locator('#stage[data-state="listening"]').waitFor();
    expect(await service.readiness()).toMatchObject({ sessions: 1 });

    const second = await pressCall();
    await says(second, 'The service is busy');
    // A name that is not only this machine's could be a stranger's.
    await says(await pressCall('voice.localhost'), 'You are not allowed to call');

    await first.getByRole('button', { name: 'Hang up' }).click();
    await first.getByText('You hung up.').waitFor();
    await service.readyWhen((body) => body['connections'] === 0);
    await second.getByRole('button', { name: 'Call' }).click();
    await second.locator('#stage[data-state="listening"]').waitFor();
    await service.stop();
    await says(second, 'The service is shutting down');
    await second.getByRole('button', { name: 'Call' }).click();
    await says(second, 'The service cannot be reached');
  });
});

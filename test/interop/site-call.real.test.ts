/** The page "Try it here" of the documentation site: its call reaches a service on the reader's machine, once the service allows the site. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumMissing, type ChromiumPage, openChromium } from '../support/chromium.ts';
import { TestService } from '../support/process/service.ts';
import { callerWav } from './scripted-service.ts';

const script = fileURLToPath(new URL('../../scripts/site/build-site.mjs', import.meta.url));

describe.skipIf(chromiumMissing !== undefined)(`a call from the site ${chromiumMissing ?? ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'site-call-'));
  const wav = join(folder, 'caller.wav');
  let server: Server;
  let site: string;
  let service: TestService;
  let chromium: ChromiumPage;

  beforeAll(async () => {
    const { buildSite } = (await import(pathToFileURL(script).href)) as {
      readonly buildSite: (folder: string) => Promise<unknown>;
    };
    await buildSite(join(folder, 'site'));
    server = createServer(({ url = '/' }, response) => {
      const path = join(folder, 'site', new URL(url, 'http://site').pathname);
      if (!existsSync(path)) return void response.writeHead(404).end();
      const type = { mjs: 'text/javascript', js: 'text/javascript', css: 'text/css' }[
        /\w+$/.exec(path)?.[0] ?? ''
      ];
      response.writeHead(200, { 'Content-Type': type ?? 'text/html' }).end(readFileSync(path));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(wav, callerWav());
  }, 120_000);

  afterAll(async () => {
    await chromium?.close();
    await service?.stop();
    server.close();
    rmSync(folder, { recursive: true });
  });

  it('greets, and shows what was said', async () => {
    service = await TestService.start({
      workers: 1,
      greeting: 'Hello from this machine.',
      env: { SVC_PAGE_ADDR: '127.0.0.1:0', SVC_WS_ORIGINS: site },
    });
    chromium = await openChromium(wav, { hosts: { '127.0.0.1:8088': service.address('page') } });
    const { page } = chromium;
    await page.goto(`${site}/docs/try.html`);
    expect(await page.locator('pre').first().innerText()).toContain(`SVC_WS_ORIGINS=${site} npm start`);
    await page.getByRole('button', { name: 'Call the agent' }).click();
    await page.getByText('Hello from this machine.').waitFor();
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByRole('button', { name: 'Call the agent' }).waitFor();
  });
});

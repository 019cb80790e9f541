/** Callers in Chromium: each has a tab, and Node does the signaling for it. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium, type Page } from 'playwright-core';
import { sampleRate } from '../../client/talker.ts';
import { frameMs } from '../../report/statistics.ts';
import { decidedMs, longestMs, stillMs, type WebrtcTalkPlan } from '../../client/webrtc-talker.ts';

const executablePath = '/usr/bin/chromium';

export interface ChromiumTalkers {
  talk(plan: WebrtcTalkPlan): Promise<number | string>;
  close(): Promise<void>;
}

/** @param root the project's folder, as a URL that ends in a slash. */
export async function openChromiumTalkers(root: URL): Promise<ChromiumTalkers> {
  const folder = new URL('scripts/measure/bench/webrtc/chromium/', root);
  const files = new Map([
    ['/', { type: 'text/html', body: '<!doctype html><script src="/page.js"></script>' }],
    ...['page.js', 'watch.js'].map(
      (name) =>
        [`/${name}`, { type: 'text/javascript', body: readFileSync(new URL(name, folder), 'utf8') }] as const,
    ),
  ]);
  const server = createServer(({ url = '' }, response) => {
    const file = files.get(url);
    response.writeHead(file === undefined ? 404 : 200, { 'content-type': file?.type ?? 'text/plain' });
    response.end(file?.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const args = ['--no-sandbox', '--autoplay-policy=no-user-gesture-required'];
  const browser = await chromium.launch({ executablePath, args });
  const idle: Page[] = [];
  const newPage = async (): Promise<Page> => {
    const page = await browser.newPage();
    await page.exposeFunction('signal', signal);
    await page.goto(address);
    return page;
  };
  return {
    async talk(plan) {
      const page = idle.pop() ?? (await newPage());
      const call = {
        url: plan.url,
        sound: Array.from(plan.sound),
        soundRate: sampleRate,
        loudAt: plan.loudAt,
        offset: plan.offset,
        audibleMs: plan.afterFrames * frameMs,
        stillMs,
        decidedMs,
        longestMs,
      };
      const found = await page.evaluate<number | string>(`interrupt(${JSON.stringify(call)})`);
      idle.push(page);
      return found;
    },
    async close() {
      server.close();
      await browser.close();
    },
  };
}

async function signal(url: string, sdp: string): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp' },
    body: sdp,
  });
  if (response.status !== 201) throw new Error(`the offer got ${response.status}`);
  return response.text();
}

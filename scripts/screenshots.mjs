// Makes the README's pictures of the call page from a running service.
// Chromium plays WAV as the microphone: a question, and another one over the answer. The call's picture is taken while the agent answers
// the second.
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';
import { answerHelp } from './process/help.mjs';

const usage = `usage: node scripts/screenshots.mjs URL WAV [FOLDER]
  Makes the README's pictures of the call page at URL, by default in docs/images. WAV must exist.`;
answerHelp(usage);

const root = fileURLToPath(new URL('..', import.meta.url));
const [url, wav, folder = join(root, 'docs/images')] = process.argv.slice(2);
if (url === undefined || wav === undefined || !existsSync(wav)) {
  console.error(usage);
  process.exit(2);
}
await ensureInstalled({ dev: true });
const { chromium } = await import('playwright-core');

const desktop = { width: 1120, height: 920 };
const phone = { width: 360, height: 800 };
const shots = [
  { name: 'page-idle', viewport: desktop, colorScheme: 'light', calls: false },
  { name: 'page-call', viewport: desktop, colorScheme: 'light', calls: true },
  { name: 'page-call-dark', viewport: desktop, colorScheme: 'dark', calls: true },
  { name: 'page-idle-phone', viewport: phone, colorScheme: 'dark', calls: false },
  { name: 'page-call-phone', viewport: phone, colorScheme: 'light', calls: true },
];

/** Waits until the caller has interrupted and was answered, then for the agent's voice. */
async function untilAnswered(page) {
  await page.locator('#last-time', { hasNotText: '–' }).waitFor({ timeout: 60_000 });
  await page.locator('.line[data-state="cut"] ~ .line-agent').waitFor({ timeout: 60_000 });
  await page.locator('#stage[data-state="agent-speaking"]').waitFor({ timeout: 10_000 });
}

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--use-fake-ui-for-media-stream',
    '--use-fake-device-for-media-stream',
    `--use-file-for-fake-audio-capture=${resolve(wav)}%noloop`,
    '--autoplay-policy=no-user-gesture-required',
  ],
});
try {
  for (const { name, viewport, colorScheme, calls } of shots) {
    const page = await browser.newPage({ viewport, colorScheme, deviceScaleFactor: 2 });
    await page.goto(url);
    await page.locator('#agent').waitFor();
    if (calls) {
      await page.locator('#call').click();
      await untilAnswered(page);
    }
    const path = join(folder, `${name}.png`);
    await page.screenshot({ path });
    console.log(path);
    await page.close();
  }
} finally {
  await browser.close();
}

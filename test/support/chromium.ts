/**
 * Starts Debian's Chromium with a recording as its microphone.
 *
 * Invariant: nothing is downloaded and no network is used but the pages that a test opens. A machine without Chromium
 * skips with {@link chromiumMissing} as the reason.
 */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium';

/** Why the tests with a browser cannot run here, or undefined when they can. */
export const chromiumMissing: string | undefined = existsSync(EXECUTABLE)
  ? undefined
  : `${EXECUTABLE} is not installed`;

export interface ChromiumOptions {
  /** Leaves the microphone's permission to the test instead of granting it. */
  readonly refuseMicrophone?: boolean;
  /** Names that lead to an address without a name server. */
  readonly hosts?: Readonly<Record<string, string>>;
  readonly context?: BrowserContextOptions;
  /** As on a network that lets no UDP through. */
  readonly withoutUdp?: boolean;
}

export interface ChromiumPage {
  readonly browser: Browser;
  readonly page: Page;
  close(): Promise<void>;
}

/** Opens an empty page. The WAV at `wavPath` plays once as the microphone, from the moment a page asks for it; then silence. */
export async function openChromium(wavPath: string, options: ChromiumOptions = {}): Promise<ChromiumPage> {
  const rules = Object.entries(options.hosts ?? {}).map(([name, address]) => `MAP ${name} ${address}`);
  const browser = await chromium.launch({
    executablePath: EXECUTABLE,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${wavPath}%noloop`,
      ...(rules.length > 0 ? [`--host-resolver-rules=${rules.join(',')}`] : []),
      ...(options.withoutUdp === true ? ['--webrtc-ip-handling-policy=disable_non_proxied_udp'] : []),
      '--autoplay-policy=no-user-gesture-required',
      options.refuseMicrophone === true ? '--deny-permission-prompts' : '--use-fake-ui-for-media-stream',
    ],
  });
  const page = await (await browser.newContext(options.context)).newPage();
  return { browser, page, close: () => browser.close() };
}

/**
 * Starts Debian's Chromium with a recording as its microphone.
 *
 * What a page meets is the same in its headless shell, which has no windows, menus and address bar: half of the work of most tests was to draw
 * those. Without the shell all tests have the whole browser.
 *
 * Invariant: nothing is downloaded and no network is used but the pages that a test opens. A machine without Chromium
 * skips with {@link chromiumMissing} as the reason.
 */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium';
const SHELL = '/usr/bin/chromium-headless-shell';

/** Why the tests with a browser cannot run here, or undefined when they can. */
export const chromiumMissing: string | undefined = existsSync(EXECUTABLE)
  ? undefined
  : `${EXECUTABLE} is not installed`;

export interface ChromiumOptions {
  /** The whole browser, as a caller has it. */
  readonly whole?: boolean;
  /** Refuses the microphone's permission instead of granting it, which the whole browser does alone. */
  readonly refuseMicrophone?: boolean;
  /** Names that lead to an address without a name server. */
  readonly hosts?: Readonly<Record<string, string>>;
  readonly context?: BrowserContextOptions;
  /** As on a network that lets no UDP through; a setting of the whole browser. */
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
  const isWhole = [options.whole, options.refuseMicrophone, options.withoutUdp].includes(true);
  const browser = await chromium.launch({
    executablePath: isWhole || !existsSync(SHELL) ? EXECUTABLE : SHELL,
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

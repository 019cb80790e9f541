/**
 * The call page: one button, one call at a time.
 *
 * Invariant: the page shows the last call until the next one begins. `window.svcCall` is a read-only window for tests.
 */
import { PageCall } from './call.ts';
import { View } from './view.ts';
import { parseObject } from './wire.ts';
import { problemOf, shownState } from './words.ts';

declare global {
  interface Window {
    /** What tests look at; every field is read live from the call that is shown. */
    svcCall: {
      readonly state: string;
      readonly lastError: string | undefined;
      readonly received: readonly string[];
      readonly sampleRate: number | undefined;
      readonly answers: { readonly count: number; readonly lastMs: number | undefined };
      readonly lateFrames: number;
    };
  }
}

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'];

interface PageConfig {
  readonly wsUrl: string | undefined;
  readonly agent: string;
}

/** Undefined when the page's own server does not answer. */
async function loadConfig(): Promise<PageConfig | undefined> {
  try {
    const response = await fetch('config.json', { cache: 'no-store' });
    if (!response.ok) return undefined;
    const fields = parseObject(await response.text());
    const [wsUrl, agent] = [fields?.get('wsUrl'), fields?.get('agent')];
    return {
      wsUrl: typeof wsUrl === 'string' ? wsUrl : undefined,
      agent: typeof agent === 'string' ? agent : '',
    };
  } catch (error) {
    console.warn('config.json could not be read', error);
    return undefined;
  }
}

/** The address as a WebSocket one, or undefined. */
function webSocketUrl(address: string | null | undefined): URL | undefined {
  try {
    const url = new URL(address ?? '');
    return url.protocol === 'ws:' || url.protocol === 'wss:' ? url : undefined;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function main(): void {
  const view = new View();
  const asked = new URLSearchParams(location.search).get('ws');
  const override = webSocketUrl(asked);
  const findAddress = async (): Promise<string | undefined> =>
    asked === null ? webSocketUrl((await loadConfig())?.wsUrl)?.href : override?.href;
  let call = new PageCall(findAddress);

  view.callButton.addEventListener('click', () => {
    if (call.phase.name === 'idle' || call.phase.name === 'ended') {
      call = new PageCall(findAddress);
      call.start();
    } else call.hangUp();
  });
  addKeys(view.keys, (digit) => call.pressKey(digit));
  window.addEventListener('pagehide', () => call.hangUp());
  if (override !== undefined) view.showTarget(override.host);
  void loadConfig().then((config) => view.showAgent(config?.agent ?? ''));

  const draw = (): void => {
    view.draw(call);
    requestAnimationFrame(draw);
  };
  draw();

  window.svcCall = {
    get state() {
      return shownState(call.phase, call.turn);
    },
    get lastError() {
      return call.phase.name === 'ended' ? problemOf(call.phase.outcome)?.title : undefined;
    },
    get received() {
      return call.received;
    },
    get sampleRate() {
      return call.sampleRate;
    },
    get answers() {
      return { count: call.times.count, lastMs: call.times.lastMs };
    },
    get lateFrames() {
      return call.lateFrames;
    },
  };
}

function addKeys(pad: HTMLElement, press: (digit: string) => void): void {
  for (const digit of KEYS) {
    const key = document.createElement('button');
    key.type = 'button';
    key.textContent = digit;
    key.addEventListener('click', () => press(digit));
    pad.append(key);
  }
  pad.addEventListener('keydown', (event) => {
    if (!KEYS.includes(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    press(event.key);
  });
}

main();

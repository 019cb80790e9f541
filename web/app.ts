/**
 * The call page: one button, one call at a time.
 *
 * Invariant: the page shows the last call until the next one begins. `window.svcCall` is a read-only window for tests.
 */
import { audioDevices, type LineKind, tokenFrom, TokenRefused } from './client/index.ts';
import { parseObject } from './client/wire.ts';
import { PageCall } from './page-call.ts';
import { View } from './view.ts';
import { problemOf } from './words.ts';

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
      readonly line: string | undefined;
    };
  }
}

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'];

interface PageConfig {
  readonly agent: string;
  /** Where a token for a call is to be had; undefined: calls need none. */
  readonly token: string | undefined;
  /** Where WebRTC offers are taken; undefined: nowhere. */
  readonly whip: string | undefined;
}

/** Undefined when the page's own server does not answer. */
async function loadConfig(): Promise<PageConfig | undefined> {
  try {
    const response = await fetch('config.json', { cache: 'no-store' });
    if (!response.ok) return undefined;
    const fields = parseObject(await response.text());
    const [agent, token, whip] = ['agent', 'token', 'whip'].map((name) => fields?.get(name));
    return {
      agent: typeof agent === 'string' ? agent : '',
      token: typeof token === 'string' ? token : undefined,
      whip: typeof whip === 'string' ? whip : undefined,
    };
  } catch (error) {
    console.warn('config.json could not be read', error);
    return undefined;
  }
}

/** The settings are read anew for each call: the service may have been started with others since the page was opened. */
async function tokenForCall(line: LineKind): Promise<string | undefined> {
  const config = await loadConfig();
  if (config === undefined) throw new TokenRefused({ kind: 'down' });
  return config.token === undefined ? undefined : tokenFrom(config.token)(line);
}

function main(): void {
  const view = new View();
  const newCall = (): PageCall =>
    new PageCall({
      url: 'ws',
      token: tokenForCall,
      workletUrl: new URL('worklets.js', import.meta.url),
      ...view.chosenDevices,
      ...(view.whip !== undefined && { whip: view.whip }),
    });
  let call = newCall();

  const configured = loadConfig().then((config) => {
    view.showAgent(config?.agent ?? '');
    view.offerWebrtc(config?.whip);
  });
  onPress(view.callButton, configured, () => {
    if (call.isRunning) {
      call.voice.hangUp();
      return;
    }
    call = newCall();
    call.voice.volume = view.volume.valueAsNumber / 100;
    view.turns.clear();
    call.voice.on('metrics', ({ metrics }) => view.turns.add(metrics));
    call.voice.on('state', (state) => {
      if (state === 'listening') void audioDevices().then((devices) => view.showDevices(devices));
    });
    call.start();
  });
  view.muteButton.addEventListener('click', () => (call.voice.muted = !call.voice.muted));
  view.microphones.addEventListener('change', () => {
    call.voice.useMicrophone(view.chosenDevices.microphone).catch((error: unknown) => {
      console.warn('the microphone could not be changed', error);
      view.microphones.value = '';
    });
  });
  view.speakers.addEventListener('change', () => void call.voice.useSpeaker(view.chosenDevices.speaker));
  view.volume.addEventListener('input', () => (call.voice.volume = view.volume.valueAsNumber / 100));
  view.typing.addEventListener('submit', (event) => {
    event.preventDefault();
    call.voice.sendText(view.typed.value, { answer: view.answersQuietly ? 'text' : 'speech' });
    view.typed.value = '';
  });
  addKeys(view.keys, (digit) => call.voice.sendDigit(digit));
  window.addEventListener('pagehide', () => call.voice.hangUp());

  const draw = (): void => {
    view.draw(call);
    requestAnimationFrame(draw);
  };
  draw();
  offerToTests(() => call);
}

/** A press waits until it is known how calls go from here: else the call would go the lesser way. */
function onPress(button: HTMLButtonElement, ready: Promise<void>, press: () => void): void {
  let isWaiting = false;
  button.addEventListener('click', () => {
    if (isWaiting) return;
    isWaiting = true;
    void ready.then(() => {
      isWaiting = false;
      press();
    });
  });
}

function offerToTests(shown: () => PageCall): void {
  window.svcCall = {
    get state() {
      return shown().voice.state;
    },
    get lastError() {
      const { outcome } = shown();
      return outcome === undefined ? undefined : problemOf(outcome)?.title;
    },
    get received() {
      return shown().received;
    },
    get sampleRate() {
      return shown().voice.sampleRate;
    },
    get answers() {
      const { count, lastMs } = shown().voice.responses;
      return { count, lastMs };
    },
    get line() {
      return shown().voice.line;
    },
    get lateFrames() {
      return shown().voice.lateFrames;
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

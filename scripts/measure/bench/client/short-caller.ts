/** One short call of a soak: of a kind, from the connection to its end, with what came of it told once. */
import { connect, type Socket } from 'node:net';
import type { Prng } from '../../../../shared/base/prng.ts';
import { CallClient } from './client.ts';

/**
 * `talks` speaks into the greeting, hears the answer and hangs up; `listens` hears some of the greeting; `cut` is a call that speaks
 * and whose connection breaks at any moment. The others never become calls.
 */
export const shortCallKinds = [
  'talks',
  'listens',
  'cut',
  'bad upgrade',
  'bad start',
  'no start',
  'half a request',
] as const;
export type ShortCallKind = (typeof shortCallKinds)[number];

/** In a hundred calls. */
const shares: Readonly<Record<ShortCallKind, number>> = {
  talks: 60,
  listens: 13,
  cut: 15,
  'bad upgrade': 3,
  'bad start': 3,
  'no start': 3,
  'half a request': 3,
};

export function pickKind(prng: Prng): ShortCallKind {
  let at = prng.below(100);
  return shortCallKinds.find((kind) => (at -= shares[kind]) < 0) ?? 'talks';
}

/** `refused`: the service took no calls at that moment, so there was no call. */
export type ShortCallEnd = 'as meant' | 'unanswered' | 'failed' | 'refused';

export interface ShortCallOptions {
  readonly kind: ShortCallKind;
  readonly address: { readonly host: string; readonly port: number };
  readonly start: { readonly sample_rate: number; readonly encoding: string };
  /** Complete WebSocket frames. */
  readonly clip: readonly Buffer[];
  readonly silence: readonly Buffer[];
  readonly prng: Prng;
  readonly over: (end: ShortCallEnd, why: string) => void;
}

/** Frames of the greeting, and of the answer, that are heard before something else happens. */
const heardFrames = 10;
const answerWithinMs = 8_000;
const endWithinMs = 10_000;
const startWithinMs = 15_000;
const longestCutMs = 2_500;
const idleMs = 150;

export class ShortCall {
  readonly #options: ShortCallOptions;
  readonly #client: CallClient | undefined;
  readonly #raw: Socket | undefined;
  #isOver = false;
  #isStarted = false;
  #at = 0;
  #frames = 0;
  #wasCleared = false;
  #isEnding = false;
  /** What a call that was asked to end is, once it has. */
  #endAs: ShortCallEnd = 'failed';
  /** When the present state has lasted too long, and what that means. */
  #until: number;
  #late: () => void;

  constructor(options: ShortCallOptions, now: number) {
    this.#options = options;
    this.#until = now + startWithinMs;
    this.#late = () => this.#end('failed', 'it did not start');
    if (options.kind === 'bad upgrade' || options.kind === 'half a request') this.#raw = this.#knock(now);
    else this.#client = this.#call(now);
  }

  /** Every 20 ms. */
  tick(now: number): void {
    if (this.#isOver) return;
    if (now >= this.#until) this.#late();
    if (!this.#isStarted || this.#isEnding || this.#client === undefined) return;
    const { clip, silence, kind } = this.#options;
    const speaks = kind !== 'listens' && this.#frames > 0 && this.#at < clip.length;
    const frame = speaks ? clip[this.#at] : silence[this.#at % silence.length];
    if (speaks || this.#at >= clip.length) this.#at += 1;
    if (frame !== undefined) this.#client.sendFrame(frame);
  }

  #call(now: number): CallClient {
    const { address, start, kind } = this.#options;
    const client = new CallClient(address, {
      opened: () => {
        if (kind === 'no start') this.#drop(now + idleMs);
        else client.sendMessage({ type: 'start', version: kind === 'bad start' ? 99 : 1, ...start });
      },
      audio: () => this.#onAudio(performance.now()),
      message: (message) => this.#onMessage(message, performance.now()),
      closed: (reason) => this.#onClosed(reason),
    });
    return client;
  }

  #onMessage(message: Record<string, unknown>, now: number): void {
    switch (message['type']) {
      case 'started':
        this.#onStarted(now);
        return;
      case 'clear':
        this.#wasCleared = true;
        this.#frames = 1;
        return;
      case 'mark':
        this.#client?.sendMessage({ type: 'mark', id: message['id'] });
        return;
      case 'error':
        if (this.#options.kind === 'bad start') this.#end('as meant', '');
        else this.#end('failed', `error ${String(message['code'])}`);
    }
  }

  #onStarted(now: number): void {
    this.#isStarted = true;
    if (this.#options.kind === 'cut') {
      this.#drop(now + this.#options.prng.below(longestCutMs));
      return;
    }
    this.#until = now + answerWithinMs;
    this.#late = () => this.#hangUp(performance.now(), 'unanswered');
  }

  #onAudio(now: number): void {
    this.#frames += 1;
    const { kind, clip } = this.#options;
    const isAnswer = this.#wasCleared && this.#at >= clip.length;
    if (this.#isEnding || kind === 'cut' || (kind === 'talks' && !isAnswer)) return;
    if (this.#frames > heardFrames) this.#hangUp(now, 'as meant');
  }

  #hangUp(now: number, end: ShortCallEnd): void {
    this.#isEnding = true;
    this.#client?.sendMessage({ type: 'stop' });
    this.#until = now + endWithinMs;
    this.#late = () => this.#end('failed', 'it did not end');
    this.#endAs = end;
  }

  /** The connection breaks at that time, without a word. */
  #drop(at: number): void {
    this.#until = at;
    this.#late = () => this.#end('as meant', '');
  }

  #onClosed(reason: string): void {
    const { kind } = this.#options;
    if (reason.includes(' 503 ')) this.#end('refused', reason);
    else if (this.#isEnding && reason === 'closed with 1000') this.#end(this.#endAs, '');
    else if (kind === 'bad start') this.#end('as meant', '');
    else this.#end('failed', reason);
  }

  #knock(now: number): Socket {
    const { address, kind } = this.#options;
    const socket = connect({ ...address, noDelay: true });
    const whole =
      `GET / HTTP/1.1\r\nHost: ${address.host}:${address.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 12\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
    socket.on('error', () => this.#end('failed', 'no connection'));
    if (kind === 'half a request') {
      socket.write(whole.slice(0, 40));
      this.#drop(now + idleMs);
      return socket;
    }
    socket.write(whole);
    socket.once('data', (data) =>
      this.#end(data.includes(' 400 ') ? 'as meant' : 'failed', String(data.subarray(0, 30))),
    );
    return socket;
  }

  #end(end: ShortCallEnd, why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#client?.destroy();
    this.#raw?.destroy();
    this.#options.over(end, why);
  }
}

/**
 * A caller of the WebSocket call protocol, version 1 (docs/call-protocol.md): the client's side of one call.
 *
 * It behaves like a person with a telephone: the microphone never stops, the agent's audio plays in real time, marks are
 * echoed when their audio has really been played, and `clear` silences at once. Must not decide what to say or when to hang up.
 */
import type { WebSocket } from 'ws';
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';
import { decodeMulaw, encodeMulaw } from '../../../shared/audio/g711.ts';
import { int16View, writeInt16 } from '../../../shared/audio/pcm.ts';
import type { Timer } from '../../../shared/runtime/clock.ts';
import type { ToldMessage } from './call-conversation.ts';
import { CallPlayout } from './call-playout.ts';
import { decodeServerMessage, openCall, type CallerOptions, type StartedCall } from './call-wire.ts';

/** What happened in the call; `atMs` counts from `started`. `fault` is a breach of the protocol by the server. */
export type CallerEvent = { readonly atMs: Millis } & (
  | { readonly type: 'audio'; readonly durationMs: Millis }
  | { readonly type: 'frame-sent' }
  | { readonly type: 'clear'; readonly epoch: number; readonly droppedMs: Millis }
  | { readonly type: 'mark' | 'mark-played'; readonly id: string }
  | { readonly type: 'error'; readonly code: string; readonly message: string; readonly fatal: boolean }
  | { readonly type: 'stop'; readonly reason: 'ended' | 'shutdown' }
  | { readonly type: 'told'; readonly message: ToldMessage }
  | { readonly type: 'fault'; readonly rule: string }
  | { readonly type: 'closed'; readonly code: number }
);

/** How the call ended. `code` is the WebSocket close code, 1006 when the connection broke. */
export interface CallEnd {
  readonly code: number;
  readonly reason: 'ended' | 'shutdown' | undefined;
}

/** More than this unsent means that the server has stopped reading. */
const MAX_UNSENT_BYTES = 1024 * 1024;
/** A microphone this late (a machine that slept) skips ahead instead of catching up. */
const MAX_LATE_MS = 1000;

interface Speech {
  readonly pcm: Int16Array;
  at: number;
  startMs: Millis | undefined;
  readonly done: (span: { readonly startMs: Millis; readonly endMs: Millis } | undefined) => void;
}

/** One call. Made by {@link CallClient.connect}; over when `closed` resolves. */
export class CallClient {
  readonly callId: string;
  readonly closed: Promise<CallEnd>;
  readonly #options: CallerOptions;
  readonly #socket: WebSocket;
  readonly #listeners = new Set<(event: CallerEvent) => void>();
  readonly #playout: CallPlayout;
  readonly #startedAt: Millis;
  readonly #frame: Int16Array;
  #scratch = new Int16Array(0);
  #speech: Speech | undefined;
  #framesSent = 0;
  #microphone: Timer | undefined;
  #markTimer: Timer | undefined;
  #reason: CallEnd['reason'];
  #over = false;

  /** Connects, sends `start` and waits for `started`. Rejects with `CallRefused`. */
  static connect(options: CallerOptions, onEvent?: (event: CallerEvent) => void): Promise<CallClient> {
    return openCall(options, (call) => new CallClient(options, { ...call, onEvent }));
  }

  private constructor(
    options: CallerOptions,
    call: StartedCall & { readonly onEvent: ((event: CallerEvent) => void) | undefined },
  ) {
    const { sampleRate, prebufferMs } = options;
    this.#options = options;
    this.#socket = call.socket;
    this.callId = call.callId;
    if (call.onEvent !== undefined) this.#listeners.add(call.onEvent);
    this.#playout = new CallPlayout({ sampleRate, ...(prebufferMs === undefined ? {} : { prebufferMs }) });
    this.#startedAt = options.clock.now();
    this.#frame = new Int16Array((sampleRate * FRAME_MS) / 1000);
    this.#socket.on('message', (data: unknown, isBinary: boolean) => this.#received(data, isBinary));
    // The close event follows and carries what there is to know.
    this.#socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      this.#socket.on('close', (code: number) => {
        this.#ended(code);
        resolve({ code, reason: this.#reason });
      });
    });
    if (options.microphone !== false) this.#listen();
  }

  /** Milliseconds since `started`. */
  nowMs(): Millis {
    return this.#options.clock.now() - this.#startedAt;
  }

  /** Calls `listener` for every later event; gives the function that ends this. */
  on(listener: (event: CallerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves with the next event that fits; with undefined when the call is over first. */
  next<T extends CallerEvent>(fits: (event: CallerEvent) => event is T): Promise<T | undefined>;
  next(fits: (event: CallerEvent) => boolean): Promise<CallerEvent | undefined>;
  next(fits: (event: CallerEvent) => boolean): Promise<CallerEvent | undefined> {
    if (this.#over) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const off = this.on((event) => {
        const fitting = fits(event);
        if (!fitting && event.type !== 'closed') return;
        off();
        resolve(fitting ? event : undefined);
      });
    });
  }

  /** The agent's speech, and how it was played. */
  get playout(): CallPlayout {
    return this.#playout;
  }

  /** Everything the caller has heard since `started`, at the call's rate: silence where nothing played. */
  heard(): Int16Array {
    return this.#playout.heard(this.nowMs());
  }

  /**
   * Speaks: the samples (call's rate) go out in real time instead of silence, from the next frame on. Resolves with the
   * times at which the first and the last frame went out, or with undefined when the call ended before. One at a time.
   */
  say(pcm: Int16Array): Promise<{ readonly startMs: Millis; readonly endMs: Millis } | undefined> {
    if (this.#speech !== undefined) return Promise.reject(new Error('the caller is speaking already'));
    if (this.#over || pcm.length === 0) return Promise.resolve(undefined);
    return new Promise((done) => {
      this.#speech = { pcm, at: 0, startMs: undefined, done };
    });
  }

  /** When the current `say` began; undefined before its first frame and without one. */
  get speakingSinceMs(): Millis | undefined {
    return this.#speech?.startMs;
  }

  /** Sends audio at once, in the call's encoding. The samples are copied. */
  sendAudio(pcm: Int16Array): void {
    if (this.#over) return;
    const mulaw = this.#options.encoding === 'mulaw';
    const bytes = Buffer.allocUnsafe(pcm.length * (mulaw ? 1 : 2));
    if (mulaw) encodeMulaw(pcm, bytes);
    else writeInt16(pcm, bytes);
    this.#socket.send(bytes, noReport);
    if (this.#socket.bufferedAmount > MAX_UNSENT_BYTES) {
      this.#emit({ type: 'fault', rule: 'the server does not read the audio', atMs: this.nowMs() });
      this.#socket.terminate();
    }
  }

  sendDtmf(digit: string): void {
    this.#send({ type: 'dtmf', digit });
  }

  /** Types: a turn of the caller without a sound. */
  sendText(text: string): void {
    this.#send({ type: 'text', text });
  }

  /** Hangs up: sends `stop` and waits for the server to close; after `timeoutMs` cuts the connection. */
  async hangUp(timeoutMs: Millis = 3000): Promise<CallEnd> {
    this.#microphone?.cancel();
    this.#send({ type: 'stop' });
    const timer = this.#options.clock.after(timeoutMs, () => this.#socket.terminate());
    const end = await this.closed;
    timer.cancel();
    return end;
  }

  /** Cuts the connection without a word, as a lost network does. */
  abandon(): void {
    this.#socket.terminate();
  }

  #send(message: Readonly<Record<string, unknown>>): void {
    if (this.#over) return;
    this.#socket.send(JSON.stringify(message), noReport);
  }

  #received(data: unknown, isBinary: boolean): void {
    const atMs = this.nowMs();
    if (isBinary) {
      this.#hear(data, atMs);
      return;
    }
    const message = decodeServerMessage(String(data));
    if (message === undefined) return;
    if (typeof message === 'string') {
      this.#emit({ type: 'fault', rule: message, atMs });
      return;
    }
    switch (message.type) {
      case 'started': {
        this.#emit({ type: 'fault', rule: 'started came twice', atMs });
        return;
      }
      case 'clear':
        this.#echoMarks();
        this.#emit({ type: 'clear', epoch: message.epoch, droppedMs: this.#playout.clear(atMs), atMs });
        this.#armMarks();
        return;
      case 'mark':
        if (!this.#playout.mark(message.id)) {
          this.#emit({ type: 'fault', rule: 'too many marks', atMs });
          return;
        }
        this.#emit({ type: 'mark', id: message.id, atMs });
        this.#echoMarks();
        return;
      case 'stop':
        this.#reason = message.reason;
        this.#emit({ type: 'stop', reason: message.reason, atMs });
        return;
      case 'error': {
        this.#emit({ ...message, atMs });
        return;
      }
      default:
        this.#emit({ type: 'told', message, atMs });
    }
  }

  #hear(data: unknown, atMs: Millis): void {
    if (!Buffer.isBuffer(data)) return;
    const mulaw = this.#options.encoding === 'mulaw';
    if (!mulaw && data.length % 2 !== 0) {
      this.#emit({ type: 'fault', rule: 'a pcm16 frame must have an even byte count', atMs });
      return;
    }
    const length = mulaw ? data.length : data.length / 2;
    if (this.#scratch.length < length) this.#scratch = new Int16Array(length);
    if (mulaw) decodeMulaw(data, this.#scratch);
    const pcm = mulaw ? this.#scratch.subarray(0, length) : int16View(data, this.#scratch);
    if (!this.#playout.push(pcm, atMs)) {
      this.#emit({ type: 'fault', rule: 'audio must come in real time', atMs });
      return;
    }
    this.#emit({ type: 'audio', durationMs: (length * 1000) / this.#options.sampleRate, atMs });
  }

  /** Echoes the marks that are due, and waits for the next one. */
  #echoMarks(): void {
    const atMs = this.nowMs();
    for (const id of this.#playout.finishedMarks(atMs)) {
      this.#send({ type: 'mark', id });
      this.#emit({ type: 'mark-played', id, atMs });
    }
    this.#armMarks();
  }

  #armMarks(): void {
    this.#markTimer?.cancel();
    const next = this.#playout.nextMarkMs();
    if (next === undefined || this.#over) return;
    this.#markTimer = this.#options.clock.after(Math.max(0, next - this.nowMs()), () => this.#echoMarks());
  }

  /** The microphone: sends every frame that is due and sleeps until the next one. Frame k is due at k * 20 ms. */
  #listen(): void {
    if (this.#over) return;
    const nowMs = this.nowMs();
    if (nowMs - this.#framesSent * FRAME_MS > MAX_LATE_MS) this.#framesSent = Math.floor(nowMs / FRAME_MS);
    while (this.#framesSent * FRAME_MS <= nowMs && !this.#over) {
      this.#framesSent++;
      this.#sendFrame(nowMs);
    }
    const dueMs = this.#framesSent * FRAME_MS;
    this.#microphone = this.#options.clock.after(Math.max(0, dueMs - this.nowMs()), () => this.#listen());
  }

  #sendFrame(atMs: Millis): void {
    const frame = this.#frame.fill(0);
    const speech = this.#speech;
    if (speech !== undefined) {
      speech.startMs ??= atMs;
      frame.set(speech.pcm.subarray(speech.at, speech.at + frame.length));
      speech.at += frame.length;
    }
    this.sendAudio(frame);
    this.#emit({ type: 'frame-sent', atMs });
    if (speech === undefined || speech.at < speech.pcm.length || this.#speech !== speech) return;
    this.#speech = undefined;
    speech.done({ startMs: speech.startMs ?? atMs, endMs: atMs });
  }

  #ended(code: number): void {
    this.#over = true;
    this.#microphone?.cancel();
    this.#markTimer?.cancel();
    this.#speech?.done(undefined);
    this.#speech = undefined;
    this.#emit({ type: 'closed', code, atMs: this.nowMs() });
  }

  #emit(event: CallerEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** A failed write is followed by the socket's close event; nothing else is to be done about it. */
function noReport(): void {
  return;
}

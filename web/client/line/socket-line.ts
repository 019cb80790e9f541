/**
 * The WebSocket of one call: opens it with a token, sends messages and audio, and notices when the network takes nothing any more.
 *
 * Invariant: after `close` no listener is called. Microphone audio that the network does not take is dropped: late speech is worth
 * nothing.
 */
import type { ClientMessage } from '../wire.ts';
import type { Line, LineListener } from './line.ts';

const MAX_UNSENT_MS = 2_000;
const STUCK_MS = 10_000;
const ABNORMAL = 1006;

export class SocketLine implements Line {
  readonly #socket: WebSocket | undefined;
  #listener: LineListener | undefined;
  #slowSince: number | undefined;

  /** `url` is a WebSocket address. */
  constructor(url: string, token: string | undefined, listener: LineListener) {
    this.#listener = listener;
    try {
      // The token travels as a subprotocol, because a browser sets no header and an address ends up in logs.
      const socket =
        token === undefined ? new WebSocket(url) : new WebSocket(url, ['svc', `svc-token.${token}`]);
      socket.binaryType = 'arraybuffer';
      socket.onopen = () => this.#listener?.opened();
      socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.#listener?.received(event.data);
      socket.onclose = (event) => this.#listener?.closed(event.code);
      this.#socket = socket;
    } catch (error) {
      // An https page may not open a ws:// address; the browser throws instead of failing later.
      console.error('the socket was refused', error);
      queueMicrotask(() => this.#listener?.closed(ABNORMAL));
    }
  }

  /** False when the line is not open. */
  send(message: ClientMessage): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /** Sends a frame of PCM16. False when it was dropped. */
  sendAudio(pcm: Int16Array<ArrayBuffer>, sampleRate: number): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    if (this.#socket.bufferedAmount > (sampleRate * 2 * MAX_UNSENT_MS) / 1000) {
      this.#wait();
      return false;
    }
    if (this.#slowSince !== undefined) {
      this.#slowSince = undefined;
      this.#listener?.slow(false);
    }
    this.#socket.send(pcm);
    return true;
  }

  close(): void {
    this.#listener = undefined;
    this.#socket?.close(1000);
  }

  #wait(): void {
    const now = performance.now();
    if (this.#slowSince === undefined) {
      this.#slowSince = now;
      this.#listener?.slow(true);
    } else if (now - this.#slowSince > STUCK_MS) this.#listener?.stuck();
  }
}

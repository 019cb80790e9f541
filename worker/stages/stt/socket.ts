/** One WebSocket to a recogniser. */
import WebSocket from 'ws';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { StageContext, StageError } from '../stage.ts';
import { leave, openSocket } from '../vendor-socket.ts';
import type { Outgoing } from './wire.ts';

/** Results are a few kilobytes; an hour of text is far below this. */
const MAX_MESSAGE_BYTES = 1_048_576;

export interface Closing {
  /** Close code, 1006 when there was none. */
  readonly code: number;
  /** What the server gave as the reason; may hold anything, so it must not leave the adapter. */
  readonly reason: string;
  readonly error: StageError;
}

export interface SocketHandlers {
  opened(): void;
  text(text: string): void;
  /** The other side showed that it lives, without a message. */
  alive(): void;
  /** Exactly once and last, whatever happened. */
  closed(closing: Closing): void;
}

/** A way to a recogniser that may still be on its way to being one. */
export interface Connection {
  /** False also while the server's close is on its way here: a frame that is sent then would vanish unnoticed. */
  readonly isOpen: boolean;
  readonly bufferedBytes: number;
  send(message: Outgoing, sent: () => void): void;
  ping(): void;
  terminate(): void;
  /** Ends the session politely, and for good when the server does not answer. No handler is called any more. */
  leave(clock: Clock, lastWords: readonly Outgoing[]): void;
}

/** {@link openSocket} as a {@link Connection} on which results are text. */
export function dialSocket(
  url: URL,
  headers: Readonly<Record<string, string>>,
  { context, on }: { readonly context: StageContext; readonly on: SocketHandlers },
): Connection {
  let broken: StageError | undefined;
  const handlers = {
    opened: () => on.opened(),
    alive: () => on.alive(),
    message: (data: string | Buffer) => {
      if (typeof data === 'string') {
        on.text(data);
        return;
      }
      broken = { kind: 'protocol', rule: 'a server message is text' };
      socket.terminate();
    },
    closed: (code: number, reason: string, error: StageError = { kind: 'disconnected' }) =>
      on.closed({ code, reason, error: broken ?? error }),
  };
  const socket = openSocket({ url, headers, maxMessageBytes: MAX_MESSAGE_BYTES }, { context, on: handlers });
  return new SocketConnection(socket);
}

class SocketConnection implements Connection {
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(message: Outgoing, sent: () => void): void {
    // A callback also keeps a write that fails from throwing; the loss shows in `closed`.
    this.#socket.send(message, sent);
  }

  ping(): void {
    this.#socket.ping(undefined, undefined, () => undefined);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  leave(clock: Clock, lastWords: readonly Outgoing[]): void {
    leave(this.#socket, clock, lastWords);
  }
}

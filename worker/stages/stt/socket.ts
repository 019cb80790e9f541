/**
 * One WebSocket to a recogniser: opening it, naming what ended it, and leaving it.
 *
 * Invariant: `closed` comes exactly once and last, whatever happened. It must not put addresses, headers or payloads
 * into an error.
 */
import type { IncomingMessage } from 'node:http';
import WebSocket from 'ws';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { connectionError, dialerFor } from '../connect.ts';
import { readHandshakeRefusal } from '../handshake.ts';
import type { StageContext, StageError } from '../stage.ts';
import type { Outgoing } from './wire.ts';

/** Results are a few kilobytes; an hour of text is far below this. */
const MAX_MESSAGE_BYTES = 1_048_576;
/** How long a server may take to end the session, and then to answer the closing handshake. */
const GOODBYE_MS = 1_000;

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
  closed(closing: Closing): void;
}

/** A way to a recogniser that may still be on its way to being one. */
export interface Connection {
  /** False also while the server's close is on its way here: what is sent then would vanish unnoticed. */
  readonly isOpen: boolean;
  readonly bufferedBytes: number;
  send(message: Outgoing, sent: () => void): void;
  ping(): void;
  terminate(): void;
  /** Ends the session politely, and for good when the server does not answer. No handler is called any more. */
  leave(clock: Clock, lastWords: readonly Outgoing[]): void;
}

function openSocket(
  url: URL,
  headers: Readonly<Record<string, string>>,
  { context, on }: { readonly context: StageContext; readonly on: SocketHandlers },
): WebSocket {
  const socket = new WebSocket(url, {
    headers: { ...headers },
    agent: dialerFor(url),
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: MAX_MESSAGE_BYTES,
  });
  let error: StageError = { kind: 'disconnected' };
  const alive = context.bind(() => on.alive());
  socket.on(
    'open',
    context.bind(() => on.opened()),
  );
  socket.on('ping', alive);
  socket.on('pong', alive);
  socket.on(
    'message',
    context.bind((data: WebSocket.RawData, isBinary: boolean) => {
      if (!isBinary && Buffer.isBuffer(data)) {
        on.text(data.toString('utf8'));
        return;
      }
      error = { kind: 'protocol', rule: 'a server message is text' };
      socket.terminate();
    }),
  );
  socket.on(
    'unexpected-response',
    context.bind((_request: unknown, response: IncomingMessage) => {
      readHandshakeRefusal(response, context, (refusal) => {
        error = refusal;
        socket.terminate();
      });
    }),
  );
  // Also keeps an error after the end of the call from being an unhandled one.
  socket.on(
    'error',
    context.bind((cause: Error) => {
      const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
      if (code.startsWith('WS_ERR_')) error = { kind: 'protocol', rule: 'websocket framing' };
      else if (error.kind === 'disconnected') error = connectionError(cause);
    }),
  );
  socket.on(
    'close',
    context.bind((code: number, reason: Buffer) => on.closed({ code, reason: reason.toString(), error })),
  );
  return socket;
}

/** Leaves politely, and for good when the server does not answer. Runs on after the call ended, so it is not bound. */
function sayGoodbye(socket: WebSocket, clock: Clock): void {
  if (socket.readyState !== WebSocket.OPEN) {
    socket.terminate();
    return;
  }
  socket.close(1000);
  const timer = clock.after(GOODBYE_MS, () => socket.terminate());
  socket.once('close', () => timer.cancel());
}

/** {@link openSocket} as a {@link Connection}. */
export function dialSocket(
  url: URL,
  headers: Readonly<Record<string, string>>,
  scope: { readonly context: StageContext; readonly on: SocketHandlers },
): Connection {
  return new SocketConnection(openSocket(url, headers, scope));
}

class SocketConnection implements Connection {
  private readonly socket: WebSocket;

  constructor(socket: WebSocket) {
    this.socket = socket;
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  get bufferedBytes(): number {
    return this.socket.bufferedAmount;
  }

  send(message: Outgoing, sent: () => void): void {
    // A callback also keeps a write that fails from throwing; the loss shows in `closed`.
    this.socket.send(message, sent);
  }

  ping(): void {
    this.socket.ping(undefined, undefined, () => undefined);
  }

  terminate(): void {
    this.socket.terminate();
  }

  leave(clock: Clock, lastWords: readonly Outgoing[]): void {
    const { socket } = this;
    if (!this.isOpen || lastWords.length === 0) {
      sayGoodbye(socket, clock);
      return;
    }
    for (const message of lastWords) socket.send(message, () => undefined);
    const timer = clock.after(GOODBYE_MS, () => sayGoodbye(socket, clock));
    socket.once('close', () => timer.cancel());
  }
}

/**
 * One connection to a local recogniser: opening it, and naming what ended it.
 *
 * Invariant: `closed` comes exactly once and last, whatever happened. It must not put addresses, headers or payloads
 * into an error.
 */
import type { IncomingMessage } from 'node:http';
import WebSocket from 'ws';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { isSuccess } from '../http.ts';
import type { StageContext, StageError } from '../stage.ts';

/** Results are a few kilobytes; an hour of text is far below this. */
const MAX_MESSAGE_BYTES = 1_048_576;
/** How long a server may take to answer the closing handshake. */
const GOODBYE_MS = 1_000;

export interface Closing {
  /** Close code, 1006 when there was none. */
  readonly code: number;
  readonly error: StageError;
}

export interface SocketHandlers {
  opened(): void;
  text(text: string): void;
  closed(closing: Closing): void;
}

export function openSocket(
  url: URL,
  headers: Readonly<Record<string, string>>,
  { context, on }: { readonly context: StageContext; readonly on: SocketHandlers },
): WebSocket {
  const socket = new WebSocket(url, {
    headers: { ...headers },
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: MAX_MESSAGE_BYTES,
  });
  let error: StageError = { kind: 'disconnected' };
  socket.on(
    'open',
    context.bind(() => on.opened()),
  );
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
      const status = response.statusCode ?? 0;
      error = isSuccess(status)
        ? { kind: 'protocol', rule: 'the server speaks WebSocket' }
        : { kind: 'rejected', status };
      response.destroy();
      socket.terminate();
    }),
  );
  // Also keeps an error after the end of the call from being an unhandled one.
  socket.on(
    'error',
    context.bind((cause: Error) => {
      const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
      if (code.startsWith('WS_ERR_')) error = { kind: 'protocol', rule: 'websocket framing' };
    }),
  );
  socket.on(
    'close',
    context.bind((code: number) => on.closed({ code, error })),
  );
  return socket;
}

/** Leaves politely, and for good when the server does not answer. Runs on after the call ended, so it is not bound. */
export function sayGoodbye(socket: WebSocket, clock: Clock): void {
  if (socket.readyState !== WebSocket.OPEN) {
    socket.terminate();
    return;
  }
  socket.close(1000);
  const timer = clock.after(GOODBYE_MS, () => socket.terminate());
  socket.once('close', () => timer.cancel());
}

/**
 * One WebSocket to a recogniser or a voice: opening it, naming what ended it, and leaving it.
 *
 * Invariant: `closed` comes exactly once and last, whatever happened. It must not put addresses, headers or payloads
 * into an error.
 */
import WebSocket from 'ws';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../shared/runtime/clock.ts';
import { connectionError, dialerFor } from './connect.ts';
import type { StageContext, StageError } from './stage.ts';
import { causeInText, explained } from './failure.ts';
import { isSuccess, refusedWith } from './http.ts';

// The meaning of an HTTP answer that came where a WebSocket was asked for, with the vendor's words for it.

/** The body only says why; nobody waits long for it. */
const bodyMs = 300;
const mostBytes = 8_192;

/** Tells the error once, as soon as the answer's body is there or has had its time. */
function readHandshakeRefusal(
  response: IncomingMessage,
  context: StageContext,
  tell: (error: StageError) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  const end = context.bind(() => {
    if (isOver) return;
    isOver = true;
    timer.cancel();
    response.destroy();
    tell(errorOf(response, Buffer.concat(chunks).toString('utf8')));
  });
  const timer = context.clock.after(bodyMs, end);
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= mostBytes) chunks.push(chunk);
    else end();
  });
  response.on('end', end);
  response.on('error', end);
  response.on('close', end);
}

function errorOf({ statusCode = 0, headers }: IncomingMessage, body: string): StageError {
  if (isSuccess(statusCode)) return { kind: 'protocol', rule: 'the server speaks WebSocket' };
  const cause = causeInText(body);
  const told = headers['dg-error'];
  const text = typeof told === 'string' ? told : cause.text;
  const error = refusedWith(statusCode, headers['retry-after'], headers.date);
  return explained(error, { code: cause.code, text }, { beforeCall: true });
}

/** How long a server may take to end the session, and then to answer the closing handshake. */
const GOODBYE_MS = 1_000;

export interface SocketHandlers {
  opened(): void;
  message(data: string | Buffer): void;
  /** The other side showed that it lives, without a message. */
  alive(): void;
  /** `error` is absent when a close frame ended it; then the code and the reason tell. */
  closed(code: number, reason: string, error: StageError | undefined): void;
}

export interface SocketTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
}

export function openSocket(
  { url, headers, maxMessageBytes }: SocketTarget,
  { context, on }: { readonly context: StageContext; readonly on: SocketHandlers },
): WebSocket {
  const socket = new WebSocket(url, {
    headers: { ...headers },
    agent: dialerFor(url, context),
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: maxMessageBytes,
  });
  let error: StageError | undefined;
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
      if (Buffer.isBuffer(data)) on.message(isBinary ? data : data.toString('utf8'));
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
      error ??= code.startsWith('WS_ERR_')
        ? { kind: 'protocol', rule: 'websocket framing' }
        : connectionError(cause);
    }),
  );
  socket.on(
    'close',
    context.bind((code: number, reason: Buffer) => on.closed(code, reason.toString('utf8'), error)),
  );
  return socket;
}

/**
 * Leaves politely, and for good when the server does not answer. Runs on after the call ended, so it is not bound.
 *
 * @param lastWords Messages after which the server closes by itself; without any the close frame says it.
 */
export function leave(socket: WebSocket, clock: Clock, lastWords: readonly (string | Uint8Array)[]): void {
  if (socket.readyState !== WebSocket.OPEN) {
    socket.terminate();
    return;
  }
  socket.resume();
  for (const message of lastWords) socket.send(message, () => undefined);
  const closing = (): void => {
    socket.close(1000);
    timer = clock.after(GOODBYE_MS, () => socket.terminate());
  };
  let timer = clock.after(GOODBYE_MS, closing);
  socket.once('close', () => timer.cancel());
  if (lastWords.length > 0) return;
  timer.cancel();
  closing();
}

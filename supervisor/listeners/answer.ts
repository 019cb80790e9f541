/** HTTP answers instead of a call, and how they are given. */
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** `code` and `message` go into the JSON body. */
export interface Answer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterS?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Another supervisor serves, or is about to; a request cannot change hands as an upgrade does. */
export const restarting: Answer = {
  status: 503,
  code: 'restarting',
  message: 'the service is being restarted; ask again on a new connection',
  retryAfterS: 1,
};

/** Answers a request with a status, and closes. */
export function refuse(response: ServerResponse, { status, code, message, headers }: Answer): void {
  const body = errorBody(code, message);
  response.writeHead(status, { ...answerHeaders(body), ...headers, Connection: 'close' }).end(body);
}

/** Answers an upgrade with a status, and closes. Nothing is said about what the client sent. */
export function refuseUpgrade(socket: Duplex, answer: Answer): void {
  let bytes = written.get(answer);
  if (bytes === undefined) {
    bytes = Buffer.from(refusalText(answer), 'latin1');
    written.set(answer, bytes);
  }
  socket.end(bytes, () => socket.destroy());
}

/** Answers as they go over the wire. Most of them are few and constant, and a service that is full gives one hundreds of times a second. */
const written = new WeakMap<Answer, Buffer>();

function refusalText({ status, code, message, retryAfterS, headers: more }: Answer): string {
  const body = errorBody(code, message);
  const headers: Record<string, string> = { ...answerHeaders(body), ...more, Connection: 'close' };
  if (retryAfterS !== undefined) headers['Retry-After'] = String(retryAfterS);
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}

/** Headers of every answer with a JSON body. */
export const answerHeaders = (body: string): Readonly<Record<string, string>> => ({
  'Content-Type': 'application/json',
  'Content-Length': String(Buffer.byteLength(body)),
  'Cache-Control': 'no-store',
});

export const errorBody = (code: string, message: string): string => `${JSON.stringify({ code, message })}\n`;

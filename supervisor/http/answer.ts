/** HTTP answers instead of a call, and how they are given. */
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Answer } from './refusals.ts';

/** Answers a request with a status, and closes. */
export function refuse(response: ServerResponse, answer: Answer): void {
  const body = errorBody(answer);
  response
    .writeHead(answer.status, { ...answerHeaders(body), ...answer.headers, Connection: 'close' })
    .end(body);
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

function refusalText(answer: Answer): string {
  const { status, retryAfterS, headers: more } = answer;
  const body = errorBody(answer);
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

export const errorBody = (answer: Answer): string => `${JSON.stringify(answer, ['code', 'message'])}\n`;

/** A part of a path, such as the id of a call, which its client may have chosen; undefined for one that is not encoded as parts are. */
export function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/**
 * One request for an upgrade on a bare socket, and the whole HTTP answer as it came. For everything that a WebSocket client
 * would hide: bodies of refusals, headers of a 101, broken requests, other addresses of this machine.
 */
import { connect, type Socket } from 'node:net';

export interface KnockOptions {
  /** Default `/`. */
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent instead of a request. */
  readonly raw?: string | Buffer;
  /** An address of this machine to come from; default 127.0.0.1. */
  readonly from?: string;
}

export interface KnockAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Open after a 101, else closed. */
  readonly socket: Socket;
}

export const upgradeHeaders: Readonly<Record<string, string>> = {
  Host: 'localhost',
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

export function requestText(target: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ ...upgradeHeaders, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Resolves with a 101 at once, with any other answer when the server has closed. An empty answer has status 0. */
export function knock(port: number, options: KnockOptions = {}): Promise<KnockAnswer> {
  const { target = '/', headers = {}, raw, from = '127.0.0.1' } = options;
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  const request = raw ?? requestText(target, headers);
  socket.write(request);
  return new Promise((resolve) => {
    let text = '';
    const done = (): void => resolve({ ...parsed(text), socket });
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      if (/^HTTP\/1\.1 101 [^]*?\r\n\r\n/.test(text)) done();
    });
    // The end of a connection is read off `close`, whatever the reason.
    socket.on('error', () => undefined);
    socket.on('close', done);
  });
}

function parsed(text: string): Omit<KnockAnswer, 'socket'> {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, Math.max(0, end)).split('\r\n');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { status: Number(first.split(' ')[1] ?? 0), headers, body: text.slice(end + 4) };
}

/** Status, code of the body and `Retry-After`: what a refusal is about. */
export function refusalOf({ status, headers, body }: KnockAnswer): readonly unknown[] {
  const { code } = JSON.parse(body) as { readonly code: string };
  return [status, code, headers.get('retry-after')];
}

/**
 * Clients that send what no client should, from a seed: random bytes, broken HTTP, broken WebSocket frames after a good
 * upgrade. Each ends by itself in one of several ways, and is over when its socket is closed on both sides.
 */
import { connect, type Socket } from 'node:net';
import type { Prng } from '../../../shared/base/prng.ts';
import { requestText } from './knock.ts';

/** What a client sends, and how it leaves. */
interface Nuisance {
  readonly bytes: Buffer;
  readonly leaves: 'end' | 'reset' | 'destroy';
}

const count = (prng: Prng, most: number): number => 1 + prng.below(most);
const randomBytes = (prng: Prng, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => prng.below(256)));

/** Cut, doubled, overwritten or stretched at a few places. */
function damaged(prng: Prng, whole: Buffer): Buffer {
  let bytes = Buffer.from(whole);
  for (let left = count(prng, 4); left > 0; left -= 1) {
    const at = prng.below(bytes.length + 1);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    const middle = prng.pick([
      Buffer.alloc(0),
      randomBytes(prng, count(prng, 8)),
      Buffer.from(prng.pick(['\r\n', '\n', ':', ' ', '\0', '%', 'x'.repeat(count(prng, 10_000))])),
      before,
    ]);
    bytes = Buffer.concat([before, middle, after.subarray(prng.chance(0.5) ? prng.below(20) : 0)]);
  }
  return bytes.subarray(0, 64 * 1024);
}

const heads: readonly string[] = [
  requestText('/', {}),
  requestText('/?token=v1.e30.AA', { 'Sec-WebSocket-Protocol': 'svc, svc-token.x' }),
  requestText('/', { 'Content-Length': '5', 'Transfer-Encoding': 'chunked' }),
  'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
];

const brokenHttp = (prng: Prng): Buffer => damaged(prng, Buffer.from(prng.pick(heads)));

const startText = '{"type":"start","version":1,"sample_rate":16000}';
const texts: readonly string[] = [
  startText,
  '{"type":"dtmf","digit":"1"}',
  '{"type":"mark","id":"m"}',
  '{"type":"stop"}',
  '{"type":{}}',
  '[[[[[[',
  '',
];

/** A frame whose header lies about anything: flags, opcode, mask, length. */
function brokenFrame(prng: Prng): Buffer {
  const payload = prng.chance(0.5) ? Buffer.from(prng.pick(texts)) : randomBytes(prng, count(prng, 300));
  const first = prng.chance(0.5) ? prng.pick([0x81, 0x82, 0x88, 0x89, 0x8a]) : prng.below(256);
  const length = prng.chance(0.6) ? Math.min(payload.length, 125) : prng.below(128);
  const masked = prng.chance(0.8) ? 0x80 : 0;
  const extended = prng.chance(0.2) ? randomBytes(prng, 8) : Buffer.alloc(0);
  const mask = masked === 0 ? Buffer.alloc(0) : Buffer.alloc(4);
  return Buffer.concat([Buffer.from([first, masked | length]), extended, mask, payload]);
}

function brokenCall(prng: Prng): Buffer {
  const start = Buffer.from(startText);
  const good = Buffer.concat([Buffer.from([0x81, 0x80 | start.length, 0, 0, 0, 0]), start]);
  const frames = Array.from({ length: count(prng, 12) }, () => brokenFrame(prng));
  return Buffer.concat([Buffer.from(heads[0] ?? ''), ...(prng.chance(0.5) ? [good] : []), ...frames]);
}

const kinds = {
  'random bytes': (prng: Prng) => randomBytes(prng, count(prng, 2_000)),
  'broken HTTP': brokenHttp,
  'broken frames': brokenCall,
} as const;
export type NuisanceKind = keyof typeof kinds;

export const nuisance = (prng: Prng, kind: NuisanceKind): Nuisance => ({
  bytes: kinds[kind](prng),
  leaves: prng.pick(['end', 'end', 'reset', 'destroy']),
});

/** Sends it, leaves as it says, and resolves when the connection is gone. `end` waits for the server to close as well. */
export function annoy(port: number, { bytes, leaves }: Nuisance): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' });
  return new Promise((resolve) => {
    // A server that resets a connection is right to do so here.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume();
    if (leaves === 'end') socket.end(bytes);
    else socket.write(bytes, () => (leaves === 'reset' ? socket.resetAndDestroy() : socket.destroy()));
  });
}

/** A connection that is made and says nothing; `gone` resolves when the server has closed it. */
export function sayNothing(port: number): { readonly made: Promise<void>; readonly gone: Promise<void> } {
  const socket: Socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.resume();
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const made = new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  return { made: Promise.race([made, gone]), gone };
}

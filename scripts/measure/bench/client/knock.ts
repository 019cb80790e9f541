/** Asks for calls as somebody does who does not know that the service is full or on its way out, and notes the answers. */
import { connect, createServer, type AddressInfo } from 'node:net';
import { Distribution, type Summary } from '../report/statistics.ts';
import { CallClient } from './client.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface Knock {
  /** Of the HTTP answer; 0 when there was none. */
  readonly status: number;
  readonly hasRetryAfter: boolean;
  /** From the first step of connecting to the whole answer. */
  readonly ms: number;
}

const giveUpMs = 20_000;

/** One upgrade. A call that it opens is cut at once. */
export function knock(address: Address): Promise<Knock> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const socket = connect({ ...address, noDelay: true });
    let text = '';
    const done = (): void => {
      const head = text.split('\r\n\r\n', 1)[0] ?? '';
      const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? 0);
      resolve({
        status,
        hasRetryAfter: /\r\nretry-after: \d/i.test(head),
        ms: performance.now() - startedAt,
      });
      socket.destroy();
    };
    socket.setTimeout(giveUpMs, done);
    socket.on('error', done);
    socket.on('close', done);
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (text.includes('\r\n\r\n')) done();
    });
    socket.write(
      `GET / HTTP/1.1\r\nHost: ${address.host}:${address.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
  });
}

const practiceKnocks = 3_000;
const practiceTogether = 50;

/**
 * Knocks at a door of its own until this process does it as fast as it will: what is measured afterwards is the service, as far
 * as two processes on the same cores can be told apart.
 */
export async function practise(): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end('HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n\r\n'));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  for (let done = 0; done < practiceKnocks; done += practiceTogether)
    await Promise.all(Array.from({ length: practiceTogether }, () => knock(address)));
  server.close();
}

export interface KnockSummary {
  readonly asked: number;
  /** How often each status came; `0` stands for no answer. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly withRetryAfter: number;
  readonly times: Summary;
}

export function summarise(knocks: readonly Knock[]): KnockSummary {
  const times = new Distribution();
  const statuses: Record<string, number> = {};
  for (const { ms, status } of knocks) {
    times.add(ms);
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return {
    asked: knocks.length,
    statuses,
    withRetryAfter: knocks.filter(({ hasRetryAfter }) => hasRetryAfter).length,
    times: times.summary(),
  };
}

/** Does something again and again, without waiting for it, until told to stop; resolves with all outcomes. */
export async function stream<T>(everyMs: number, ask: () => Promise<T>, isOver: () => boolean): Promise<T[]> {
  const asked: Promise<T>[] = [];
  const startedAt = performance.now();
  while (!isOver()) {
    asked.push(ask());
    const nextAt = startedAt + asked.length * everyMs;
    await new Promise((resolve) => setTimeout(resolve, Math.max(1, nextAt - performance.now())));
  }
  return Promise.all(asked);
}

export interface BriefCall {
  /** `ended` when it began and ended as it should; else what went wrong. */
  readonly outcome: string;
  /** Until the service said `started`; NaN when it did not. */
  readonly startedMs: number;
}

/** A call that hangs up as soon as it has begun. */
export function briefCall(address: Address, start: object): Promise<BriefCall> {
  return new Promise((resolve) => {
    const askedAt = performance.now();
    let startedMs = Number.NaN;
    const done = (outcome: string): void => {
      clearTimeout(timer);
      client.destroy();
      resolve({ outcome, startedMs });
    };
    const timer = setTimeout(() => done('no end in time'), giveUpMs);
    const client = new CallClient(address, {
      opened: () => client.sendMessage({ type: 'start', version: 1, ...start }),
      audio: () => undefined,
      message: ({ type }) => {
        if (type !== 'started') return;
        startedMs = performance.now() - askedAt;
        client.sendMessage({ type: 'stop' });
      },
      closed: (reason) => done(reason === 'closed with 1000' && startedMs > 0 ? 'ended' : reason),
    });
  });
}

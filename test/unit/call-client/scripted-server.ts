/** The world of the caller's tests: a scripted server on a real socket, and a clock that moves when it is told to. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { Clock } from '../../../shared/runtime/clock.ts';

export type Wire = Record<string, unknown> & { type: string };

/** One call as the server sees it: what came in, in order, and a way to wait for it. */
export interface Peer {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  readonly received: (Wire | Buffer)[];
  send(message: Wire): void;
  /** Sends loud frames of 20 ms at 16 kHz PCM16, as one message: no stall of the machine comes between them. */
  speak(frames: number): void;
  /** Resolves with the first message, old or new, that fits. */
  message(fits: (message: Wire) => boolean): Promise<Wire>;
  /** Resolves with the first audio frame, old or new, that fits. */
  audio(fits: (bytes: Buffer) => boolean): Promise<Buffer>;
}

export interface ScriptedServer {
  readonly url: string;
  close(): Promise<void>;
}

export const isLoud = (bytes: Buffer): boolean => bytes.length >= 2 && Math.abs(bytes.readInt16LE(0)) > 1000;
export const loud = (frames: number): Buffer => Buffer.from(new Int16Array(320 * frames).fill(6000).buffer);

export async function listen(script: (peer: Peer) => unknown): Promise<ScriptedServer> {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  sockets.on('connection', (socket, request) => {
    const peer = newPeer(socket, request);
    void script(peer);
  });
  return { url: await addressOf(http), close: () => closeAll(http, sockets) };
}

/** A server that answers every upgrade with the given bytes. */
export async function refuseWith(answer: string): Promise<ScriptedServer> {
  const http = createServer();
  http.on('upgrade', (_request, socket: Duplex) => socket.end(answer));
  return { url: await addressOf(http), close: () => closeAll(http) };
}

async function addressOf(http: Server): Promise<string> {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return `ws://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

async function closeAll(http: Server, sockets?: WebSocketServer): Promise<void> {
  for (const client of sockets?.clients ?? []) client.terminate();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
}

function newPeer(socket: WebSocket, request: IncomingMessage): Peer {
  const received: (Wire | Buffer)[] = [];
  const waiting = new Set<() => void>();
  socket.on('message', (data, isBinary) => {
    received.push(isBinary ? (data as Buffer) : (JSON.parse((data as Buffer).toString()) as Wire));
    for (const look of waiting) look();
  });
  const first = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return {
    socket,
    request,
    received,
    send: (message) => socket.send(JSON.stringify(message)),
    speak: (frames) => socket.send(loud(frames)),
    message: (fits) => first(() => received.find((m): m is Wire => !Buffer.isBuffer(m) && fits(m))),
    audio: (fits) => first(() => received.find((m): m is Buffer => Buffer.isBuffer(m) && fits(m))),
  };
}

/** Accepts the call as it was asked for. */
export async function start(peer: Peer): Promise<Wire> {
  const message = await peer.message((m) => m.type === 'start');
  const { sample_rate, encoding } = message;
  peer.send({ type: 'started', version: 1, call_id: message['call_id'] ?? 'made-up', sample_rate, encoding });
  return message;
}

/** Answers the caller's `stop`. */
export async function hangUpWhenAsked(peer: Peer): Promise<void> {
  await peer.message((m) => m.type === 'stop');
  peer.send({ type: 'stop', reason: 'ended' });
  peer.socket.close(1000);
}

export interface TestClock extends Clock {
  advance(ms: number): void;
}

export function newTestClock(): TestClock {
  let nowMs = 1000;
  let timers: { readonly at: number; readonly callback: () => void }[] = [];
  return {
    now: () => nowMs,
    after: (delayMs, callback) => {
      const timer = { at: nowMs + delayMs, callback };
      timers.push(timer);
      return { cancel: () => (timers = timers.filter((other) => other !== timer)) };
    },
    advance: (ms) => {
      const until = nowMs + ms;
      for (;;) {
        const due = timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        timers = timers.filter((timer) => timer !== due);
        nowMs = Math.max(nowMs, due.at);
        due.callback();
      }
      nowMs = until;
    },
  };
}

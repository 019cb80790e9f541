/**
 * The service side of the call page's tests: serves the built page under a strict policy and plays whatever the test says.
 *
 * Invariant: nothing here answers on its own; every message to the page is an order of a test.
 */
import { build } from 'esbuild';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type WebSocket, WebSocketServer } from 'ws';

export const RATE = 16_000;
const WEB = fileURLToPath(new URL('../../web/', import.meta.url));
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.js': 'text/javascript',
  '.json': 'application/json',
};
const policy = (scripts: string): string =>
  `default-src 'none'; script-src ${scripts}; style-src 'self'; img-src 'self'; connect-src 'self'`;

/** A second of silence, a second and a half of a syllable-like buzz, and silence. */
export function callerWav(): Buffer {
  const samples = new Int16Array(RATE * 6);
  for (let index = RATE; index < RATE * 2.5; index += 1) {
    const seconds = index / RATE;
    const syllable = 0.55 + 0.45 * Math.sin(2 * Math.PI * 4 * seconds);
    let buzz = 0;
    for (let harmonic = 1; harmonic <= 12; harmonic += 1) {
      buzz += Math.sin(2 * Math.PI * 140 * harmonic * seconds) / harmonic;
    }
    samples[index] = Math.round(buzz * syllable * 9_000);
  }
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.byteLength, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(RATE * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}

/** One 20 ms frame of a tone. */
function toneFrame(rate: number): Buffer {
  const frame = Int16Array.from(
    { length: rate / 50 },
    (_, i) => 6_000 * Math.sin((2 * Math.PI * 400 * i) / rate),
  );
  return Buffer.from(frame.buffer);
}

export function levelOf(frame: Buffer): number {
  let squares = 0;
  for (let at = 0; at < frame.length; at += 2) squares += (frame.readInt16LE(at) / 32_768) ** 2;
  return Math.sqrt(squares / (frame.length / 2));
}

/** The service side of one call, as the test plays it. */
export class Peer {
  readonly messages: Record<string, unknown>[] = [];
  readonly audio: Buffer[] = [];
  closeCode: number | undefined;
  readonly protocols: string | undefined;
  readonly #socket: WebSocket;
  readonly #watchers = new Set<() => void>();

  /** `protocols` are the subprotocols that the page offered. */
  constructor(socket: WebSocket, protocols: string | undefined) {
    this.#socket = socket;
    this.protocols = protocols;
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.audio.push(data);
      else this.messages.push(JSON.parse(data.toString()) as Record<string, unknown>);
      this.#look();
    });
    socket.on('close', (code) => {
      this.closeCode = code;
      this.#look();
    });
  }

  send(message: Record<string, unknown>): void {
    this.#socket.send(JSON.stringify(message));
  }

  frames(count: number): void {
    for (let sent = 0; sent < count; sent += 1) this.#socket.send(toneFrame(this.rate));
  }

  close(code: number): void {
    this.#socket.close(code);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  get rate(): number {
    return Number(this.messages[0]?.['sample_rate'] ?? RATE);
  }

  /** Ids of the marks that the page echoed. */
  get echoes(): unknown[] {
    return this.messages.filter((message) => message['type'] === 'mark').map((message) => message['id']);
  }

  has(type: string): boolean {
    return this.messages.some((message) => message['type'] === type);
  }

  /** Resolves when the page has sent what makes `condition` true. */
  until(condition: (peer: Peer) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const watcher = (): void => {
        if (!condition(this)) return;
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
      watcher();
    });
  }

  async start(): Promise<void> {
    await this.until((peer) => peer.has('start'));
    this.send({ type: 'started', version: 1, call_id: 'c-1', sample_rate: this.rate, encoding: 'pcm16' });
  }

  #look(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}

/** Serves the built page under a strict policy, and WebSocket calls on the same port. */
export class ScriptedService {
  readonly #dist: string;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'svc' });
  /** Status with which upgrades are refused. */
  refuseWith: number | undefined;
  /** Where the page gets tokens, and the status with which it gets none. */
  token: string | null = null;
  refuseTokenWith: number | undefined;
  #waiting: ((peer: Peer) => void) | undefined;

  /** `scripts` are the sources of scripts that the policy of its pages allows. */
  constructor(dist: string, { scripts } = { scripts: "'self'" }) {
    this.#dist = dist;
    this.#server = createServer((request, response) => {
      const path = new URL(request.url ?? '/', 'http://localhost').pathname;
      const file = path === '/' ? '/index.html' : path;
      response.setHeader('Content-Security-Policy', policy(scripts));
      response.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream');
      if (file === '/config.json') response.end(JSON.stringify({ agent: 'corner-shop', token: this.token }));
      else if (file === '/token') this.#giveToken(response);
      else if (file === '/ws') response.writeHead(this.refuseWith ?? 426).end();
      else if (!existsSync(join(this.#dist, file))) response.writeHead(404).end();
      else response.end(readFileSync(join(this.#dist, file)));
    });
    this.#server.on('upgrade', (request, socket, head) => {
      if (this.refuseWith !== undefined) {
        socket.end(`HTTP/1.1 ${this.refuseWith} Refused\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (accepted) => {
        const peer = new Peer(accepted, request.headers['sec-websocket-protocol']);
        this.#waiting?.(peer);
        this.#waiting = undefined;
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get pageUrl(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  #giveToken(response: ServerResponse): void {
    if (this.refuseTokenWith === undefined) response.end(JSON.stringify({ token: 'the-token' }));
    else response.writeHead(this.refuseTokenWith).end();
  }

  nextCall(): Promise<Peer> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  async close(): Promise<void> {
    for (const client of this.#sockets.clients) client.terminate();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export async function buildPage(dist: string): Promise<void> {
  await build({
    entryPoints: ['app', 'client/worklets'].map((entry) => join(WEB, `${entry}.ts`)),
    entryNames: '[name]',
    outdir: dist,
    bundle: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  });
  for (const name of ['index.html', 'style.css', 'icon.svg']) {
    writeFileSync(join(dist, name), readFileSync(join(WEB, name)));
  }
}

/** Builds the element for other pages as the build does. */
export async function buildWidget(dist: string): Promise<void> {
  const script = `import { buildWidget } from './scripts/build/widget.mjs'; await buildWidget(${JSON.stringify(join(dist, 'widget.js'))});`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
  });
}

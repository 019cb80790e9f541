/** What the fakes of streaming voices have in common: a real WebSocket server with scriptable faults. */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { Observed } from '../process/observed.ts';

export interface FakeVoiceConnection {
  readonly headers: IncomingHttpHeaders;
  readonly url: URL;
  readonly socket: WebSocket;
  readonly raw: Duplex;
  readonly messages: Record<string, unknown>[];
  closed: number | undefined;
}

export abstract class FakeVoice extends Observed {
  readonly connections: FakeVoiceConnection[] = [];
  /** Answers upgrades with this status. */
  refuseWith: { status: number; headers?: string } | undefined;
  /** Takes upgrades and never answers them. */
  mute = false;
  /** Hears and does not answer. */
  deaf = false;
  /** Sends that many bytes after the handshake and cuts. */
  cutAfterBytes: number | undefined;
  /** Bytes sent after the handshake. */
  sentBytes = 0;
  samplesPerChar = 240;
  attempts = 0;
  private readonly http: Server;
  private readonly raws: Duplex[] = [];

  constructor() {
    super();
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
    this.http = createServer((_request, response) => response.writeHead(404).end());
    this.http.on('upgrade', (request, raw, head) => {
      this.attempts += 1;
      this.raws.push(raw);
      raw.on('error', () => undefined);
      if (this.refuseWith !== undefined) {
        const { status, headers = '' } = this.refuseWith;
        raw.end(`HTTP/1.1 ${status} Refused\r\n${headers}Content-Length: 0\r\n\r\n`);
      } else if (!this.mute) {
        sockets.handleUpgrade(request, raw, head, (socket) => {
          const url = new URL(request.url ?? '/', 'ws://fake');
          this.count(raw);
          this.accept({ headers: request.headers, url, socket, raw, messages: [], closed: undefined });
        });
      }
      this.changed();
    });
  }

  get address(): string {
    return `ws://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  get last(): FakeVoiceConnection {
    return this.connections.at(-1)!;
  }

  get messages(): Record<string, unknown>[] {
    return this.connections.flatMap((connection) => connection.messages);
  }

  start(): Promise<void> {
    return new Promise((resolve) => this.http.listen(0, '127.0.0.1', () => resolve()));
  }

  close(): Promise<void> {
    for (const raw of this.raws) raw.destroy();
    return new Promise((resolve) => this.http.close(() => resolve()));
  }

  protected abstract hear(connection: FakeVoiceConnection, message: Record<string, unknown>): void;

  /** Samples that count up, so that a test sees what is missing. */
  protected pcm(text: string): Buffer {
    const bytes = Buffer.alloc(text.length * this.samplesPerChar * 2);
    for (let i = 0; i < bytes.length / 2; i += 1) bytes.writeInt16LE((i % 30_000) + 1, i * 2);
    return bytes;
  }

  private accept(connection: FakeVoiceConnection): void {
    this.connections.push(connection);
    connection.socket.on('error', () => undefined);
    connection.socket.on('close', (code) => {
      connection.closed = code;
      this.changed();
    });
    connection.socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString('utf8')) as Record<string, unknown>;
      connection.messages.push(message);
      if (!this.deaf) this.hear(connection, message);
      this.changed();
    });
    this.changed();
  }

  private count(raw: Duplex): void {
    const write = raw.write.bind(raw) as (chunk: Buffer, ...rest: unknown[]) => boolean;
    raw.write = (chunk: Buffer | string, ...rest: unknown[]) => {
      const bytes = Buffer.from(chunk as Buffer);
      const left = (this.cutAfterBytes ?? Number.POSITIVE_INFINITY) - this.sentBytes;
      this.sentBytes += bytes.length;
      if (bytes.length < left) return write(bytes, ...rest);
      if (left > 0) write(bytes.subarray(0, left));
      raw.end();
      return false;
    };
  }
}

/**
 * A caller on a bare socket: decides what goes into one packet, may stop reading, and keeps the answer as bytes.
 *
 * Invariant: frames are masked as a client's must be; nothing is answered by itself, pings included.
 */
import { connect, type Socket } from 'node:net';
import { Observed } from '../support/process/observed.ts';

export type WireMessage = Readonly<Record<string, unknown>>;

/** A client frame masked with zeros. */
export function clientFrame(opcode: 1 | 2 | 8, payload: string | Buffer): Buffer {
  const body = Buffer.from(payload);
  const long = body.length >= 126;
  const head = Buffer.from([0x80 | opcode, 0x80 | (long ? 126 : body.length)]);
  const length = Buffer.alloc(long ? 2 : 0);
  if (long) length.writeUInt16BE(body.length);
  return Buffer.concat([head, length, Buffer.alloc(4), body]);
}

export const textFrame = (message: WireMessage): Buffer => clientFrame(1, JSON.stringify(message));
export const audioFrame = (bytes: number): Buffer => clientFrame(2, Buffer.alloc(bytes));
export const startFrame = (sampleRate = 16_000, callId?: string): Buffer =>
  textFrame({ type: 'start', version: 1, sample_rate: sampleRate, ...(callId && { call_id: callId }) });

const upgradeTo = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

export class RawCaller extends Observed {
  readonly socket: Socket;
  /** Status line and headers of the HTTP answer. */
  head: string | undefined;
  readonly messages: WireMessage[] = [];
  audioBytes = 0;
  closeCode: number | undefined;
  /** The server has ended or reset the connection. */
  gone = false;
  #rest = Buffer.alloc(0);

  /** `early` goes out in one packet with the upgrade. `to` is a port of this machine, or a socket made in another way. */
  constructor(to: number | Socket, early: Buffer = Buffer.alloc(0), { path } = { path: '/' }) {
    super();
    this.socket = typeof to === 'number' ? connect({ port: to, host: '127.0.0.1' }) : to;
    this.socket.setNoDelay(true);
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.gone = true;
      this.changed();
    });
    this.socket.on('data', (bytes) => {
      this.#rest = Buffer.concat([this.#rest, bytes]);
      this.#read();
      this.changed();
    });
    this.socket.write(Buffer.concat([Buffer.from(upgradeTo(path)), early]));
  }

  get status(): number {
    return Number(this.head?.split(' ')[1]);
  }

  /** Messages of a type. */
  of(type: string): WireMessage[] {
    return this.messages.filter((message) => message['type'] === type);
  }

  async received(type: string, count = 1): Promise<void> {
    await this.until(() => this.gone || this.of(type).length >= count);
  }

  async closed(): Promise<void> {
    await this.until(() => this.gone);
  }

  send(...frames: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  #read(): void {
    if (this.head === undefined) {
      const end = this.#rest.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.head = this.#rest.toString('latin1', 0, end);
      this.#rest = this.#rest.subarray(end + 4);
    }
    if (this.status !== 101) return;
    for (;;) {
      const rest = this.#rest;
      if (rest.length < 2) return;
      const long = rest[1] === 126;
      if (long && rest.length < 4) return;
      const at = long ? 4 : 2;
      const length = long ? rest.readUInt16BE(2) : (rest[1] ?? 0);
      if (rest.length < at + length) return;
      this.#take((rest[0] ?? 0) & 0x0f, rest.subarray(at, at + length));
      this.#rest = rest.subarray(at + length);
    }
  }

  #take(opcode: number, body: Buffer): void {
    if (opcode === 2) this.audioBytes += body.length;
    else if (opcode === 8) this.closeCode = body.length < 2 ? 1005 : body.readUInt16BE(0);
    else if (opcode === 1) this.messages.push(JSON.parse(body.toString()) as WireMessage);
  }
}

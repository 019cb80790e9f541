/**
 * A lean WebSocket client of the call protocol: hundreds of them fit into one process. Frames to send are made once and written
 * as they are; of received audio only the fact is kept. It speaks to our own service only, so it checks little.
 */
import { connect, type Socket } from 'node:net';

const opcode = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface ClientEvents {
  opened(): void;
  audio(payload: Buffer): void;
  message(message: Record<string, unknown>): void;
  /** The answer to a ping. */
  ponged?(payload: Buffer): void;
  /** The connection is gone; once. `reason` tells why when it was refused. */
  closed(reason: string): void;
}

/** A complete client frame, masked as the protocol wants it. */
export function clientFrame(code: number, payload: Uint8Array): Buffer {
  const long = payload.length >= 126;
  const head = long ? 8 : 6;
  const frame = Buffer.alloc(head + payload.length);
  frame[0] = 0x80 | code;
  frame[1] = 0x80 | (long ? 126 : payload.length);
  if (long) frame.writeUInt16BE(payload.length, 2);
  const mask = [0x37, 0xfa, 0x21, 0x3d];
  frame.set(mask, head - 4);
  for (let i = 0; i < payload.length; i += 1) frame[head + i] = (payload[i] ?? 0) ^ (mask[i & 3] ?? 0);
  return frame;
}

export const audioFrame = (payload: Uint8Array): Buffer => clientFrame(opcode.binary, payload);
export const textFrame = (message: object): Buffer =>
  clientFrame(opcode.text, Buffer.from(JSON.stringify(message)));

export class CallClient {
  readonly #socket: Socket;
  readonly #events: ClientEvents;
  #open = false;
  #over = false;
  #rest: Buffer = Buffer.alloc(0);

  constructor(
    address: { host: string; port: number },
    events: ClientEvents,
    { path, headers }: { path: string; headers: Readonly<Record<string, string>> } = {
      path: '/',
      headers: {},
    },
  ) {
    this.#events = events;
    this.#socket = connect({ ...address, noDelay: true });
    this.#socket.on('connect', () => {
      const key = 'dGhlIHNhbXBsZSBub25jZQ==';
      this.#socket.write(
        `GET ${path} HTTP/1.1\r\nHost: ${address.host}:${address.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n` +
          `${Object.entries(headers)
            .map(([name, value]) => `${name}: ${value}\r\n`)
            .join('')}\r\n`,
      );
    });
    this.#socket.on('data', (chunk) => this.#read(chunk));
    this.#socket.on('error', (error) => this.#end(error.message));
    this.#socket.on('close', () => this.#end('connection closed'));
  }

  get isOpen(): boolean {
    return this.#open && !this.#over;
  }

  /** Writes frames of {@link audioFrame}. */
  sendFrame(frame: Buffer): void {
    if (this.isOpen) this.#socket.write(frame);
  }

  sendMessage(message: object): void {
    this.sendFrame(textFrame(message));
  }

  ping(payload: string): void {
    this.sendFrame(clientFrame(opcode.ping, Buffer.from(payload)));
  }

  /** Leaves in the kernel what comes from the service, or takes it again. */
  setReading(reading: boolean): void {
    if (reading) this.#socket.resume();
    else this.#socket.pause();
  }

  destroy(): void {
    this.#over = true;
    this.#socket.destroy();
  }

  #end(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#socket.destroy();
    this.#events.closed(reason);
  }

  #read(chunk: Buffer): void {
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    if (!this.#open) {
      const end = data.indexOf('\r\n\r\n');
      this.#rest = data;
      if (end < 0) return;
      const status = data.toString('latin1', 0, data.indexOf('\r\n'));
      if (!status.includes(' 101 ')) {
        this.#end(status);
        return;
      }
      data = data.subarray(end + 4);
      this.#open = true;
      this.#events.opened();
    }
    this.#rest = data.subarray(this.#readFrames(data));
  }

  /** Returns how many bytes were whole frames. */
  #readFrames(data: Buffer): number {
    let at = 0;
    while (data.length - at >= 2) {
      const first = data[at] ?? 0;
      const short = (data[at + 1] ?? 0) & 0x7f;
      const head = short < 126 ? 2 : 4;
      if (short === 127 || (first & 0x80) === 0) {
        this.#end('a frame that the service never sends');
        return data.length;
      }
      if (data.length - at < head) break;
      const length = short < 126 ? short : data.readUInt16BE(at + 2);
      if (data.length - at < head + length) break;
      this.#take(first & 0x0f, data.subarray(at + head, at + head + length));
      at += head + length;
    }
    return at;
  }

  #take(code: number, payload: Buffer): void {
    if (code === opcode.binary) this.#events.audio(payload);
    else if (code === opcode.text)
      this.#events.message(JSON.parse(payload.toString()) as Record<string, unknown>);
    else if (code === opcode.ping) this.sendFrame(clientFrame(opcode.pong, payload));
    else if (code === opcode.pong) this.#events.ponged?.(payload);
    else if (code === opcode.close)
      this.#end(`closed with ${payload.length >= 2 ? payload.readUInt16BE(0) : 1005}`);
  }
}

/**
 * A real HTTP server that serves WebSocket calls with a recording engine, and two kinds of clients: `ws`, and a raw
 * socket that decides what goes into one packet. Time is virtual: the test moves it and ticks.
 */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { WsCallLimits } from '../../../shared/protocol/call.ts';
import { usualCallLimits } from '../../support/call-limits.ts';
import type { CallStart, CallTransport, TransportEvents } from '../../../worker/transports/transport.ts';
import { callSocketServerOptions } from '../../../worker/transports/socket/call-socket.ts';
import type { ConnectionJournal } from '../../../worker/transports/socket/connection-journal.ts';
import type { NewDialect } from '../../../worker/transports/socket/dialect.ts';
import { websocketDialect } from '../../../worker/transports/websocket/dialect.ts';
import { openSocketCalls } from '../../../worker/transports/socket/socket-call.ts';

export interface EngineCall {
  readonly transport: CallTransport;
  /** What the engine was told, in order: `started`, `audio 640`, `dtmf 5`, `mark m1`, `ended hangup`. */
  readonly log: string[];
  readonly starts: CallStart[];
  readonly audio: Buffer[];
  /** How many more bytes of audio the engine takes. */
  room: number;
  socketClosed: boolean;
  /** Pings and pongs of the client that the call has already seen. */
  controlFrames: number;
  /** Bytes of the client that the call has already seen. */
  readBytes: number;
}

export interface CallServerSettings {
  readonly limits?: Partial<WsCallLimits>;
  readonly signedMetadata?: Readonly<Record<string, string>>;
  /** What the engine does with a start; accepts when not given. */
  readonly onStart?: (transport: CallTransport) => void;
  readonly onAudio?: (transport: CallTransport) => void;
  /** Whether the engine takes this audio now; by its room when not given. */
  readonly takes?: (bytes: Uint8Array, now: number) => boolean;
  /** What is written down for the worker that comes after a death; nothing when not given. */
  readonly journal?: ConnectionJournal;
  /** Told of each key, before the call goes on. */
  readonly onKey?: (digit: string) => void;
  /** Whether an agent process gets what the client's program says; not, when not given. */
  readonly hears?: boolean;
  /** How calls are spoken; by the WebSocket protocol, when not given. */
  readonly dialect?: NewDialect;
}

export class CallServer {
  readonly calls: EngineCall[] = [];
  readonly #http: Server;
  readonly #waiting: (() => boolean)[] = [];
  now = 1_000;

  constructor(settings: CallServerSettings) {
    const limits = { ...usualCallLimits, ...settings.limits };
    const upgrader = new WebSocketServer(callSocketServerOptions(limits));
    this.#http = createServer();
    this.#http.on('upgrade', (request, socket, head) => {
      upgrader.handleUpgrade(request, socket, head, (ws) => {
        const call: Omit<EngineCall, 'transport'> & { transport: CallTransport | undefined } = {
          transport: undefined,
          log: [],
          starts: [],
          audio: [],
          room: Infinity,
          socketClosed: false,
          controlFrames: 0,
          readBytes: 0,
        };
        const opened = call as EngineCall;
        call.transport = openSocketCalls(settings.dialect ?? websocketDialect)(
          ws,
          this.#events(opened, settings),
          {
            limits: limits,
            journal: settings.journal,
            signedMetadata: settings.signedMetadata ?? {},
            now: () => this.now,
            newCallId: () => `made-up-${this.calls.length}`,
            bind: (callback) => callback,
            socketClosed: () => {
              opened.socketClosed = true;
              this.changed();
            },
            faultSent: (code, fatal) => opened.log.push(`fault ${code}${fatal ? ' fatal' : ''}`),
          },
        );
        const countFrame = (): void => {
          opened.controlFrames += 1;
          this.changed();
        };
        ws.on('ping', countFrame);
        ws.on('pong', countFrame);
        const { readHook } = ws;
        ws.readHook = (chunk) => {
          readHook?.(chunk);
          opened.readBytes += chunk.length;
          this.changed();
        };
        this.calls.push(opened);
        this.changed();
      });
    });
  }

  #events(call: EngineCall, settings: CallServerSettings): TransportEvents {
    const note = (line: string): void => {
      call.log.push(line);
      this.changed();
    };
    return {
      started: (start) => {
        call.starts.push(start);
        note('started');
        (settings.onStart ?? ((transport: CallTransport) => transport.accept()))(call.transport);
      },
      audio: (bytes) => {
        settings.onAudio?.(call.transport);
        if (bytes.byteLength > call.room || settings.takes?.(bytes, this.now) === false) return false;
        call.room -= bytes.byteLength;
        call.audio.push(Buffer.from(bytes));
        note(`audio ${bytes.byteLength}`);
        return true;
      },
      messaged: ({ name, id, data }) => {
        note(`message ${name} ${id} ${JSON.stringify(data)}`);
        return settings.hears ?? false;
      },
      dtmf: (digit) => {
        settings.onKey?.(digit);
        note(`dtmf ${digit}`);
      },
      typed: () => undefined,
      markPlayed: (id) => note(`mark ${id}`),
      ended: (reason) => note(`ended ${reason}`),
    };
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  get call(): EngineCall {
    return this.calls.at(-1)!;
  }

  /** Moves virtual time and ticks every call, in steps of at most 20 ms. */
  advance(durationMs: number): void {
    const end = this.now + durationMs;
    while (this.now < end) {
      this.now = Math.min(this.now + 20, end);
      for (const call of this.calls) call.transport.tick(this.now);
    }
  }

  changed(): void {
    for (const check of [...this.#waiting]) {
      if (check()) this.#waiting.splice(this.#waiting.indexOf(check), 1);
    }
  }

  /** Resolves when the condition holds; looked at whenever the server side changed. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): boolean => {
        if (!condition()) return false;
        resolve();
        return true;
      };
      if (!check()) this.#waiting.push(check);
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve));
    return this;
  }

  close(): void {
    this.#http.close();
    this.#http.closeAllConnections();
  }
}

type Frame = Readonly<Record<string, unknown>>;

/** A client that keeps what it received: text messages parsed, audio as buffers, and how the connection ended. */
export class CallClient {
  readonly ws: WebSocket;
  readonly messages: Frame[] = [];
  readonly audio: Buffer[] = [];
  pings = 0;
  readonly closed: Promise<number>;
  readonly #changed: (() => void)[] = [];

  constructor(port: number, options: { readonly autoPong?: boolean } = {}) {
    this.ws = new WebSocket(`ws://127.0.0.1:${port}/any/path`, { perMessageDeflate: false, ...options });
    this.ws.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.audio.push(data);
      else this.messages.push(JSON.parse(data.toString()) as Frame);
      for (const check of this.#changed) check();
    });
    this.ws.on('ping', () => {
      this.pings += 1;
      for (const check of this.#changed) check();
    });
    this.ws.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.ws.on('close', (code) => resolve(code)));
  }

  opened(): Promise<void> {
    return new Promise((resolve) => this.ws.on('open', resolve));
  }

  send(message: Frame): void {
    this.ws.send(JSON.stringify(message));
  }

  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (condition()) resolve();
      };
      this.#changed.push(check);
      check();
    });
  }

  received(type: string): Promise<void> {
    return this.until(() => this.messages.some((message) => message['type'] === type));
  }
}

export const startMessage: Frame = { type: 'start', version: 1, sample_rate: 16_000 };

/** Client frames as bytes, masked with zeros, for raw sockets. */
export function clientFrame(opcode: number, payload: string | Buffer): Buffer {
  const body = Buffer.from(payload);
  const head =
    body.length < 126
      ? Buffer.from([0x80 | opcode, 0x80 | body.length])
      : Buffer.from([0x80 | opcode, 0x80 | 126, body.length >> 8, body.length & 0xff]);
  return Buffer.concat([head, Buffer.alloc(4), body]);
}

export const textFrame = (message: Frame): Buffer => clientFrame(1, JSON.stringify(message));
export const closeFrame = (code: number): Buffer => clientFrame(8, Buffer.from([code >> 8, code & 0xff]));

/** A raw socket after the upgrade; `bytes` is everything that came after the HTTP answer. */
export class RawClient {
  readonly socket: Socket;
  bytes = Buffer.alloc(0);
  readonly upgraded: Promise<void>;
  readonly ended: Promise<void>;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('error', () => undefined);
    this.socket.write(
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    this.ended = new Promise((resolve) => {
      this.socket.on('end', resolve);
      this.socket.on('close', () => resolve());
    });
    this.upgraded = new Promise((resolve) => {
      this.socket.on('data', (chunk) => {
        this.bytes = Buffer.concat([this.bytes, chunk]);
        const head = this.bytes.indexOf('\r\n\r\n');
        if (!this.bytes.toString('latin1').startsWith('HTTP/1.1 101') || head < 0) return;
        this.bytes = this.bytes.subarray(head + 4);
        resolve();
      });
    });
  }

  /** The frames that the server sent: text parsed, a close frame as its code. */
  frames(): (Frame | number)[] {
    const frames: (Frame | number)[] = [];
    let rest = this.bytes;
    while (rest.length >= 2) {
      const opcode = rest[0]! & 0x0f;
      const isLong = rest[1] === 126;
      const length = isLong ? rest.readUInt16BE(2) : rest[1]!;
      const body = rest.subarray(isLong ? 4 : 2, (isLong ? 4 : 2) + length);
      if (opcode === 8) frames.push(body.length < 2 ? 1005 : body.readUInt16BE(0));
      else if (opcode === 1) frames.push(JSON.parse(body.toString()) as Frame);
      rest = rest.subarray((isLong ? 4 : 2) + length);
    }
    return frames;
  }
}

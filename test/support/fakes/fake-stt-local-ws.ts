/**
 * A local streaming recogniser in its two flavours, on a real socket. It hears the texts of `utterances` one after the
 * other, a word for every 300 ms of audio, and can be told to misbehave in the ways such servers do.
 */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { cutBytes } from '../audio/byte-cut.ts';
import type { ByteCut } from '../audio/byte-cut.ts';
import { Observed } from '../process/observed.ts';

const SAMPLES_PER_WORD = 4_800;

export interface FakeSttConnection {
  readonly headers: IncomingHttpHeaders;
  readonly socket: WebSocket;
  /** Text messages in order; anything but `Done` would break a real server. */
  readonly texts: string[];
  /** Sizes in samples of the binary messages. */
  readonly frames: number[];
  /** The samples of the utterance that is being heard. */
  samples: number;
  /** Every sample that came, for tests that look at values. */
  readonly audio: number[];
  words: string[];
  segment: number;
  said: string;
  /** Code of the close, once closed. */
  closed: number | undefined;
  /** Audio came for a stream that had been told to end: a real server dies of it. */
  died: boolean;
  finishing: boolean;
}

export interface FakeSttOptions {
  readonly flavour: 'cpp' | 'python';
  /** Default 0: chosen by the system. */
  readonly port?: number;
}

export class FakeSttLocalWs extends Observed {
  readonly connections: FakeSttConnection[] = [];
  /** What the next utterances say. */
  readonly utterances: string[] = [];
  /** Answers upgrades with this status instead of accepting them. */
  refuseWith: number | undefined;
  /** Takes upgrades and never answers them. */
  mute = false;
  /** Hears, but never answers the end marker. */
  ignoreDone = false;
  /** Sends the last result, but no `Done!`. */
  withholdDone = false;
  /** Upgrades asked for. */
  attempts = 0;
  readonly cut: ByteCut;
  private readonly options: FakeSttOptions;
  private readonly http: Server;
  private readonly upgraded: Duplex[] = [];
  private readonly sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });

  constructor(options: FakeSttOptions) {
    super();
    this.options = options;
    this.http = createServer((_request, response) => response.writeHead(404).end());
    this.cut = cutBytes(this.http);
    this.http.on('upgrade', (request, socket, head) => {
      this.attempts += 1;
      this.upgraded.push(socket);
      socket.on('error', () => undefined);
      if (this.refuseWith !== undefined) {
        socket.end(`HTTP/1.1 ${this.refuseWith} Refused\r\nHint: busy\r\nContent-Length: 0\r\n\r\n`);
      } else if (!this.mute) {
        this.sockets.handleUpgrade(request, socket, head, (peer) => this.accept(peer, request.headers));
      }
      this.changed();
    });
  }

  get baseUrl(): string {
    return `ws://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  /** The newest connection. */
  get last(): FakeSttConnection {
    const connection = this.connections.at(-1);
    if (connection === undefined) throw new Error('no connection yet');
    return connection;
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.http.once('error', reject);
      this.http.listen(this.options.port ?? 0, '127.0.0.1', () => resolve());
    });
  }

  close(): Promise<void> {
    for (const socket of this.upgraded) socket.destroy();
    this.http.closeAllConnections();
    return new Promise((resolve) => this.http.close(() => resolve()));
  }

  /** The server's own endpoint fires: the segment ends without having been asked to. */
  endpoint(connection = this.last): void {
    if (this.options.flavour === 'cpp') this.result(connection, { isFinal: true });
    connection.segment += 1;
    connection.said = '';
    connection.words = [];
    connection.samples = 0;
    if (this.options.flavour === 'python') this.result(connection, {});
  }

  private accept(socket: WebSocket, headers: IncomingHttpHeaders): void {
    const connection: FakeSttConnection = {
      headers,
      socket,
      texts: [],
      frames: [],
      samples: 0,
      audio: [],
      words: [],
      segment: 0,
      said: '',
      closed: undefined,
      died: false,
      finishing: false,
    };
    this.connections.push(connection);
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      connection.closed = code;
      this.changed();
    });
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.hear(connection, data);
      else this.read(connection, data.toString('utf8'));
      this.changed();
    });
    this.changed();
  }

  private hear(connection: FakeSttConnection, data: Buffer): void {
    if (connection.finishing || data.length % 4 !== 0) {
      connection.died = true;
      connection.socket.terminate();
      return;
    }
    if (connection.words.length === 0) connection.words = (this.utterances.shift() ?? '').split(' ');
    for (let at = 0; at < data.length; at += 4) connection.audio.push(data.readFloatLE(at));
    connection.frames.push(data.length / 4);
    connection.samples += data.length / 4;
    const words = Math.min(connection.words.length, Math.floor(connection.samples / SAMPLES_PER_WORD));
    connection.said = connection.words.slice(0, words).join(' ');
    this.result(connection, {});
  }

  private read(connection: FakeSttConnection, text: string): void {
    connection.texts.push(text);
    if (text !== 'Done' && this.options.flavour === 'python') connection.socket.close(1011);
    if (text !== 'Done' || this.ignoreDone) return;
    connection.finishing = true;
    connection.said = connection.words.join(' ');
    if (this.options.flavour === 'python') {
      this.result(connection, {});
      connection.socket.close(1000);
      return;
    }
    this.result(connection, { isFinal: true, isEof: true });
    if (!this.withholdDone) this.sayDone(connection);
  }

  /** The end marker of the flavour that keeps its connection; a fresh stream follows. */
  sayDone(connection = this.last): void {
    connection.socket.send('Done!');
    connection.finishing = false;
    connection.words = [];
    connection.samples = 0;
    connection.segment = 0;
    connection.said = '';
  }

  private result(connection: FakeSttConnection, { isFinal = false, isEof = false }): void {
    const { said, segment, socket } = connection;
    if (this.options.flavour === 'python') {
      socket.send(JSON.stringify({ text: said, segment }));
      return;
    }
    const tokens = said === '' ? [] : said.split(' ').map((word) => ` ${word}`);
    const result = { text: tokens.join(''), tokens, timestamps: [], segment, start_time: 0 };
    socket.send(JSON.stringify({ ...result, is_final: isFinal, is_eof: isEof }));
  }
}

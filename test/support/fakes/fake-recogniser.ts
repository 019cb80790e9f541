/**
 * What the fakes of streaming recognisers share: a WebSocket server on a real port that hears the texts of `utterances`
 * one after the other, a word for every 300 ms of audio, and can be told to fail in every way that a network can.
 */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { cutBytes } from '../audio/byte-cut.ts';
import type { ByteCut } from '../audio/byte-cut.ts';
import { Observed } from '../process/observed.ts';
import { selfSigned } from '../self-signed.ts';

const MS_PER_WORD = 300;

/** Words of an utterance may say who speaks them, as in `good@B evening@B`. */
export const spokenIn = (said: string): { readonly text: string; readonly speaker: string | undefined }[] =>
  said === ''
    ? []
    : said.split(' ').map((word) => {
        const [text = '', speaker] = word.split('@');
        return { text, speaker };
      });

export const textOf = (said: string): string =>
  spokenIn(said)
    .map(({ text }) => text)
    .join(' ');

/** A connection as its server sees it. */
export class HeardConnection {
  readonly socket: WebSocket;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  /** Text messages in order, decoded where they are JSON objects. */
  readonly texts: Record<string, unknown>[] = [];
  /** Sizes in milliseconds of the pieces of audio. */
  readonly pieces: number[] = [];
  /** Samples of all audio. */
  readonly samples: number[] = [];
  /** Code of the close, once closed. */
  closed: number | undefined;
  pings = 0;
  utterance = 0;
  /** Absent between utterances. */
  words: readonly string[] | undefined;
  heardMs = 0;
  /** Length of all audio, and where in it the last speech ended. */
  audioMs = 0;
  spokenToMs = 0;
  said = '';
  /** What the client was told of it so far. */
  told = '';

  constructor(socket: WebSocket, request: IncomingMessage) {
    this.socket = socket;
    this.url = new URL(request.url ?? '/', 'ws://fake');
    this.headers = request.headers;
  }

  reply(message: unknown): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Text messages of one type. */
  of(type: string): Record<string, unknown>[] {
    return this.texts.filter((text) => text['type'] === type);
  }
}

export interface FakeRecogniserOptions {
  /** Hz of the audio. */
  readonly sampleRate?: number;
  /** With a certificate that nobody signed, for clients that insist on TLS. */
  readonly tls?: boolean;
}

export abstract class FakeRecogniser extends Observed {
  readonly connections: HeardConnection[] = [];
  /** What the next utterances say. */
  readonly utterances: string[] = [];
  /** Answers upgrades with this status instead of accepting them. */
  refuseWith: number | undefined;
  /** Value of the `Retry-After` header of such an answer. */
  retryAfter: string | undefined;
  /** Takes upgrades and never answers them. */
  mute = false;
  /** Hears, but never answers a finalize. */
  ignoreFinalize = false;
  /** Upgrades asked for. */
  attempts = 0;
  readonly cut: ByteCut;
  protected readonly sampleRate: number;
  protected readonly http: Server;
  private readonly tls: boolean;
  private readonly upgraded: Duplex[] = [];
  private readonly sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });

  constructor({ sampleRate = 16_000, tls = false }: FakeRecogniserOptions = {}) {
    super();
    this.sampleRate = sampleRate;
    this.tls = tls;
    const answer = (request: IncomingMessage, response: ServerResponse): void =>
      this.request(request, response);
    this.http = tls ? createTlsServer(selfSigned(), answer) : createServer(answer);
    this.cut = cutBytes(this.http);
    this.http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.attempts += 1;
      this.upgraded.push(socket);
      socket.on('error', () => undefined);
      if (this.refuseWith !== undefined) socket.end(this.refusal(this.refuseWith));
      else if (!this.mute) {
        this.sockets.handleUpgrade(request, socket, head, (peer) => this.accept(peer, request));
      }
      this.changed();
    });
  }

  get host(): string {
    return `127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  get baseUrl(): string {
    return `${this.tls ? 'wss' : 'ws'}://${this.host}`;
  }

  /** The newest connection. */
  get last(): HeardConnection {
    const connection = this.connections.at(-1);
    if (connection === undefined) throw new Error('no connection yet');
    return connection;
  }

  start(port = 0): Promise<void> {
    return new Promise((resolve, reject) => {
      this.http.once('error', reject);
      this.http.listen(port, '127.0.0.1', () => resolve());
    });
  }

  close(): Promise<void> {
    for (const socket of this.upgraded) socket.destroy();
    this.http.closeAllConnections();
    return new Promise((resolve) => this.http.close(() => resolve()));
  }

  /** Neither reads nor answers from here on, not even a ping; the other side gets no sign of it. */
  goDeaf(connection = this.last): void {
    connection.socket.pause();
  }

  /** The first messages of the protocol. */
  protected abstract greet(connection: HeardConnection): void;
  protected abstract onText(connection: HeardConnection, message: Record<string, unknown>): void;
  /** Says what has been heard so far. */
  protected abstract sayPartial(connection: HeardConnection): void;
  /** Says the whole utterance, and that it is over. */
  protected abstract sayFinal(connection: HeardConnection, asked: boolean): void;

  /** The server's own endpoint fires: the utterance ends without having been asked to. */
  endpoint(connection = this.last): void {
    this.finish(connection, false);
  }

  protected request(_request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(404).end();
  }

  protected hear(connection: HeardConnection, pcm: Buffer): void {
    const ms = (pcm.length / 2 / this.sampleRate) * 1000;
    for (let at = 0; at + 1 < pcm.length; at += 2) connection.samples.push(pcm.readInt16LE(at));
    connection.pieces.push(ms);
    connection.audioMs += ms;
    connection.spokenToMs = connection.audioMs;
    connection.words ??= (this.utterances.shift() ?? '').split(' ');
    connection.heardMs += ms;
    const count = Math.min(connection.words.length, Math.floor(connection.heardMs / MS_PER_WORD));
    const said = connection.words.slice(0, count).join(' ');
    if (said === connection.said) return;
    connection.said = said;
    this.sayPartial(connection);
    connection.told = said;
  }

  protected finish(connection: HeardConnection, asked: boolean): void {
    if (asked && this.ignoreFinalize) return;
    connection.said = connection.words?.join(' ') ?? '';
    this.sayFinal(connection, asked);
    connection.words = undefined;
    connection.said = '';
    connection.told = '';
    connection.heardMs = 0;
    connection.utterance += 1;
  }

  protected refusal(status: number): string {
    const advice = this.retryAfter === undefined ? '' : `Retry-After: ${this.retryAfter}\r\n`;
    return `HTTP/1.1 ${status} Refused\r\n${advice}Content-Length: 0\r\n\r\n`;
  }

  private accept(socket: WebSocket, request: IncomingMessage): void {
    const connection = new HeardConnection(socket, request);
    this.connections.push(connection);
    socket.on('error', () => undefined);
    socket.on('ping', () => {
      connection.pings += 1;
      this.changed();
    });
    socket.on('close', (code) => {
      connection.closed = code;
      this.changed();
    });
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.hear(connection, data);
      else {
        const message = JSON.parse(data.toString('utf8')) as Record<string, unknown>;
        connection.texts.push(message);
        this.onText(connection, message);
      }
      this.changed();
    });
    this.greet(connection);
    this.changed();
  }
}

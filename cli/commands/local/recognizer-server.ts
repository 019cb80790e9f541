/**
 * The recogniser's WebSocket server: the protocol of sherpa-onnx's C++ online server, which `stt_local_ws` speaks.
 *
 * A client sends mono float32 samples at 16 kHz and, when the speech is over, the text `Done`; it gets results as JSON, and
 * `Done!` behind the last. Invariant: at most two seconds of a connection's audio wait in memory, beyond that its socket is
 * not read; audio between `Done` and `Done!`, which ends the C++ server, closes only its own connection.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';
import type { Hearing, HearingStream } from './hearing.ts';
import type { Recognition } from './messages.ts';
import { recognizerRate } from './sherpa.ts';

const maxFrameBytes = 1_048_576;
const mostWaitingSamples = 2 * recognizerRate;
const mostUnreadBytes = 1_048_576;
const pingEveryMs = 20_000;
const closeGoingAway = 1001;
const closeProtocol = 1002;
const closeInvalid = 1007;
const closeFailed = 1011;

export interface RecognizerServerOptions {
  readonly hearing: Hearing;
  readonly maxStreams: number;
  readonly clock: Clock;
}

export interface RecognizerServer {
  readonly http: Server;
  readonly streams: number;
  /** Utterances whose last words are on their way. */
  readonly finishing: number;
  /** Tells the clients that the server goes away. */
  close(): void;
}

/** The result message, with every field that such a server sends. */
function resultMessage(result: Recognition): string {
  return JSON.stringify({
    text: result.text,
    tokens: result.tokens,
    timestamps: result.timestamps,
    ys_probs: [],
    lm_probs: [],
    context_scores: [],
    segment: result.segment,
    words: [],
    start_time: result.startTimeS,
    is_final: result.isFinal,
    is_eof: result.isEof,
  });
}

const toBuffer = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? Buffer.from(data) : data;

/** A copy at an aligned place; a sample that is no number is silence. */
function samplesOf(bytes: Buffer): Float32Array {
  const samples = new Float32Array(bytes.length / 4);
  for (let i = 0; i < samples.length; i += 1) {
    const sample = bytes.readFloatLE(4 * i);
    samples[i] = Number.isFinite(sample) ? Math.max(-1, Math.min(1, sample)) : 0;
  }
  return samples;
}

class Connection {
  readonly #socket: WebSocket;
  readonly #hearing: Hearing;
  #stream: HearingStream | undefined;
  #waiting = 0;
  isFinishing = false;
  isAlive = true;

  constructor(socket: WebSocket, hearing: Hearing) {
    this.#socket = socket;
    this.#hearing = hearing;
    socket.on('message', (data, isBinary) => this.#take(toBuffer(data), isBinary));
    socket.on('pong', () => {
      this.isAlive = true;
    });
    socket.on('close', () => this.#stream?.drop());
    socket.on('error', () => socket.terminate());
  }

  /** Asks for a sign of life; a client that gave none since the last time is gone. */
  ping(): void {
    if (!this.isAlive) {
      this.#socket.terminate();
      return;
    }
    this.isAlive = false;
    this.#socket.ping();
  }

  close(): void {
    this.#socket.close(closeGoingAway, 'the server stops');
  }

  #take(bytes: Buffer, isBinary: boolean): void {
    this.isAlive = true;
    if (isBinary) {
      if (this.isFinishing) this.#socket.close(closeProtocol, 'audio between Done and Done!');
      else if (bytes.length % 4 !== 0) this.#socket.close(closeInvalid, 'samples are 32-bit floats');
      else if (bytes.length > 0) this.#hear(samplesOf(bytes));
      return;
    }
    if (bytes.toString('utf8') !== 'Done' || this.isFinishing) return;
    if (this.#stream === undefined) {
      this.#say('Done!');
      return;
    }
    this.isFinishing = true;
    this.#stream.finish();
  }

  #hear(samples: Float32Array): void {
    this.#stream ??= this.#hearing.open({
      heard: (result) => this.#say(resultMessage(result)),
      taken: (count) => this.#taken(count),
      finished: () => {
        this.#stream?.drop();
        this.#stream = undefined;
        this.isFinishing = false;
        this.#say('Done!');
      },
      lost: () => this.#lost(),
    });
    if (this.#stream === undefined) {
      this.#lost();
      return;
    }
    this.#waiting += samples.length;
    if (this.#waiting > mostWaitingSamples) this.#socket.pause();
    this.#stream.audio(samples);
  }

  /** A client that talks and never reads is cut off. */
  #say(text: string): void {
    if (this.#socket.bufferedAmount > mostUnreadBytes) this.#socket.terminate();
    else this.#socket.send(text);
  }

  #taken(count: number): void {
    this.#waiting -= count;
    if (this.#socket.isPaused && this.#waiting <= mostWaitingSamples / 2) this.#socket.resume();
  }

  #lost(): void {
    this.#stream = undefined;
    this.#socket.resume();
    this.#socket.close(closeFailed, 'the recogniser is not running');
  }
}

/** Browsers name the page that asks. No page has business here, and one from anywhere could ask. */
function refusal(request: IncomingMessage, isFull: boolean): string | undefined {
  if (request.headers.origin !== undefined) return '403 Forbidden';
  return isFull ? '503 Service Unavailable' : undefined;
}

/** The server, not yet listening. */
export function newRecognizerServer({
  hearing,
  maxStreams,
  clock,
}: RecognizerServerOptions): RecognizerServer {
  const connections = new Set<Connection>();
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const http = createServer((_request, response) => {
    response.writeHead(426, { connection: 'close' }).end();
  });
  http.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const refused = refusal(request, connections.size >= maxStreams);
    if (refused !== undefined) {
      socket.end(`HTTP/1.1 ${refused}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (peer) => {
      const connection = new Connection(peer, hearing);
      connections.add(connection);
      peer.on('close', () => connections.delete(connection));
    });
  });
  let timer: Timer;
  const pingAll = (): void => {
    for (const connection of connections) connection.ping();
    timer = clock.after(pingEveryMs, pingAll);
  };
  timer = clock.after(pingEveryMs, pingAll);
  return {
    http,
    get streams() {
      return connections.size;
    },
    get finishing() {
      return [...connections].filter(({ isFinishing }) => isFinishing).length;
    },
    close: () => {
      timer.cancel();
      http.close();
      for (const connection of connections) connection.close();
    },
  };
}

/**
 * A speech server as the contract suite of voices wants one: it speaks in samples that count up, misbehaves as told, and
 * takes only requests with exactly the fields that it knows. A warm-up hangs here, as on a server that loads its model.
 */
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { FakeRequest } from './fake-http.ts';
import { reply } from './fake-http.ts';
import { FakeSpeech, refuse, speech, wav } from './fake-speech.ts';
import { Observed } from '../process/observed.ts';

export interface SpeechServerTraits {
  /** Every field of a request but `input`. */
  readonly fields: Readonly<Record<string, string | number | boolean>>;
  /** The text of a warm-up, which is neither answered nor counted. */
  readonly warmText?: string;
}

/** A request that is no warm-up. */
interface Held {
  readonly request: FakeRequest;
  closed: number | undefined;
}

export class FakeSpeechVoice extends Observed {
  readonly connections: Held[] = [];
  /** Answers requests with this status and these lines of a header. */
  refuseWith: { status: number; headers?: string } | undefined;
  /** Stands at an address whose TLS handshake nobody answers. */
  mute = false;
  /** Takes requests and does not answer. */
  deaf = false;
  /** Sends that many bytes and cuts. */
  cutAfterBytes: number | undefined;
  sentBytes = 0;
  samplesPerChar = 240;
  private readonly traits: SpeechServerTraits;
  private readonly http = new FakeSpeech((request) => this.hear(request));
  private readonly silent = createServer((socket) => this.keep(socket));
  private readonly sockets = new Set<Socket>();
  private readonly silentSockets = new Set<Socket>();
  private readonly counted = new WeakSet<Socket>();

  constructor(traits: SpeechServerTraits) {
    super();
    this.traits = traits;
  }

  /** Connections that carried a text of a call, or that wait for a handshake. */
  get attempts(): number {
    return new Set(this.connections.map(({ request }) => request.connection)).size + this.silentSockets.size;
  }

  get messages(): Record<string, unknown>[] {
    return this.connections.map(({ request }) => request.body);
  }

  get address(): string {
    return this.mute
      ? `https://127.0.0.1:${(this.silent.address() as AddressInfo).port}/v1`
      : this.http.baseUrl;
  }

  /** What a test does to a WebSocket, done to the last request and to the connections. */
  get last(): {
    readonly closed: number | undefined;
    readonly socket: { send(text: string): void; terminate(): void };
    readonly raw: { destroy(): void };
  } {
    const { request } = this.connections.at(-1)!;
    const terminate = (): void => {
      for (const socket of this.sockets) socket.destroy();
    };
    return {
      closed: this.sockets.size === 0 ? 1006 : undefined,
      socket: {
        send: (text) => reply({ headers: { 'content-type': 'application/json' }, chunks: [text] })(request),
        terminate,
      },
      raw: { destroy: terminate },
    };
  }

  async start(): Promise<void> {
    await this.http.start();
    await new Promise<void>((resolve) => this.silent.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    for (const socket of this.silentSockets) socket.destroy();
    await new Promise((resolve) => this.silent.close(resolve));
    await this.http.close();
  }

  private hear(request: FakeRequest): void {
    this.count(request);
    if (request.body['input'] === this.traits.warmText) return;
    const held: Held = { request, closed: undefined };
    this.connections.push(held);
    request.response.on('close', () => {
      held.closed = request.aborted ? 1006 : 1000;
      this.changed();
    });
    if (!this.deaf) this.answer(request);
    this.changed();
  }

  private answer(request: FakeRequest): void {
    request.response.sendDate = false;
    const { input, ...fields } = request.body;
    if (this.refuseWith !== undefined) {
      const { status, headers = '' } = this.refuseWith;
      const found = [...headers.matchAll(/^(.+?): (.+)$/gm)].map(([, name = '', value = '']) => [
        name,
        value.trim(),
      ]);
      reply({ status, headers: Object.fromEntries(found) as Record<string, string> })(request);
    } else if (!isSame(fields, this.traits.fields)) refuse(422)(request);
    else {
      const pcm = countingPcm(String(input).length * this.samplesPerChar);
      const isWav = fields['response_format'] === 'wav';
      const body = isWav ? wav(pcm, { dataSize: 0xffff_ffff, list: true }) : pcm;
      const type = isWav ? 'audio/wav' : 'audio/pcm';
      // An odd cut: chunks are not aligned to samples.
      const chunks = [body.subarray(0, 101), body.subarray(101)].filter((chunk) => chunk.length > 0);
      speech(chunks, { headers: { 'content-type': type } })(request);
    }
  }

  private keep(socket: Socket): void {
    this.silentSockets.add(socket);
    socket.on('error', () => undefined);
    this.changed();
  }

  private count({ response }: FakeRequest): void {
    const { socket } = response;
    if (socket === null || this.counted.has(socket)) return;
    this.counted.add(socket);
    this.sockets.add(socket);
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.changed();
    });
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.write = (chunk: string | Buffer, ...rest: unknown[]) => {
      const encoding = typeof rest[0] === 'string' ? (rest[0] as BufferEncoding) : 'utf8';
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
      const left = (this.cutAfterBytes ?? Number.POSITIVE_INFINITY) - this.sentBytes;
      this.sentBytes += bytes.length;
      if (bytes.length < left) return write(chunk, ...rest);
      if (left > 0) write(bytes.subarray(0, left));
      socket.end();
      return false;
    };
  }
}

/** Samples that count up, so that a test sees what is missing. */
function countingPcm(samples: number): Buffer {
  const bytes = Buffer.alloc(samples * 2);
  for (let i = 0; i < samples; i += 1) bytes.writeInt16LE((i % 30_000) + 1, i * 2);
  return bytes;
}

function isSame(
  found: Readonly<Record<string, unknown>>,
  wanted: Readonly<Record<string, unknown>>,
): boolean {
  const keys = Object.keys(wanted);
  return keys.length === Object.keys(found).length && keys.every((key) => found[key] === wanted[key]);
}

/**
 * The voice's HTTP server: `POST /v1/audio/speech` as OpenAI's clients and `speech_compatible` send it, and `GET /health`.
 *
 * Invariant: audio is mono PCM16 at 24 kHz, raw or as WAV, sent sentence by sentence while the next is made and no faster than the
 * client reads; a client that goes away stops what was not begun. Errors have the shape of that interface.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readSpeechRequest, type SpeechRequest } from './speech-request.ts';
import { VoiceBusy, type Speaking } from './speaking.ts';

const sampleRate = 24_000;
const maxBodyBytes = 65_536;
const chunkSamples = 2_400;
const headerTimeoutMs = 10_000;
/** Nobody sends 64 KiB for longer. */
const requestTimeoutMs = 30_000;

export interface SpeechServerOptions {
  /** Undefined where there is no voice: `/health` is all there is. */
  readonly speaking: Speaking | undefined;
  readonly model: string;
  readonly voices: () => readonly string[];
  readonly health: () => { readonly isReady: boolean } & Readonly<Record<string, unknown>>;
}

/** A request that is refused. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...(status === 503 && { 'retry-after': '1' }),
  });
  response.end(JSON.stringify(value));
}

/** A response that has begun is cut: its status cannot change. */
function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const refusal =
    error instanceof Refusal
      ? error
      : error instanceof VoiceBusy
        ? new Refusal(503, error.message)
        : new Refusal(500, 'the voice failed');
  const type = refusal.status < 500 ? 'invalid_request_error' : 'server_error';
  sendJson(response, refusal.status, { error: { message: refusal.message, type, code: null, param: null } });
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    if (!(chunk instanceof Buffer)) continue;
    length += chunk.length;
    if (length > maxBodyBytes) throw new Refusal(413, `the body must have at most ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new Refusal(400, 'the body must be a JSON object');
  }
}

/** A WAV header for a stream whose length is not known yet: both sizes say "until the end". */
function streamedWavHeader(): Buffer {
  const header = Buffer.alloc(44);
  const unknown = 0xffff_ffff;
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(unknown, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(unknown, 40);
  return header;
}

async function write(response: ServerResponse, bytes: Buffer, signal: AbortSignal): Promise<void> {
  if (!response.write(bytes)) await once(response, 'drain', { signal });
}

async function stream(response: ServerResponse, request: SpeechRequest, speaking: Speaking): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { signal } = gone;
  const begin = (): void => {
    if (response.headersSent) return;
    const type = request.format === 'wav' ? 'audio/wav' : 'audio/pcm';
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
    if (request.format === 'wav') response.write(streamedWavHeader());
  };
  for (const job of request.jobs) {
    const pcm = await speaking.speak(job, signal);
    // Only now, so that a text that cannot be spoken at all gets a status that says so.
    begin();
    for (let at = 0; at < pcm.length; at += chunkSamples) {
      const part = pcm.subarray(at, at + chunkSamples);
      await write(response, Buffer.from(part.buffer, part.byteOffset, part.byteLength), signal);
    }
  }
  begin();
  response.end();
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: SpeechServerOptions,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0];
  // Browsers name the page that asks. No page has business here, and one from anywhere could ask.
  if (request.headers.origin !== undefined) throw new Refusal(403, 'pages are not served');
  if (path === '/health') {
    const { isReady, ...facts } = options.health();
    sendJson(response, isReady ? 200 : 503, { status: isReady ? 'ok' : 'starting', ...facts });
    return;
  }
  const { speaking } = options;
  if (speaking === undefined) throw new Refusal(404, 'there is nothing at this path');
  if (path === '/v1/models') {
    sendJson(response, 200, { object: 'list', data: [{ id: options.model, object: 'model' }] });
    return;
  }
  if (path === '/v1/audio/voices') {
    sendJson(response, 200, { voices: options.voices() });
    return;
  }
  if (path !== '/v1/audio/speech') throw new Refusal(404, 'there is nothing at this path');
  if (request.method !== 'POST') throw new Refusal(405, 'this path takes POST');
  const wanted = readSpeechRequest(await readBody(request), options.voices());
  if (!wanted.ok) throw new Refusal(400, wanted.error);
  await stream(response, wanted.value, speaking);
}

/** The server, not yet listening. */
export function newSpeechServer(options: SpeechServerOptions): Server {
  const server = createServer((request, response) => {
    answer(request, response, options).catch((error: unknown) => sendError(response, error));
  });
  server.headersTimeout = headerTimeoutMs;
  server.requestTimeout = requestTimeoutMs;
  return server;
}

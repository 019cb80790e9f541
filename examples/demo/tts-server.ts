/**
 * The voice: an OpenAI-style speech server, `POST /v1/audio/speech`.
 *
 * Invariant: audio is always 24 kHz mono PCM16, sent sentence by sentence while the next one is made; a client that goes
 * away stops the work that was not begun. It knows nothing of the engine that speaks.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { readJsonObject, Refusal, sendError, sendJson } from './http.ts';
import { Abandoned, QueueFull } from './thread-pool.ts';
import { defaultVoice, isVoice, sentences, speakable, voices, type SpeechJob } from './voices.ts';

/** Speaks one sentence as 24 kHz samples; gives up when the signal fires. */
export type Speak = (job: SpeechJob, signal: AbortSignal) => Promise<Int16Array>;

const sampleRate = 24_000;
const maxInputChars = 4096;
const chunkSamples = 2400;

interface SpeechRequest {
  readonly jobs: readonly SpeechJob[];
  readonly format: 'pcm' | 'wav';
}

function readRequest(body: Readonly<Record<string, unknown>>): SpeechRequest {
  const { input, voice = defaultVoice, response_format: format = 'pcm', speed = 1 } = body;
  if (typeof input !== 'string') throw new Refusal(400, 'invalid_input', 'input must be a text');
  if (input.length > maxInputChars) {
    throw new Refusal(400, 'invalid_input', `input must have at most ${maxInputChars} characters`);
  }
  if (!isVoice(voice)) throw new Refusal(400, 'invalid_voice', `voice must be one of ${voices.join(', ')}`);
  if (format !== 'pcm' && format !== 'wav') {
    throw new Refusal(400, 'invalid_response_format', 'response_format must be pcm or wav');
  }
  if (typeof speed !== 'number' || !(speed >= 0.25 && speed <= 4)) {
    throw new Refusal(400, 'invalid_speed', 'speed must be a number from 0.25 to 4');
  }
  const jobs = sentences(input).map((sentence) => ({ text: speakable(sentence), voice, speed }));
  return { jobs: jobs.filter(({ text }) => text !== ''), format };
}

/** A WAV header for a stream whose length is not known yet: both sizes say "until the end". */
function streamedWavHeader(): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(0xffff_ffff, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(0xffff_ffff, 40);
  return header;
}

async function write(response: ServerResponse, bytes: Buffer, signal: AbortSignal): Promise<void> {
  if (!response.write(bytes)) await once(response, 'drain', { signal });
}

async function stream(response: ServerResponse, request: SpeechRequest, speak: Speak): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { signal } = gone;
  let started = false;
  for (const job of request.jobs) {
    const samples = await speak(job, signal);
    if (!started) {
      started = true;
      const type = request.format === 'wav' ? 'audio/wav' : 'audio/pcm';
      response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' });
      if (request.format === 'wav') await write(response, streamedWavHeader(), signal);
    }
    for (let at = 0; at < samples.length; at += chunkSamples) {
      const part = samples.subarray(at, at + chunkSamples);
      await write(response, Buffer.from(part.buffer, part.byteOffset, part.byteLength), signal);
    }
  }
  if (!started) {
    response.writeHead(200, { 'Content-Type': request.format === 'wav' ? 'audio/wav' : 'audio/pcm' });
    if (request.format === 'wav') response.write(streamedWavHeader());
  }
  response.end();
}

/** Anything that ends the work: a full queue is "try again", a lost client needs no answer. */
function fail(response: ServerResponse, error: unknown): void {
  if (response.destroyed || error instanceof Abandoned) {
    response.destroy();
    return;
  }
  if (error instanceof QueueFull)
    sendError(response, new Refusal(503, 'overloaded', 'too many texts are waiting'));
  else sendError(response, error);
}

/** The server, not yet listening. */
export function ttsServer(speak: Speak): Server {
  return createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0];
    if (path === '/v1/models' && request.method === 'GET') {
      sendJson(response, 200, { object: 'list', data: [{ id: 'flite', object: 'model' }] });
    } else if (path !== '/v1/audio/speech') {
      sendError(response, new Refusal(404, 'not_found', 'there is nothing at this path'));
    } else if (request.method !== 'POST') {
      sendError(response, new Refusal(405, 'method_not_allowed', 'this path takes POST'));
    } else {
      readJsonObject(request)
        .then((body) => stream(response, readRequest(body), speak))
        .catch((error: unknown) => fail(response, error));
    }
  });
}

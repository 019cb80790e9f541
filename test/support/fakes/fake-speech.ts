/**
 * A speech server: answers a text with a tone of 24 kHz PCM16 mono whose length follows the text, or with what the
 * script says.
 */
import { FakeHttpServer, reply } from './fake-http.ts';
import type { FakeReply, FakeRequest, ReplyParts } from './fake-http.ts';

const RATE = 24_000;
/** Speech at an ordinary pace. */
const MS_PER_CHAR = 60;

/** A 440 Hz tone of `samples` samples as bytes. */
export function tone(samples: number): Buffer {
  const bytes = Buffer.alloc(samples * 2);
  for (let i = 0; i < samples; i += 1) {
    bytes.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * 440 * i) / RATE)), i * 2);
  }
  return bytes;
}

/** Samples that the server speaks `text` with. */
export function samplesOf(text: string): number {
  return Math.round((text.length * MS_PER_CHAR * RATE) / 1000);
}

export interface WavParts {
  readonly rate?: number;
  readonly channels?: number;
  readonly bits?: number;
  readonly tag?: number;
  /** The size written into the data chunk; default the real one. */
  readonly dataSize?: number;
  readonly list?: boolean;
}

export function wav(pcm: Buffer, parts: WavParts = {}): Buffer {
  const { rate = RATE, channels = 1, bits = 16, tag = 1, dataSize = pcm.length, list = false } = parts;
  const fmt = Buffer.alloc(24);
  fmt.write('fmt ', 0, 'latin1');
  fmt.writeUInt32LE(16, 4);
  fmt.writeUInt16LE(tag, 8);
  fmt.writeUInt16LE(channels, 10);
  fmt.writeUInt32LE(rate, 12);
  fmt.writeUInt32LE((rate * channels * bits) / 8, 16);
  fmt.writeUInt16LE((channels * bits) / 8, 20);
  fmt.writeUInt16LE(bits, 22);
  const names = list ? Buffer.from('LIST\x05\x00\x00\x00INFO!\x00', 'latin1') : Buffer.alloc(0);
  const data = Buffer.alloc(8);
  data.write('data', 0, 'latin1');
  data.writeUInt32LE(dataSize, 4);
  const head = Buffer.from('RIFF\xff\xff\xff\xffWAVE', 'latin1');
  return Buffer.concat([head, fmt, names, data, pcm]);
}

/** A 200 with these bytes. */
export function speech(chunks: readonly Buffer[], parts: Omit<ReplyParts, 'chunks'> = {}): FakeReply {
  return reply({ headers: { 'content-type': 'audio/pcm' }, ...parts, chunks });
}

export function refuse(status: number): FakeReply {
  return reply({
    status,
    headers: { 'content-type': 'application/json' },
    chunks: ['{"error":{"message":"no"}}'],
  });
}

/** A tone as long as the text takes. */
export function speakBody(request: FakeRequest): void {
  const text = String(request.body['input']);
  const bytes = tone(samplesOf(text));
  const isWav = request.body['response_format'] === 'wav';
  reply({
    headers: { 'content-type': isWav ? 'audio/wav' : 'audio/pcm' },
    chunks: [isWav ? wav(bytes, { dataSize: 0xffff_ffff }) : bytes],
  })(request);
}

export class FakeSpeech extends FakeHttpServer {
  constructor(fallback: FakeReply = speakBody) {
    super(fallback);
  }

  /** The texts that were asked for. */
  get inputs(): string[] {
    return this.requests.map((request) => String(request.body['input']));
  }
}

/**
 * PCM16 out of a streamed body: raw samples, or a WAV whose header may be split anywhere and whose sizes may be unknown
 * (docs/providers.md, Speech servers).
 *
 * Invariant: the same bytes give the same samples however they were cut; a sample never straddles two results. Samples
 * are copied out of the socket's buffer, aligned. It must not guess: a header that says anything else is an error.
 */
import { PcmBytes } from '../../pcm-bytes.ts';

/** Samples, or the rule that the body breaks. */
export type PcmResult = Int16Array | { readonly rule: string };

const NO_SAMPLES = new Int16Array(0);
const NO_BYTES = Buffer.alloc(0);
/** Chunks before the audio are names and comments of encoders; they do not reach this size. */
const MAX_HEADER_BYTES = 65_536;
/** Sizes from here on, and zero, say that the encoder did not know the length (0x7fffffdb, 0xffffffff and the like). */
const UNKNOWN_SIZE = 0x7fff_0000;
const RIFF = 'RIFF';

export interface PcmStreamOptions {
  readonly sampleRate: number;
  /** False: the body may also be raw samples, and is taken as WAV only when it says so. */
  readonly wavOnly: boolean;
}

export class PcmStream {
  readonly #options: PcmStreamOptions;
  readonly #pcm = new PcmBytes();
  #header: Buffer | undefined = NO_BYTES;
  /** Bytes of audio that are left in the file. */
  #leftBytes = 0;
  /** A file has ended: another one may follow, from a server that makes one of each part, and nothing else is audio. */
  #isBehind = false;

  constructor(options: PcmStreamOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): PcmResult {
    const audio: Buffer[] = [];
    for (let rest = chunk; rest.length > 0; rest = this.#takeAudio(rest, audio)) {
      if (this.#header === undefined) continue;
      const bytes = Buffer.concat([this.#header, rest]);
      const found = this.#readHeader(bytes);
      if (found === 'nothing') break;
      this.#header = bytes;
      if (found === 'more' && bytes.length <= MAX_HEADER_BYTES) break;
      if (found === 'more' || 'rule' in found) return found === 'more' ? { rule: 'wav header' } : found;
      this.#header = undefined;
      this.#leftBytes = found.sizeBytes;
      rest = bytes.subarray(found.start);
    }
    return audio.length === 0 ? NO_SAMPLES : this.#pcm.push(Buffer.concat(audio));
  }

  /** The body ended: what was held as a possible header, or the rule that the end breaks. */
  end(): PcmResult {
    const held = this.#header;
    this.#header = undefined;
    if (held === undefined || held.length === 0 || this.#isBehind) return NO_SAMPLES;
    // Fewer than four bytes of a body that may be raw: samples that look like the start of a header.
    if (!this.#options.wavOnly && held.length < RIFF.length) return this.#pcm.push(held);
    return { rule: 'wav header' };
  }

  /** Takes what is audio, and returns the bytes behind it. */
  #takeAudio(bytes: Buffer, audio: Buffer[]): Buffer {
    const kept = bytes.subarray(0, Math.min(bytes.length, this.#leftBytes));
    if (kept.length > 0) audio.push(kept);
    this.#leftBytes -= kept.length;
    if (this.#leftBytes > 0) return NO_BYTES;
    this.#header = NO_BYTES;
    this.#isBehind = true;
    return bytes.subarray(kept.length);
  }

  #readHeader(bytes: Buffer): DataChunk | 'more' | 'nothing' | { rule: string } {
    const mark = bytes.toString('latin1', 0, Math.min(RIFF.length, bytes.length));
    const isWav = RIFF.startsWith(mark);
    if (!isWav && this.#isBehind) return 'nothing';
    if (!isWav) return this.#options.wavOnly ? { rule: 'wav header' } : { start: 0, sizeBytes: Infinity };
    if (bytes.length < 12) return 'more';
    if (bytes.toString('latin1', 8, 12) !== 'WAVE') return { rule: 'wav header' };
    return findData(bytes, this.#options.sampleRate);
  }
}

interface DataChunk {
  readonly start: number;
  readonly sizeBytes: number;
}

function findData(bytes: Buffer, sampleRate: number): DataChunk | 'more' | { rule: string } {
  let at = 12;
  let formatSeen = false;
  while (bytes.length >= at + 8) {
    const id = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const start = at + 8;
    if (id === 'data') {
      if (!formatSeen) return { rule: 'wav format before its data' };
      return { start, sizeBytes: size === 0 || size >= UNKNOWN_SIZE ? Infinity : size };
    }
    if (size > MAX_HEADER_BYTES) return { rule: 'wav header' };
    if (id === 'fmt ') {
      if (bytes.length < start + size) return 'more';
      const broken = checkFormat(bytes.subarray(start, start + size), sampleRate);
      if (broken !== undefined) return { rule: broken };
      formatSeen = true;
    }
    at = start + size + (size & 1);
  }
  return 'more';
}

/** The rule that the format breaks: PCM16 mono at the session's rate. */
function checkFormat(format: Buffer, sampleRate: number): string | undefined {
  if (format.length < 16) return 'wav header';
  const tag = format.readUInt16LE(0);
  // The extensible form holds the real tag at the start of its sub-format.
  const real = tag === 0xfffe && format.length >= 26 ? format.readUInt16LE(24) : tag;
  if (real !== 1 || format.readUInt16LE(14) !== 16) return 'wav audio is PCM16';
  if (format.readUInt16LE(2) !== 1) return 'wav audio is mono';
  if (format.readUInt32LE(4) !== sampleRate) return 'wav sample rate';
  return undefined;
}

/**
 * WAV files: reads PCM16, 32-bit float and mu-law at any rate, mono or stereo, and writes mono PCM16.
 *
 * Input is a whole file of unknown origin: every length in it is checked against the bytes that are there, and what
 * cannot be read is a {@link WavError} that names the field and the rule. Must not resample.
 */
import { decodeMulaw } from './g711.ts';
import { writeInt16 } from './pcm.ts';

/** The file is no WAV file, or one of a kind that is not read; the message says which field and why. */
export class WavError extends Error {
  override readonly name = 'WavError';
}

export interface Wav {
  /** Hz. */
  readonly sampleRate: number;
  /** Mono; two channels are averaged. */
  readonly pcm: Int16Array;
  /** Number of channels in the file: 1 or 2. */
  readonly channels: number;
}

const FORMAT_PCM = 1;
const FORMAT_FLOAT = 3;
const FORMAT_MULAW = 7;
/** The real format stands in the first two bytes of a GUID. */
const FORMAT_EXTENSIBLE = 0xfffe;
const BITS: Readonly<Record<number, number>> = { [FORMAT_PCM]: 16, [FORMAT_FLOAT]: 32, [FORMAT_MULAW]: 8 };

interface Format {
  readonly code: number;
  readonly channels: number;
  readonly sampleRate: number;
}

/** Reads a WAV file. Throws {@link WavError}. */
export function parseWav(bytes: Uint8Array): Wav {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (tag(view, 0) !== 'RIFF' || tag(view, 8) !== 'WAVE')
    throw new WavError('not a WAV file: no RIFF/WAVE header');
  let format: Format | undefined;
  for (let at = 12; at + 8 <= bytes.length;) {
    const name = tag(view, at);
    const size = view.getUint32(at + 4, true);
    const body = at + 8;
    if (name === 'data') {
      if (format === undefined) throw new WavError('data chunk: a fmt chunk must come before it');
      // A program that writes to a pipe does not know the size: it leaves 0 or a size beyond the end, and data runs to the end.
      const unknown = size === 0 || body + size > bytes.length;
      return samplesOf(bytes.subarray(body, unknown ? bytes.length : body + size), format);
    }
    if (body + size > bytes.length) throw new WavError('chunk size: runs past the end of the file');
    if (name === 'fmt ') format = formatOf(view, { body, size });
    // Chunks start at even positions.
    at = body + size + (size % 2);
  }
  throw new WavError(format === undefined ? 'fmt chunk: missing' : 'data chunk: missing');
}

/** The bytes of a mono PCM16 WAV file. */
export function writeWav(pcm: Int16Array, sampleRate: number): Uint8Array {
  const size = pcm.length * 2;
  const bytes = new Uint8Array(44 + size);
  const view = new DataView(bytes.buffer);
  putTag(view, 0, 'RIFF');
  view.setUint32(4, 36 + size, true);
  putTag(view, 8, 'WAVE');
  putTag(view, 12, 'fmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, FORMAT_PCM, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  putTag(view, 36, 'data');
  view.setUint32(40, size, true);
  writeInt16(pcm, bytes, 44);
  return bytes;
}

function formatOf(view: DataView, chunk: { readonly body: number; readonly size: number }): Format {
  const { body, size } = chunk;
  if (size < 16) throw new WavError('fmt chunk: must hold at least 16 bytes');
  const written = view.getUint16(body, true);
  if (written === FORMAT_EXTENSIBLE && size < 26) {
    throw new WavError('fmt chunk: the extensible format must hold at least 26 bytes');
  }
  const code = written === FORMAT_EXTENSIBLE ? view.getUint16(body + 24, true) : written;
  const channels = view.getUint16(body + 2, true);
  const sampleRate = view.getUint32(body + 4, true);
  const bits = BITS[code];
  if (bits === undefined) throw new WavError('format: must be PCM, float or mu-law');
  if (view.getUint16(body + 14, true) !== bits) {
    throw new WavError('bits per sample: must be 16 for PCM, 32 for float, 8 for mu-law');
  }
  if (channels !== 1 && channels !== 2) throw new WavError('channels: must be 1 or 2');
  if (sampleRate < 1 || sampleRate > 768_000) throw new WavError('sample rate: must be 1 to 768000 Hz');
  return { code, channels, sampleRate };
}

function samplesOf(data: Uint8Array, format: Format): Wav {
  const { code, channels, sampleRate } = format;
  const width = (BITS[code] ?? 16) / 8;
  // A file that was cut short may end within a sample.
  const frames = Math.floor(data.length / (width * channels));
  const all = interleaved(data.subarray(0, frames * channels * width), code);
  if (channels === 1) return { sampleRate, pcm: all, channels };
  const pcm = new Int16Array(frames);
  for (let i = 0; i < frames; i++) pcm[i] = Math.round(((all[2 * i] ?? 0) + (all[2 * i + 1] ?? 0)) / 2);
  return { sampleRate, pcm, channels };
}

function interleaved(data: Uint8Array, code: number): Int16Array {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (code === FORMAT_MULAW) {
    const samples = new Int16Array(data.length);
    decodeMulaw(data, samples);
    return samples;
  }
  if (code === FORMAT_PCM) {
    const samples = new Int16Array(data.length / 2);
    for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(2 * i, true);
    return samples;
  }
  const samples = new Int16Array(data.length / 4);
  for (let i = 0; i < samples.length; i++) {
    const value = Math.round(view.getFloat32(4 * i, true) * 32_768);
    samples[i] = Math.max(-32_768, Math.min(32_767, Number.isNaN(value) ? 0 : value));
  }
  return samples;
}

function tag(view: DataView, at: number): string {
  if (at + 4 > view.byteLength) return '';
  return String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(at + i)));
}

function putTag(view: DataView, at: number, text: string): void {
  for (let i = 0; i < 4; i++) view.setUint8(at + i, text.charCodeAt(i));
}

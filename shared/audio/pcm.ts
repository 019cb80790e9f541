/**
 * 16-bit little-endian samples in byte buffers, as they lie on the wire (docs/call-protocol.md, A call), and loudness.
 *
 * Hot path: a frame is read without copying where its bytes are aligned, and into the caller's scratch where not.
 * A view must not be kept beyond the life of the bytes, nor beyond the next use of the scratch.
 */
import { assert } from '../base/assert.ts';

/** What {@link rmsDbfs} gives for digital silence; one 16-bit step is -90.3. */
export const SILENCE_DBFS = -120;

const FULL_SCALE = 32_768;
const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/**
 * The samples of `bytes`. Shares memory with `bytes` where these are aligned, else with `scratch`, which must hold at
 * least half as many samples as there are bytes. The number of bytes must be even: on the wire an odd one is
 * `bad_audio`, which the protocol answers before it gets here.
 */
export function int16View(bytes: Uint8Array, scratch: Int16Array): Int16Array {
  assert(bytes.length % 2 === 0, 'pcm16: whole samples only');
  const length = bytes.length / 2;
  if (littleEndian && bytes.byteOffset % 2 === 0) {
    return new Int16Array(bytes.buffer, bytes.byteOffset, length);
  }
  assert(scratch.length >= length, 'pcm16: the scratch holds the frame');
  for (let i = 0; i < length; i++) scratch[i] = (bytes[2 * i] ?? 0) | ((bytes[2 * i + 1] ?? 0) << 8);
  return scratch.length === length ? scratch : scratch.subarray(0, length);
}

/** Writes the samples as little-endian bytes into `out` from `offset`; gives the offset behind them. */
export function writeInt16(pcm: Int16Array, out: Uint8Array, offset = 0): number {
  const end = offset + pcm.length * 2;
  assert(out.length >= end, 'pcm16: the output holds the samples');
  if (littleEndian) {
    out.set(new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength), offset);
    return end;
  }
  let at = offset;
  for (let i = 0; i < pcm.length; i++) {
    const sample = pcm[i] ?? 0;
    out[at++] = sample & 0xff;
    out[at++] = (sample >> 8) & 0xff;
  }
  return end;
}

/** Root mean square in dB relative to full scale: a full-scale sine is -3.0. At least {@link SILENCE_DBFS}. */
export function rmsDbfs(pcm: Int16Array): number {
  let sum = 0;
  for (let i = 0; i < pcm.length; i++) {
    const sample = pcm[i] ?? 0;
    sum += sample * sample;
  }
  return pcm.length === 0 ? SILENCE_DBFS : decibel(Math.sqrt(sum / pcm.length));
}

function decibel(amplitude: number): number {
  return amplitude === 0 ? SILENCE_DBFS : Math.max(SILENCE_DBFS, 20 * Math.log10(amplitude / FULL_SCALE));
}

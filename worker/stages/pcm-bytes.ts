/**
 * Bytes of PCM16 that arrive in pieces of any length, as samples. Pure.
 *
 * Invariant: the same bytes give the same samples however they were cut; an odd byte waits for the next piece.
 * Little-endian hosts only, as everywhere here.
 */

const NO_SAMPLES = new Int16Array(0);

export class PcmBytes {
  #odd: number | undefined;

  /** Takes bytes that nobody changes any more: where they are aligned, the samples are a view of them. */
  take(bytes: Buffer): Int16Array {
    if (this.#odd !== undefined || bytes.byteOffset % 2 !== 0) return this.push(bytes);
    const samples = bytes.length >> 1;
    if (bytes.length % 2 === 1) this.#odd = bytes[bytes.length - 1];
    return samples === 0 ? NO_SAMPLES : new Int16Array(bytes.buffer, bytes.byteOffset, samples);
  }

  /** Copies, for bytes that are only lent. */
  push(bytes: Buffer): Int16Array {
    const carried = this.#odd === undefined ? 0 : 1;
    const samples = (bytes.length + carried) >> 1;
    if (samples === 0) {
      if (bytes.length === 1) this.#odd = bytes[0];
      return NO_SAMPLES;
    }
    const pcm = new Int16Array(samples);
    const target = Buffer.from(pcm.buffer);
    if (this.#odd !== undefined) target[0] = this.#odd;
    const taken = samples * 2 - carried;
    bytes.copy(target, carried, 0, taken);
    this.#odd = taken < bytes.length ? bytes[taken] : undefined;
    return pcm;
  }
}

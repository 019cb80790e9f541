/**
 * The caller's sound of a turn as messages: as the caller's line has it where the server takes that, or converted to the rate of the server, and put
 * together to pieces, so that a call does not cost fifty messages a second. A turn is heard by the server when it is committed, so a piece that waits delays nothing.
 */
import { ENGINE_RATE } from '../../../../shared/base/units.ts';
import { laws, type Law } from '../../../../shared/audio/law.ts';
import { newResampler, type Resampler } from '../../../../shared/audio/resampler.ts';

import type { Dialect } from './declaration.ts';

/** Also the shortest turn that a server takes. */
const pieceMs = 100;

export class CallerAudio {
  readonly #resampler: Resampler;
  /** Where the server takes G.711: its law, and the bytes of a piece. */
  readonly #coded: { readonly law: Law; readonly bytes: Uint8Array } | undefined;
  readonly #piece: Int16Array;
  #filled = 0;
  /** Samples that were given out since the turn began. */
  #sent = 0;
  /** The resampler holds the last of the turn. */
  #isResampled = false;

  constructor({ inputRate, inputLaw: law }: Pick<Dialect, 'inputRate' | 'inputLaw'>) {
    this.#resampler = newResampler({ from: ENGINE_RATE, to: inputRate });
    this.#piece = new Int16Array((inputRate * pieceMs) / 1000);
    this.#coded = law && { law, bytes: new Uint8Array(this.#piece.length) };
  }

  /** Whether the server has sound of the turn. */
  get isSent(): boolean {
    return this.#sent > 0;
  }

  begin(): void {
    this.#resampler.reset();
    this.#isResampled = false;
    this.#filled = 0;
    this.#sent = 0;
  }

  /** @param ofLine the same moment at 8 kHz, where the caller is on a telephone line. */
  push(pcm: Int16Array, ofLine?: Int16Array): string[] {
    if (ofLine !== undefined && this.#coded !== undefined) return [...this.#flush(), ...this.#take(ofLine)];
    this.#isResampled = true;
    return this.#take(this.#resampler.process(pcm));
  }

  /** The rest of the turn, filled up with silence to what a server takes. */
  end(): string[] {
    const messages = this.#flush();
    if (this.#sent === 0) messages.push(...this.#take(new Int16Array(this.#piece.length - this.#filled)));
    else if (this.#filled > 0) messages.push(this.#message(this.#filled));
    return messages;
  }

  #flush(): string[] {
    if (!this.#isResampled) return [];
    this.#isResampled = false;
    return this.#take(this.#resampler.flush());
  }

  #take(samples: Int16Array): string[] {
    const messages: string[] = [];
    let at = 0;
    while (at < samples.length) {
      const taken = Math.min(samples.length - at, this.#piece.length - this.#filled);
      this.#piece.set(samples.subarray(at, at + taken), this.#filled);
      at += taken;
      this.#filled += taken;
      if (this.#filled === this.#piece.length) messages.push(this.#message(this.#filled));
    }
    return messages;
  }

  #message(samples: number): string {
    const piece = this.#piece.subarray(0, samples);
    const bytes = this.#coded?.bytes.subarray(0, samples);
    if (bytes !== undefined && this.#coded !== undefined) laws[this.#coded.law].encode(piece, bytes);
    const { buffer, byteOffset, byteLength } = bytes ?? piece;
    const audio = Buffer.from(buffer, byteOffset, byteLength).toString('base64');
    this.#filled = 0;
    this.#sent += samples;
    return `{"type":"input_audio_buffer.append","audio":"${audio}"}`;
  }
}

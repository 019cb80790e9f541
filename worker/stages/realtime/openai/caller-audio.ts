/**
 * The caller's sound of a turn as messages: converted to the rate of the server and put together to pieces, so that a call does not
 * cost fifty messages a second. A turn is heard by the server when it is committed, so a piece that waits delays nothing.
 */
import { ENGINE_RATE } from '../../../../shared/base/units.ts';
import { encodeMulaw } from '../../../../shared/audio/g711.ts';
import { newResampler, type Resampler } from '../../../../shared/audio/resampler.ts';

import type { Dialect } from './declaration.ts';

/** Also the shortest turn that a server takes. */
const pieceMs = 100;

export class CallerAudio {
  readonly #resampler: Resampler;
  /** Where the server takes mu-law: the bytes of a piece. */
  readonly #bytes: Uint8Array | undefined;
  readonly #piece: Int16Array;
  #filled = 0;
  /** Samples that were given out since the turn began. */
  #sent = 0;

  constructor({ inputRate, encoding }: Pick<Dialect, 'inputRate' | 'encoding'>) {
    this.#resampler = newResampler({ from: ENGINE_RATE, to: inputRate });
    this.#piece = new Int16Array((inputRate * pieceMs) / 1000);
    this.#bytes = encoding && new Uint8Array(this.#piece.length);
  }

  /** Whether the server has sound of the turn. */
  get isSent(): boolean {
    return this.#sent > 0;
  }

  begin(): void {
    this.#resampler.reset();
    this.#filled = 0;
    this.#sent = 0;
  }

  push(pcm: Int16Array): string[] {
    return this.#take(this.#resampler.process(pcm));
  }

  /** The rest of the turn, filled up with silence to what a server takes. */
  end(): string[] {
    const messages = this.#take(this.#resampler.flush());
    if (this.#sent === 0) messages.push(...this.#take(new Int16Array(this.#piece.length - this.#filled)));
    else if (this.#filled > 0) messages.push(this.#message(this.#filled));
    return messages;
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
    const bytes = this.#bytes?.subarray(0, samples);
    if (bytes !== undefined) encodeMulaw(piece, bytes);
    const { buffer, byteOffset, byteLength } = bytes ?? piece;
    const audio = Buffer.from(buffer, byteOffset, byteLength).toString('base64');
    this.#filled = 0;
    this.#sent += samples;
    return `{"type":"input_audio_buffer.append","audio":"${audio}"}`;
  }
}

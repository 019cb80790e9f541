/**
 * Collects 16-bit samples into frames of one size. A frame is handed over for good, so that it can wait in a queue or
 * in a socket without a copy. Pure.
 */
export class PcmFrames {
  readonly #samplesPerFrame: number;
  readonly #emit: (frame: Int16Array) => void;
  #frame: Int16Array;
  #filled = 0;

  constructor(samplesPerFrame: number, emit: (frame: Int16Array) => void) {
    this.#samplesPerFrame = samplesPerFrame;
    this.#emit = emit;
    this.#frame = new Int16Array(samplesPerFrame);
  }

  push(pcm: Int16Array): void {
    let at = 0;
    while (at < pcm.length) {
      const taken = Math.min(pcm.length - at, this.#samplesPerFrame - this.#filled);
      this.#frame.set(pcm.subarray(at, at + taken), this.#filled);
      at += taken;
      this.#filled += taken;
      if (this.#filled === this.#samplesPerFrame) this.#handOver(this.#frame);
    }
  }

  /** Hands over what has been collected, if anything; `whole` fills the frame up with silence. */
  flush(whole: boolean): void {
    if (this.#filled === 0) return;
    this.#handOver(whole ? this.#frame : this.#frame.subarray(0, this.#filled));
  }

  #handOver(frame: Int16Array): void {
    this.#frame = new Int16Array(this.#samplesPerFrame);
    this.#filled = 0;
    this.#emit(frame);
  }
}

/**
 * A telephone at the far end of a carrier's stream: plays what it was sent in real time, reaches marks when everything before them was
 * played, or at once after `clear`, and speaks mu-law, 20 ms at a time.
 */
import { encodeMulaw } from '../../../shared/audio/g711.ts';
import { newResampler } from '../../../shared/audio/resampler.ts';

const frameBytes = 160;
const silence = Buffer.alloc(frameBytes, 0xff);

export class Handset {
  /** What was heard, in order. */
  readonly played: Buffer[] = [];
  #waiting: (Buffer | string)[] = [];
  #speech: Buffer[] = [];

  /** Sound, or the name of a mark. */
  take(next: Buffer | string): void {
    this.#waiting.push(next);
  }

  /** The marks that come back at once. */
  clear(): string[] {
    return this.#waiting.splice(0).filter((one) => typeof one === 'string');
  }

  /** 20 ms pass: the marks that were reached. */
  play(): string[] {
    const reached: string[] = [];
    while (typeof this.#waiting[0] === 'string') reached.push(String(this.#waiting.shift()));
    const next = this.#waiting.shift();
    if (Buffer.isBuffer(next)) this.played.push(next);
    return reached;
  }

  /** Everything that was sent was played. */
  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  /** How long anything but silence was heard. */
  get heardMs(): number {
    const isSound = (frame: Buffer): boolean => frame.some((byte) => (byte & 0x7f) < 0x7e);
    return this.played.filter(isSound).reduce((ms, { length }) => ms + length / 8, 0);
  }

  /** Something to say, at 16 kHz. */
  say(pcm: Int16Array): void {
    const resampler = newResampler({ from: 16_000, to: 8_000 });
    const narrow = Int16Array.from([...resampler.process(pcm).slice(), ...resampler.flush()]);
    const coded = new Uint8Array(narrow.length);
    encodeMulaw(narrow, coded);
    for (let at = 0; at + frameBytes <= coded.length; at += frameBytes)
      this.#speech.push(Buffer.from(coded.subarray(at, at + frameBytes)));
  }

  /** Frames that are still to be said. */
  get unsaid(): number {
    return this.#speech.length;
  }

  /** What the microphone takes in the next 20 ms. */
  speak(): Buffer {
    return this.#speech.shift() ?? silence;
  }
}

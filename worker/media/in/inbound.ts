/**
 * The caller's audio on its way in: decoded, brought to 16 kHz, given to VAD always and to STT while a turn is being heard.
 * STT also gets the moment before speech was noticed. Input is taken at no more than twice real time, so that a
 * flood costs its sender time and not the other calls.
 */
import { ENGINE_RATE, type Millis } from '../../../shared/base/units.ts';
import { decodeMulaw } from '../../../shared/audio/g711.ts';
import { lawRate } from '../../../shared/audio/law.ts';
import { int16View } from '../../../shared/audio/pcm.ts';
import { newResampler, type Resampler } from '../../../shared/audio/resampler.ts';
import type { VadClient } from '../vad/vad-client.ts';

/** Audio before the start of speech that STT gets: VAD needs some of it to be sure, and words begin softly. */
const prerollMs = 600;
/** Audio taken at once after a pause of the network. */
const burstMs = 240;
/** What one frame may go beyond that. A longer one has to come in parts: VAD looks at no more than its newest moment otherwise. */
const longestDebtMs = 1_000;
/** Backlog that is taken at once after a call changed its worker. */
const longestBacklogMs = 10_000;
/** Rate at which a backlog is caught up. */
const catchUp = 2;

const prerollSamples = (ENGINE_RATE * prerollMs) / 1000;
const perLineSample = ENGINE_RATE / lawRate;

export interface InboundOptions {
  readonly sampleRate: number;
  readonly encoding: 'pcm16' | 'mulaw';
  readonly vad: VadClient;
  /** Takes audio for STT: 16 kHz PCM16, and the same moment as a telephone line has it; valid until it returns. */
  readonly toStt: (pcm: Int16Array, ofLine: Int16Array | undefined) => void;
  /** The caller is on a telephone line, of 8 kHz, whose samples are kept as well. */
  readonly isTelephone?: boolean;
  /** Told of all audio that is taken, as it was sent, and when: PCM16 at the call's rate, valid until it returns. */
  readonly decoded?: (pcm: Int16Array, now: Millis) => void;
  /** Told of all audio before VAD gets it: 16 kHz PCM16 that stands in the ring now, valid until it returns. */
  readonly took?: (pcm: Int16Array) => void;
}

export class InboundAudio {
  readonly #options: InboundOptions;
  readonly #resampler: Resampler;
  /** Holds one frame of the usual size; a larger one makes it grow, up to the transport's limit. */
  #scratch: Int16Array;
  readonly #preroll = new Int16Array(prerollSamples);
  /** The same moment as a telephone line has it, of which each sample became two. */
  readonly #ofLine: Int16Array | undefined;
  /** Samples of the call so far, and how many of them STT has been given or will never get. */
  #heard = 0;
  #given = 0;
  #listening = false;
  #creditMs = burstMs;
  #creditAt: Millis | undefined;

  constructor(options: InboundOptions) {
    this.#options = options;
    this.#resampler = newResampler({ from: options.sampleRate, to: ENGINE_RATE });
    this.#scratch = new Int16Array(options.sampleRate / 50);
    if (options.isTelephone === true) this.#ofLine = new Int16Array(prerollSamples / perLineSample);
  }

  /** Takes caller audio in the call's encoding. False, and nothing taken, when the caller is too far ahead of time for it. */
  push(bytes: Uint8Array, now: Millis): boolean {
    const samples = this.#options.encoding === 'mulaw' ? bytes.length : bytes.length >> 1;
    if (!this.#spend((samples * 1000) / this.#options.sampleRate, now)) return false;
    if (samples > this.#scratch.length) this.#scratch = new Int16Array(samples);
    const decoded = this.#decode(bytes, samples);
    this.#options.decoded?.(decoded, now);
    const pcm = this.#resampler.process(decoded);
    // A look for echo reads what is remembered, and VAD asks for one.
    this.#remember(pcm, decoded);
    this.#options.vad.write(pcm);
    if (this.#listening) {
      this.#options.toStt(pcm, this.#ofLine && decoded);
      this.#given = this.#heard;
    }
    return true;
  }

  /** This much audio came while nobody could take it: it is taken as fast as it arrives. */
  allowBacklog(ms: Millis): void {
    this.#creditMs = Math.max(this.#creditMs, Math.min(ms, longestBacklogMs));
  }

  /** A frame somewhat larger than the whole allowance is taken when the allowance is full. */
  #spend(audioMs: number, now: Millis): boolean {
    const passedMs = now - (this.#creditAt ?? now);
    this.#creditAt = now;
    this.#creditMs = Math.min(Math.max(burstMs, this.#creditMs), this.#creditMs + passedMs * catchUp);
    if (this.#creditMs < Math.min(audioMs, burstMs)) return false;
    if (audioMs - this.#creditMs > longestDebtMs) return false;
    this.#creditMs -= audioMs;
    return true;
  }

  #decode(bytes: Uint8Array, samples: number): Int16Array {
    if (this.#options.encoding === 'pcm16') return int16View(bytes, this.#scratch);
    const out = this.#scratch.subarray(0, samples);
    decodeMulaw(bytes, out);
    return out;
  }

  #remember(pcm: Int16Array, decoded: Int16Array): void {
    keepNewest(this.#preroll, pcm, this.#heard);
    if (this.#ofLine !== undefined) keepNewest(this.#ofLine, decoded, this.#heard / perLineSample);
    this.#heard += pcm.length;
    this.#options.took?.(pcm);
  }

  /** From here on STT gets the audio, beginning with what it has not got of the last moment. */
  listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    const from = Math.max(this.#given, this.#heard - prerollSamples);
    const count = this.#heard - from;
    this.#given = this.#heard;
    if (count === 0) return;
    const at = from % prerollSamples;
    const first = Math.min(count, prerollSamples - at);
    this.#give(at, at + first);
    if (count > first) this.#give(0, count - first);
  }

  #give(from: number, to: number): void {
    const ofLine = this.#ofLine?.subarray(from / perLineSample, to / perLineSample);
    this.#options.toStt(this.#preroll.subarray(from, to), ofLine);
  }

  stopListening(): void {
    this.#listening = false;
  }

  /** How far back the audio reaches that STT gets with the next `listen`. */
  get ungivenMs(): Millis {
    return ((this.#heard - Math.max(this.#given, this.#heard - prerollSamples)) * 1000) / ENGINE_RATE;
  }

  /** The last 0.6 s, 16 kHz: the sample that was heard as number `n` stands at `n` modulo its length. */
  get ring(): Int16Array {
    return this.#preroll;
  }

  /** Samples that were heard so far. */
  get count(): number {
    return this.#heard;
  }

  /** STT was given everything up to now in another way. */
  replayed(): void {
    this.#given = this.#heard;
  }
}

/** Writes samples into a ring, before which so many were heard. */
function keepNewest(ring: Int16Array, samples: Int16Array, before: number): void {
  const kept = samples.length > ring.length ? samples.subarray(samples.length - ring.length) : samples;
  const at = (before + samples.length - kept.length) % ring.length;
  const first = Math.min(kept.length, ring.length - at);
  ring.set(kept.subarray(0, first), at);
  ring.set(kept.subarray(first), 0);
}

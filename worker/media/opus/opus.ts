/**
 * Opus for one call: the caller's packets to PCM16 and the agent's frames to packets, mono, at the rate that is asked for, so that nobody
 * resamples. The codec is loaded by the first call that needs it.
 *
 * Invariant: what a stranger sent and the decoder does not take is silence of the same length, never a fault of the call.
 */
import type { OpusDecoderHandle, OpusEncoderHandle, Signal } from 'libopus-wasm';
import { FRAME_MS } from '../../../shared/base/units.ts';

/** Rates that the codec knows without a resampler, in Hz. */
const opusRates = [8_000, 12_000, 16_000, 24_000, 48_000] as const;
export type OpusRate = (typeof opusRates)[number];
export const isOpusRate = (rate: number): rate is OpusRate => opusRates.some((one) => one === rate);

/** RTP timestamps of Opus have this rate whatever the codec's own is (RFC 7587, 4.1). */
export const opusClockRate = 48_000;

/**
 * Speech is coded as sound (CELT) where nothing is lost: with more bits that is nearer to what went in, and it costs a third
 * (docs/measurements/webrtc.md). It has no copies of what may be lost.
 */
const plain = { bitrate: 48_000, packetLossPercent: 0 } as const;
/**
 * With copies of what may be lost, as the codec of voices (SILK) has them: without more bits they would cost the upper frequencies, and up to
 * 5 % of expected loss the encoder leaves them out where they do not fit.
 */
const guarded = { bitrate: 36_000, packetLossPercent: 10 } as const;
/** A higher one is not heard in speech at these bitrates, and 5 costs twice as much (docs/measurements/webrtc.md). */
const complexity = 1;
const longestPacketMs = 120;
/** The decoder makes up multiples of this. */
const stepMs = 2.5;

/** Length of a packet's audio in milliseconds, of what its first bytes say (RFC 6716, 3.1); 20 for what is no packet. */
export function opusPacketMs(packet: Uint8Array): number {
  const [toc, count = 0] = packet;
  if (toc === undefined) return FRAME_MS;
  const config = toc >> 3;
  const frames = [1, 2, 2, count & 0x3f][toc & 3] ?? 1;
  const frameMs =
    config < 12
      ? [10, 20, 40, 60][config & 3]
      : config < 16
        ? [10, 20][config & 1]
        : [2.5, 5, 10, 20][config & 3];
  const ms = frames * (frameMs ?? FRAME_MS);
  return ms > 0 && ms <= longestPacketMs ? ms : FRAME_MS;
}

export class OpusDecoder {
  readonly #handle: OpusDecoderHandle;
  readonly #rate: OpusRate;

  constructor(handle: OpusDecoderHandle, rate: OpusRate) {
    this.#handle = handle;
    this.#rate = rate;
  }

  /** The audio of a packet. */
  decode(packet: Uint8Array): Int16Array {
    return this.#attempt(packet, () => this.#handle.decode(packet));
  }

  /** What the packet behind a lost one says of it, or what the decoder makes up. */
  recover(ms: number, behind: Uint8Array | undefined): Int16Array {
    const wanted = Math.round((this.#rate * ms) / 1000);
    // Peers leave holes of any length; the decoder fills whole steps.
    const step = (this.#rate * stepMs) / 1000;
    const steps = Math.min(Math.max(1, Math.ceil(wanted / step)), longestPacketMs / stepMs);
    const pcm = this.#fill(steps * step, behind);
    if (pcm.length >= wanted) return pcm.subarray(0, wanted);
    const out = new Int16Array(wanted);
    out.set(pcm);
    return out;
  }

  #fill(frameSize: number, behind: Uint8Array | undefined): Int16Array {
    if (behind === undefined) return this.#conceal(frameSize);
    return this.#attempt(behind, () => this.#handle.decode(behind, { decodeFec: true, frameSize }));
  }

  #conceal(frameSize: number): Int16Array {
    try {
      return this.#handle.decodePacketLoss(frameSize);
    } catch (error) {
      return silenceFor(error, frameSize);
    }
  }

  #attempt(packet: Uint8Array, decode: () => Int16Array): Int16Array {
    try {
      return decode();
    } catch (error) {
      return silenceFor(error, Math.round((this.#rate * opusPacketMs(packet)) / 1000));
    }
  }

  free(): void {
    this.#handle.free();
  }
}

/** @throws what is no complaint of the codec about its input. */
function silenceFor(error: unknown, samples: number): Int16Array {
  if (error instanceof Error && error.name === 'OpusError') return new Int16Array(samples);
  throw error;
}

export class OpusEncoder {
  readonly #handle: OpusEncoderHandle;
  readonly #signals: Pick<typeof Signal, 'Auto' | 'Music'>;
  readonly #silence: Int16Array;
  #isGuarded = true;

  constructor(
    handle: OpusEncoderHandle,
    { rate, signals }: { rate: OpusRate; signals: Pick<typeof Signal, 'Auto' | 'Music'> },
  ) {
    this.#handle = handle;
    this.#signals = signals;
    this.#silence = new Int16Array((rate * FRAME_MS) / 1000);
  }

  /** One frame of 20 ms, PCM16. */
  encode(pcm: Int16Array): Uint8Array {
    return this.#handle.encode(pcm);
  }

  /** Whether packets hold copies of those before them, as they do at first. They cost time. */
  guard(isOn: boolean): void {
    if (isOn === this.#isGuarded) return;
    this.#isGuarded = isOn;
    const { bitrate, packetLossPercent } = isOn ? guarded : plain;
    this.#handle.setPacketLossPercent(packetLossPercent);
    this.#handle.setBitrate(bitrate);
    this.#handle.setSignal(isOn ? this.#signals.Auto : this.#signals.Music);
  }

  encodeSilence(): Uint8Array {
    return this.#handle.encode(this.#silence);
  }

  free(): void {
    this.#handle.free();
  }
}

/** Both ways of one call. */
export interface Opus {
  readonly decoder: OpusDecoder;
  readonly encoder: OpusEncoder;
}

export function freeOpus({ decoder, encoder }: Opus): void {
  decoder.free();
  encoder.free();
}

export async function newOpus(rates: { readonly heard: OpusRate; readonly spoken: OpusRate }): Promise<Opus> {
  const { Application, Signal, createDecoder, createEncoder } = await import('libopus-wasm');
  const decoder = await createDecoder({ sampleRate: rates.heard, channels: 1 });
  const encoder = await createEncoder({
    sampleRate: rates.spoken,
    channels: 1,
    application: Application.Voip,
    ...guarded,
    complexity,
    fec: true,
    dtx: true,
    frameSize: (rates.spoken * FRAME_MS) / 1000,
  });
  return {
    decoder: new OpusDecoder(decoder, rates.heard),
    encoder: new OpusEncoder(encoder, { rate: rates.spoken, signals: Signal }),
  };
}

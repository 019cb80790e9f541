/**
 * What a client's loudspeaker plays of the packets that came: a buffer of fixed length, and for what is missing when it is due the copy in
 * the packet behind it, or what the decoder makes up.
 */
import { createDecoder, type OpusDecoderHandle } from 'libopus-wasm';
import type { RtpPacket } from 'werift';

const rate = 16_000;
const frameTicks = 960;
const frameSamples = rate / 50;
const ticksPerMs = 48;
/** Of what is longer nobody makes sound. */
const mostMadeUp = 5;

export interface Played {
  readonly pcm: Int16Array;
  readonly frames: number;
  /** Frames that had not come by their time: found in the next packet, or made up. */
  readonly copied: number;
  readonly madeUp: number;
}

/** Plays from packet `from` on. */
export async function play(
  { packets, arrivals }: { readonly packets: readonly RtpPacket[]; readonly arrivals: readonly number[] },
  { from, bufferMs }: { readonly from: number; readonly bufferMs: number },
): Promise<Played> {
  const base = packets[from]?.header.timestamp ?? 0;
  const firstAt = arrivals[from] ?? 0;
  const lineOf = (timestamp: number): number => ((timestamp - base) | 0) / frameTicks;
  const inTime = new Map<number, Uint8Array>();
  let last = 0;
  for (let at = from; at < packets.length; at += 1) {
    const place = lineOf(packets[at]!.header.timestamp);
    const dueAt = firstAt + bufferMs + (place * frameTicks) / ticksPerMs;
    if (place < 0 || (arrivals[at] ?? 0) > dueAt) continue;
    inTime.set(place, packets[at]!.payload);
    last = Math.max(last, place);
  }
  const decoder = await createDecoder({ sampleRate: rate, channels: 1 });
  const player = new Player(decoder, inTime);
  const pcm = new Int16Array((last + 1) * frameSamples);
  for (let place = 0; place <= last; place += 1) pcm.set(player.next(place), place * frameSamples);
  decoder.free();
  return { pcm, frames: last + 1, copied: player.copied, madeUp: player.madeUp };
}

class Player {
  readonly #decoder: OpusDecoderHandle;
  readonly #inTime: ReadonlyMap<number, Uint8Array>;
  copied = 0;
  madeUp = 0;
  #row = 0;

  constructor(decoder: OpusDecoderHandle, inTime: ReadonlyMap<number, Uint8Array>) {
    this.#decoder = decoder;
    this.#inTime = inTime;
  }

  next(place: number): Int16Array {
    const payload = this.#inTime.get(place);
    this.#row = payload === undefined ? this.#row + 1 : 0;
    if (payload !== undefined) return this.#decoder.decode(payload);
    if (this.#row > mostMadeUp) return new Int16Array(frameSamples);
    const behind = this.#inTime.get(place + 1);
    if (behind === undefined) {
      this.madeUp += 1;
      return this.#decoder.decodePacketLoss(frameSamples);
    }
    this.copied += 1;
    return this.#decoder.decode(behind, { decodeFec: true, frameSize: frameSamples });
  }
}

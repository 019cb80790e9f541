/** What a client with a fixed buffer plays of the packets that came: late ones are lost, and lost ones are recovered or made up. */
import { createDecoder } from 'libopus-wasm';

export interface CamePacket {
  /** 48 kHz, of the first packet on. */
  readonly timestamp: number;
  readonly payload: Uint8Array;
  readonly atMs: number;
}

const rate = 16_000;
const frameTicks = 960;
const frameSamples = rate / 50;
/** A longer hole is a pause that was meant. */
const longestHole = 5;

export async function played(packets: readonly CamePacket[], bufferMs: number): Promise<Int16Array> {
  const [first] = packets;
  if (first === undefined) return new Int16Array(0);
  const frames = new Map<number, Uint8Array>();
  for (const { timestamp, payload, atMs } of packets) {
    const frame = Math.round(((timestamp - first.timestamp) | 0) / frameTicks);
    const dueMs = first.atMs + frame * 20 + bufferMs;
    if (frame >= 0 && atMs <= dueMs) frames.set(frame, payload);
  }
  const decoder = await createDecoder({ sampleRate: rate, channels: 1 });
  const last = Math.max(...frames.keys());
  const out = new Int16Array((last + 1) * frameSamples);
  let hole = 0;
  for (let frame = 0; frame <= last; frame += 1) {
    const payload = frames.get(frame);
    const next = frames.get(frame + 1);
    hole = payload === undefined ? hole + 1 : 0;
    if (payload !== undefined) out.set(decoder.decode(payload), frame * frameSamples);
    else if (next !== undefined)
      out.set(decoder.decode(next, { decodeFec: true, frameSize: frameSamples }), frame * frameSamples);
    else if (hole <= longestHole) out.set(decoder.decodePacketLoss(frameSamples), frame * frameSamples);
  }
  decoder.free();
  return out;
}

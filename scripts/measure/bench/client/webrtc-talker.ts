/**
 * One WebRTC caller who speaks into the agent's speech, with a microphone that runs in real time and a loudspeaker behind a jitter buffer of
 * its own: what has been sent is played to its end, as a browser does, whatever the service would rather have back.
 */
import { createDecoder, createEncoder, type OpusDecoderHandle, type OpusEncoderHandle } from 'libopus-wasm';
import { rmsDbfs } from '../../../../shared/audio/pcm.ts';
import { newPrng } from '../../../../shared/base/prng.ts';
import { frameMs, Distribution } from '../report/statistics.ts';
import { frameSamples, sampleRate } from './talker.ts';
import { WebrtcPeer } from './webrtc-peer.ts';

/** A loudspeaker begins this much behind the first packet of a stretch. */
export const bufferMs = 60;
/** What would make it wait longer is left out, as jitter buffers do: packets that came together after a stall of this process, not of the line. */
const mostBufferedMs = bufferMs + 2 * frameMs;
/** Softer is silence. */
const audibleDbfs = -50;
/** A frame is looked at in pieces: the codec's tail behind a word is shorter than a frame. */
const pieceMs = 5;
const noiseAmplitude = 2;
/** An agent that is still for so long stands still for the caller: the longest pause in the greeting is 194 ms. */
export const stillMs = 400;
/** By then it is decided whether it was interrupted, or goes on. */
export const decidedMs = 1_500;
export const longestMs = 15_000;

/** Pieces of a frame until the last one that can be heard. */
function audiblePieces(pcm: Int16Array): number {
  const samples = (sampleRate * pieceMs) / 1000;
  for (let piece = frameMs / pieceMs; piece > 0; piece -= 1)
    if (rmsDbfs(pcm.subarray((piece - 1) * samples, piece * samples)) >= audibleDbfs) return piece;
  return 0;
}

export interface WebrtcTalkPlan {
  readonly url: string;
  readonly sound: Int16Array;
  /** First loud sample of it. */
  readonly loudAt: number;
  /** Audible frames of the agent before the sound. */
  readonly afterFrames: number;
  /** Samples of silence before the sound in its frame. */
  readonly offset: number;
}

/** Milliseconds from the first loud sample until the loudspeaker is silent, or why that is not known. */
export async function webrtcTalk(plan: WebrtcTalkPlan): Promise<number | string> {
  const codec = {
    encoder: await createEncoder({ sampleRate, channels: 1, bitrate: 32_000 }),
    decoder: await createDecoder({ sampleRate, channels: 1 }),
  };
  try {
    return await new WebrtcTalker(plan, codec).run();
  } finally {
    codec.encoder.free();
    codec.decoder.free();
  }
}

interface Codec {
  readonly encoder: OpusEncoderHandle;
  readonly decoder: OpusDecoderHandle;
}

class WebrtcTalker {
  readonly #plan: WebrtcTalkPlan;
  readonly #codec: Codec;
  readonly #peer: WebrtcPeer;
  readonly #prng = newPrng(9);
  #audible = 0;
  /** Until when the loudspeaker has something to play, and until when something that can be heard. */
  #playsUntil = 0;
  #heardUntil = 0;
  #soundAt = -1;
  #loudAtMs = 0;
  #isOver = false;

  constructor(plan: WebrtcTalkPlan, codec: Codec) {
    this.#plan = plan;
    this.#codec = codec;
    this.#peer = new WebrtcPeer({
      url: plan.url,
      findings: () => ({ gaps: new Distribution(), packets: 0, lost: 0 }),
      heard: (payload, now) => this.#hear(payload, now),
    });
  }

  async run(): Promise<number | string> {
    const status = await this.#peer.call();
    if (status !== 201) return `the offer got ${status}`;
    const found = await this.#speak();
    this.#isOver = true;
    await this.#peer.hangUp();
    return found;
  }

  #hear(payload: Uint8Array, now: number): void {
    if (this.#isOver || payload.length === 0) return;
    const pcm = this.#codec.decoder.decode(payload);
    if (this.#playsUntil < now) this.#playsUntil = now + bufferMs;
    this.#playsUntil = Math.min(this.#playsUntil + frameMs, now + mostBufferedMs);
    const last = audiblePieces(pcm);
    if (last === 0) return;
    this.#audible += 1;
    this.#heardUntil = this.#playsUntil - frameMs + last * pieceMs;
  }

  #speak(): Promise<number | string> {
    const startedAt = performance.now();
    return new Promise((resolve) => {
      let sent = 0;
      let silent: { readonly afterMs: number; readonly atMs: number } | undefined;
      const tick = (): void => {
        const now = performance.now();
        for (; sent < Math.floor((now - startedAt) / frameMs); sent += 1) this.#sendFrame(sent, startedAt);
        if (this.#soundAt >= 0 && now - Math.max(this.#heardUntil, this.#loudAtMs) > stillMs)
          silent ??= { afterMs: this.#heardUntil - this.#loudAtMs, atMs: now };
        if (silent !== undefined && now - silent.atMs > decidedMs) resolve(silent.afterMs);
        else if (now - startedAt > longestMs) resolve('the bot was not interrupted');
        else setTimeout(tick, Math.max(0, startedAt + (sent + 1) * frameMs - performance.now()));
      };
      tick();
    });
  }

  #sendFrame(index: number, startedAt: number): void {
    const { sound, loudAt, offset, afterFrames } = this.#plan;
    const from = index * frameSamples;
    if (this.#soundAt < 0 && this.#audible >= afterFrames) {
      this.#soundAt = from + offset;
      this.#loudAtMs = startedAt + ((this.#soundAt + loudAt) * 1000) / sampleRate;
    }
    const frame = Int16Array.from({ length: frameSamples }, (_, i) => {
      const said = this.#soundAt < 0 ? 0 : (sound[from + i - this.#soundAt] ?? 0);
      const noise = this.#prng.below(2 * noiseAmplitude + 1) - noiseAmplitude;
      return Math.max(-32_768, Math.min(32_767, noise + said));
    });
    this.#peer.send(this.#codec.encoder.encode(frame));
  }
}

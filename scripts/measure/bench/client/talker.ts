/**
 * One caller whose every sample is known: its microphone runs in real time, a sound is laid into the agent's speech, and what was
 * sent and received is kept with its times. Its loudspeaker may leak into its microphone.
 */
import { newPrng } from '../../../../shared/base/prng.ts';
import { audioFrame, CallClient } from './client.ts';
import { frameMs, prebufferMs } from '../report/statistics.ts';

export const sampleRate = 16_000;
export const frameSamples = (sampleRate * frameMs) / 1000;
const samplesPerMs = sampleRate / 1000;
const noiseAmplitude = 2;
/** A call is given up after this, whatever it waits for. */
const longestMs = 20_000;
/** The agent has nothing more to say. */
const overAfterMs = 1_500;
/** A stalled process catches up this many frames at once. */
const catchUpFrames = 50;

export interface TalkPlan {
  readonly address: { readonly host: string; readonly port: number };
  /** 16 kHz; without one the caller only listens. */
  readonly sound?: Int16Array | undefined;
  /** A key that is pressed instead of a sound. */
  readonly key?: string;
  /** Received frames of the agent before that. */
  readonly afterFrames: number;
  /** Samples of silence before the sound in its frame. */
  readonly offset: number;
  /** The agent's voice comes back into the microphone, so much quieter and later. */
  readonly echo?: { readonly db: number; readonly delayMs: number };
  /** Ends with the first `clear`, else when the agent has finished. */
  readonly until: 'clear' | 'end';
}

export interface Talk {
  readonly sent: Int16Array;
  /** When each frame was written to the socket. */
  readonly sentAt: readonly number[];
  /** The sample of `sent` at which the sound begins. */
  readonly soundAt: number;
  readonly keyAt: number;
  /** Everything that came, one after another. */
  readonly received: Buffer;
  /** When each frame of it came. */
  readonly receivedAt: readonly number[];
  readonly clearsAt: readonly number[];
  readonly failed: string | undefined;
}

/** What leaks from the loudspeaker, on the microphone's samples. */
class Leak {
  readonly #gain: number;
  readonly #delay: number;
  readonly #samples = new Float32Array((longestMs + 2_000) * samplesPerMs);
  #playedTo = 0;

  constructor({ db, delayMs }: { db: number; delayMs: number }) {
    this.#gain = 10 ** (db / 20);
    this.#delay = delayMs * samplesPerMs;
  }

  play(payload: Buffer, nowSample: number): void {
    if (this.#playedTo < nowSample) this.#playedTo = nowSample + prebufferMs * samplesPerMs;
    for (let i = 0; i + 1 < payload.length; i += 2) {
      this.#samples[this.#playedTo + this.#delay] = payload.readInt16LE(i) * this.#gain;
      this.#playedTo += 1;
    }
  }

  /** The client has dropped what it had not played. */
  clear(nowSample: number): void {
    if (this.#playedTo <= nowSample) return;
    this.#samples.fill(0, nowSample + this.#delay, this.#playedTo + this.#delay);
    this.#playedTo = nowSample;
  }

  at = (sample: number): number => this.#samples[sample] ?? 0;
}

class Talker {
  readonly #plan: TalkPlan;
  readonly #client: CallClient;
  readonly #leak: Leak | undefined;
  readonly #prng = newPrng(9);
  readonly #startedAt: { ms: number } = { ms: 0 };
  readonly #frames: Int16Array[] = [];
  readonly #sentAt: number[] = [];
  readonly #received: Buffer[] = [];
  readonly #receivedAt: number[] = [];
  readonly #clearsAt: number[] = [];
  readonly #done: (talk: Talk) => void;
  #started = false;
  #soundAt = -1;
  #keyAt = -1;
  #lastAudioAt = 0;
  #over = false;

  constructor(plan: TalkPlan, done: (talk: Talk) => void) {
    this.#plan = plan;
    this.#done = done;
    this.#leak = plan.echo && new Leak(plan.echo);
    this.#client = new CallClient(plan.address, {
      opened: () =>
        this.#client.sendMessage({ type: 'start', version: 1, sample_rate: sampleRate, encoding: 'pcm16' }),
      audio: (payload) => this.#onAudio(payload),
      message: (message) => this.#onMessage(message),
      closed: (reason) => this.#end(reason),
    });
  }

  #onMessage({ type, id }: Record<string, unknown>): void {
    const now = performance.now();
    if (type === 'started') {
      this.#started = true;
      this.#startedAt.ms = now;
      this.#lastAudioAt = now;
      this.#tick();
    } else if (type === 'mark') this.#client.sendMessage({ type: 'mark', id });
    else if (type === 'clear') {
      this.#clearsAt.push(now);
      this.#leak?.clear(this.#sampleAt(now));
    }
  }

  #onAudio(payload: Buffer): void {
    const now = performance.now();
    this.#lastAudioAt = now;
    this.#received.push(Buffer.from(payload));
    this.#receivedAt.push(performance.now());
    this.#leak?.play(payload, this.#sampleAt(now));
  }

  #sampleAt(now: number): number {
    return Math.max(0, Math.round((now - this.#startedAt.ms) * samplesPerMs));
  }

  #tick(): void {
    if (this.#over) return;
    const now = performance.now();
    const due = Math.floor((now - this.#startedAt.ms) / frameMs);
    const most = this.#frames.length + catchUpFrames;
    while (this.#frames.length < Math.min(due, most)) this.#sendFrame(now);
    if (this.#isOver(now)) {
      this.#client.sendMessage({ type: 'stop' });
      this.#end(undefined);
      return;
    }
    const next = this.#startedAt.ms + (this.#frames.length + 1) * frameMs;
    setTimeout(() => this.#tick(), Math.max(0, next - performance.now()));
  }

  #sendFrame(now: number): void {
    const from = this.#frames.length * frameSamples;
    if (this.#soundAt < 0 && this.#keyAt < 0 && this.#received.length >= this.#plan.afterFrames)
      this.#begin(from, now);
    const { sound } = this.#plan;
    const frame = Int16Array.from({ length: frameSamples }, (_, i) => {
      const noise = this.#prng.below(2 * noiseAmplitude + 1) - noiseAmplitude;
      const said = this.#soundAt < 0 ? 0 : (sound?.[from + i - this.#soundAt] ?? 0);
      const leaked = this.#leak?.at(from + i) ?? 0;
      return Math.max(-32_768, Math.min(32_767, Math.round(noise + said + leaked)));
    });
    this.#frames.push(frame);
    this.#client.sendFrame(audioFrame(new Uint8Array(frame.buffer)));
    this.#sentAt.push(performance.now());
  }

  #begin(from: number, now: number): void {
    const { key, sound, offset } = this.#plan;
    if (sound !== undefined) this.#soundAt = from + offset;
    if (key === undefined) return;
    this.#keyAt = now;
    this.#client.sendMessage({ type: 'dtmf', digit: key });
  }

  #isOver(now: number): boolean {
    if (now - this.#startedAt.ms > longestMs) return true;
    if (this.#plan.until === 'clear' && this.#clearsAt.length > 0) return true;
    const { sound } = this.#plan;
    const saidMs = this.#soundAt < 0 ? 0 : ((this.#soundAt + (sound?.length ?? 0)) * 1000) / sampleRate;
    return now - Math.max(this.#lastAudioAt, this.#startedAt.ms + saidMs) > overAfterMs;
  }

  #end(reason: string | undefined): void {
    if (this.#over) return;
    this.#over = true;
    setTimeout(() => this.#client.destroy(), 200);
    this.#done({
      sent: Int16Array.from(this.#frames.flatMap((frame) => [...frame])),
      sentAt: this.#sentAt,
      soundAt: this.#soundAt,
      keyAt: this.#keyAt,
      received: Buffer.concat(this.#received),
      receivedAt: this.#receivedAt,
      clearsAt: this.#clearsAt,
      failed: this.#started ? reason : (reason ?? 'the call did not start'),
    });
  }
}

/** Holds one call and hangs up. */
export const talk = (plan: TalkPlan): Promise<Talk> => new Promise((resolve) => new Talker(plan, resolve));

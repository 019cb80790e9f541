/**
 * The door of this room, the only file of it that anything outside imports: whose voice is heard, and whether it is surely one.
 *
 * A call gives what it sends and what it hears; the answers cost nothing until somebody asks. Decision 0028.
 */
import { ENGINE_RATE, type Millis } from '../../../shared/base/units.ts';
import { EchoDetector } from './detector.ts';
import { SoundLevels } from './levels.ts';
import { PlayedAudio } from './played.ts';
import { lookRate, readFlat, readWide, type Written } from './samples.ts';

export { longestUnprovedMs, VoiceProof } from './voice-proof.ts';

/** The last of the caller's audio: a ring of at least 0.6 s of 16 kHz PCM16, and how many samples have been written into it in all. */
export type HeardAudio = Pick<Written, 'ring' | 'count'>;

/** `auto`: the agent's own voice is looked for, as no client can say yet that it cancels echo itself; `off`: it is not (`turn.echo`). */
export type EchoMode = 'auto' | 'off';

export interface CallEchoOptions {
  readonly mode: EchoMode;
  /** Of the call, in Hz. */
  readonly sampleRate: number;
  /** Read when somebody asks; its ring must not move. */
  readonly heard: HeardAudio;
}

export interface CallEcho {
  /** These samples, at the call's rate, go to the client now. */
  sent(pcm: Int16Array, now: Millis): void;
  /** These samples of 16 kHz were written into the ring of what is heard. */
  took(pcm: Int16Array): void;
  /** The agent can be heard: something was sent a short time ago; pauses between its words are sent as well. */
  isOverAgent(now: Millis): boolean;
  /** The voice that is heard now is the agent's own. */
  isEcho(now: Millis): boolean;
  /** What is heard now, a voice or not, is the echo that is known already. */
  isKnownEcho(now: Millis): boolean;
  /** The call's echo is known so well that a voice it does not explain is somebody else's. */
  readonly isClear: boolean;
}

/** The agent can be heard for so long after a frame was sent. */
const overAgentMs = 500;

export const newCallEcho = (options: CallEchoOptions): CallEcho =>
  options.mode === 'off' ? new NoEcho(options.sampleRate) : new WatchedEcho(options);

class WatchedEcho implements CallEcho {
  readonly #played: PlayedAudio;
  readonly #levels = new SoundLevels(ENGINE_RATE);
  readonly #detector: EchoDetector;

  constructor({ sampleRate, heard }: CallEchoOptions) {
    this.#played = new PlayedAudio(sampleRate);
    const end = (): number => Math.floor((heard.count * lookRate) / ENGINE_RATE);
    const written = (): Written => ({ ring: heard.ring, rate: ENGINE_RATE, count: heard.count });
    this.#detector = new EchoDetector({
      played: this.#played,
      heard: {
        levels: this.#levels,
        read: (into) => {
          readFlat(written(), end(), into);
          return end();
        },
        readWide: (into) => readWide(written(), end(), into),
      },
    });
  }

  sent(pcm: Int16Array, now: Millis): void {
    this.#played.add(pcm, now);
  }

  took(pcm: Int16Array): void {
    this.#levels.add(pcm);
  }

  isOverAgent(now: Millis): boolean {
    return this.#played.within(overAgentMs, now);
  }

  isEcho(now: Millis): boolean {
    return this.#detector.isEcho(now);
  }

  isKnownEcho(now: Millis): boolean {
    return this.#detector.isKnownEcho(now);
  }

  get isClear(): boolean {
    return this.#detector.isClear;
  }
}

/** Keeps no audio, and knows only when something was sent. */
class NoEcho implements CallEcho {
  readonly isClear = false;
  readonly #sampleRate: number;
  #endsAt: Millis = Number.NEGATIVE_INFINITY;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  sent(pcm: Int16Array, now: Millis): void {
    this.#endsAt = Math.max(this.#endsAt, now) + (pcm.length * 1000) / this.#sampleRate;
  }

  took(): void {}

  isOverAgent(now: Millis): boolean {
    return now - this.#endsAt < overAgentMs;
  }

  isEcho(): boolean {
    return false;
  }

  isKnownEcho(): boolean {
    return false;
  }
}

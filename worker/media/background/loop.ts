/**
 * Sounds that go on for as long as a call lasts: one turn of each, at the rates of the calls, shared by all calls of a worker. The turn at a rate
 * is made when the first call gets there, 20 ms at a time, so that no call waits for the whole of it.
 */
import { newResampler } from '../../../shared/audio/resampler.ts';
import { assert } from '../../../shared/base/assert.ts';
import type { BackgroundDefinition } from '../../../shared/config/agent/background.ts';
import { levelFactor } from '../out/level.ts';
import { makeSound, soundRate } from './sounds.ts';

const framesPerS = 50;
/** The end of a file sounds on in its beginning for so long. */
const crossfadeS = 0.04;
/** So much of its end a resampler is given before the beginning. */
const leadInFrames = 3;

/** One turn at one rate, in frames of 20 ms. */
export interface Turn {
  readonly frames: number;
  /** Valid for good. A frame may be asked for when the ones before it were. */
  frame(index: number): Int16Array;
}

export class SoundLoop {
  readonly when: BackgroundDefinition['when'];
  readonly #pcm: Int16Array;
  readonly #rate: number;
  readonly #turns = new Map<number, Turn>();

  /** @param lufs that the sound is brought to before `volume` counts; absent: it stays as it was recorded. */
  constructor({ source, volume, when }: BackgroundDefinition, lufs?: number) {
    const { pcm, sampleRate } =
      typeof source === 'string'
        ? { pcm: makeSound(source), sampleRate: soundRate }
        : { pcm: closed(source.pcm, source.sampleRate), sampleRate: source.sampleRate };
    this.when = when;
    const factor = lufs === undefined ? volume : volume * levelFactor(pcm, sampleRate, lufs);
    this.#pcm = pcm.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * factor))));
    this.#rate = sampleRate;
  }

  /** At the rate of a call, in Hz. */
  at(rate: number): Turn {
    const known = this.#turns.get(rate);
    if (known !== undefined) return known;
    const turn = newTurn(this.#pcm, this.#rate, rate);
    this.#turns.set(rate, turn);
    return turn;
  }
}

function newTurn(pcm: Int16Array, from: number, to: number): Turn {
  const [taken, given] = [from / framesPerS, to / framesPerS];
  const frames = pcm.length / taken;
  const made = new Int16Array(frames * given);
  const resampler = newResampler({ from, to });
  resampler.process(pcm.subarray(-leadInFrames * taken));
  let count = 0;
  return {
    frames,
    frame: (index) => {
      assert(index <= count, 'a turn is made from its beginning');
      if (index === count) {
        made.set(resampler.process(pcm.subarray(index * taken, (index + 1) * taken)), index * given);
        count += 1;
      }
      return made.subarray(index * given, (index + 1) * given);
    },
  };
}

/** A recording as one turn of a loop, in whole frames: its end fades out over its beginning, each with its share of the power. */
export function closed(pcm: Int16Array, rate: number): Int16Array {
  const fade = Math.round(crossfadeS * rate);
  const frame = rate / framesPerS;
  const length = Math.floor((pcm.length - fade) / frame) * frame;
  const turn = pcm.slice(0, length);
  for (let at = 0; at < fade; at += 1) {
    const angle = ((at + 0.5) / fade) * (Math.PI / 2);
    const sum = (turn[at] ?? 0) * Math.sin(angle) + (pcm[length + at] ?? 0) * Math.cos(angle);
    turn[at] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  }
  return turn;
}

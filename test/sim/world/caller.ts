/** The simulated caller: turns with pauses, words of listening, coughs, mumbling and key presses, whatever the agent does. */
import type { Prng } from '../../../shared/base/prng.ts';
import { backchannels } from '../plan.ts';

export interface CallerEars {
  /** A word was said to its end. */
  said(word: string): void;
  pressed(digit: string): void;
}

interface Sound {
  readonly fromMs: number;
  readonly toMs: number;
}

const msPerWord = 320;

export class Caller {
  readonly #prng: Prng;
  readonly #ears: CallerEars;
  #sounds: Sound[] = [];
  #words: { at: number; word: string }[] = [];
  #keys: { at: number; digit: string }[] = [];
  #busyUntil = 0;
  #count = 0;

  constructor(prng: Prng, ears: CallerEars) {
    this.#prng = prng;
    this.#ears = ears;
    this.#busyUntil = prng.below(4_000);
  }

  /** Lives up to `now`; true when there is voice. */
  tick(now: number): boolean {
    if (now >= this.#busyUntil) this.#plan(now);
    for (let word = this.#words[0]; word !== undefined && word.at <= now; word = this.#words[0]) {
      this.#words.shift();
      this.#ears.said(word.word);
    }
    for (let key = this.#keys[0]; key !== undefined && key.at <= now; key = this.#keys[0]) {
      this.#keys.shift();
      this.#ears.pressed(key.digit);
    }
    while (this.#sounds[0] !== undefined && this.#sounds[0].toMs <= now) this.#sounds.shift();
    return this.#sounds[0] !== undefined && this.#sounds[0].fromMs <= now;
  }

  #plan(now: number): void {
    const prng = this.#prng;
    const kind = prng.next();
    let at = now;
    if (kind < 0.5) at = this.#turn(at);
    else if (kind < 0.62) at = this.#listens(at);
    else if (kind < 0.8) at = this.#sound(at, 40 + prng.below(380));
    else if (kind < 0.86) at = this.#sound(at, 1_000 + prng.below(1_500));
    else if (kind < 0.94) at = this.#press(at);
    const gap = prng.next();
    const gapMs =
      gap < 0.45 ? prng.below(2_000) : gap < 0.93 ? prng.below(8_000) : 12_000 + prng.below(15_000);
    this.#busyUntil = at + gapMs + 100;
  }

  /** A few words with pauses between them, some of which look like the end. */
  #turn(from: number): number {
    const prng = this.#prng;
    let at = from;
    for (let burst = 1 + prng.below(3); burst > 0; burst -= 1) {
      const words = 1 + prng.below(5);
      for (let word = 1; word <= words; word += 1) this.#word(at + word * msPerWord);
      at = this.#sound(at, words * msPerWord) + 60 + prng.below(700);
    }
    return prng.chance(0.15) ? this.#flicker(at - prng.below(400)) : at;
  }

  #word(at: number): void {
    this.#count += 1;
    const spoken = this.#prng.chance(0.1) ? `and${this.#count}` : `say${this.#count}`;
    this.#words.push({ at, word: this.#prng.chance(0.03) ? 'and' : spoken });
  }

  /** Says that it is still there, once or a few times. */
  #listens(from: number): number {
    const words = this.#prng.pick(backchannels).split(' ');
    const said = this.#prng.chance(0.2)
      ? [...words, ...words, ...words, ...words, ...words, ...words]
      : words;
    said.forEach((word, index) => this.#words.push({ at: from + (index + 1) * 300, word }));
    return this.#sound(from, said.length * 300);
  }

  /** A noise that comes and goes, too short to be speech and too frequent to be silence. */
  #flicker(from: number): number {
    let at = from;
    for (let noises = 3 + this.#prng.below(15); noises > 0; noises -= 1) at = this.#sound(at, 40) + 100;
    return at;
  }

  #sound(fromMs: number, ms: number): number {
    this.#sounds.push({ fromMs, toMs: fromMs + ms });
    return fromMs + ms;
  }

  #press(from: number): number {
    const prng = this.#prng;
    let at = from;
    for (let digits = prng.below(4); digits >= 0; digits -= 1) {
      this.#keys.push({
        at,
        digit: digits === 0 && prng.chance(0.5) ? '#' : prng.pick(['1', '5', '0', '*']),
      });
      at += 150 + prng.below(900);
    }
    return at;
  }
}

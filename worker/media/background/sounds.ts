/**
 * The sounds of the service itself, made of seeded noise and filters: the same on every machine, and nobody's recording. Pure.
 *
 * Invariant: each is one turn of a loop. Filters begin with what they have of its end, and events reach over the end into the beginning, so
 * that the last sample goes on with the first.
 */
import { newPrng } from '../../../shared/base/prng.ts';
import type { SoundName } from '../../../shared/config/agent/background.ts';

/** Of what is made here, in Hz. */
export const soundRate = 16_000;
const length = 20 * soundRate;
const seed = 20;

/** Longer than any filter here rings, in samples. */
const ringing = soundRate / 4;

type Random = () => number;
type Wave = Float32Array;

const silence = (): Wave => new Float32Array(length);
const between = (random: Random, from: number, to: number): number => from + random() * (to - from);

function noise(random: Random): Wave {
  return silence().map(() => random() * 2 - 1);
}

/** A resonance (RBJ's band-pass, 0 dB at its peak), or what lies below a frequency. */
type Filter = { readonly pass: 'band' | 'low'; readonly hz: number; readonly q: number };

function filtered(wave: Wave, { pass, hz, q }: Filter): Wave {
  const w = (2 * Math.PI * hz) / soundRate;
  const alpha = Math.sin(w) / (2 * q);
  const a0 = 1 + alpha;
  const [a1, a2] = [(-2 * Math.cos(w)) / a0, (1 - alpha) / a0];
  const low = (1 - Math.cos(w)) / 2 / a0;
  const [b0, b1, b2] = pass === 'low' ? [low, 2 * low, low] : [alpha / a0, 0, -alpha / a0];
  const out = new Float32Array(wave.length);
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  // The filter still rings of the end at the beginning.
  for (let at = -ringing; at < wave.length; at += 1) {
    const x = wave[at < 0 ? at + wave.length : at] ?? 0;
    const y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
    x2 = x1;
    x1 = x;
    y2 = y1;
    y1 = y;
    if (at >= 0) out[at] = y;
  }
  return out;
}

const band = (wave: Wave, hz: number, q: number): Wave => filtered(wave, { pass: 'band', hz, q });
const lowPass = (wave: Wave, hz: number): Wave => filtered(wave, { pass: 'low', hz, q: 0.7 });

/** Adds a wave so much softer or louder than its mean level of 1. */
function add(to: Wave, wave: Wave, db: number): void {
  let squares = 0;
  for (const sample of wave) squares += sample * sample;
  const factor = 10 ** (db / 20) / Math.sqrt(squares / wave.length + Number.MIN_VALUE);
  for (let at = 0; at < to.length; at += 1) to[at] = (to[at] ?? 0) + factor * (wave[at] ?? 0);
}

/** Adds something short; what lies beyond the end comes at the beginning. */
function strike(to: Wave, at: number, samples: number, sampleOf: (t: number) => number): void {
  for (let i = 0; i < samples; i += 1) {
    const place = (Math.round(at) + i) % to.length;
    to[place] = (to[place] ?? 0) + sampleOf(i / soundRate);
  }
}

/** Rises and falls once within its time, softly. */
const swell = (t: number, lengthS: number): number => Math.sin((Math.PI * t) / lengthS) ** 2;

/**
 * Somebody who speaks in the next room: a buzz at the height of a voice in syllables and phrases, without the resonances by which vowels are
 * told apart, so that there is no word in it.
 */
function murmur(random: Random): Wave {
  const wave = silence();
  const hz = between(random, 95, 210);
  let at = random() * length;
  const end = at + length - 2 * soundRate;
  while (at < end) {
    const syllables = Math.round(between(random, 4, 14));
    for (let i = 0; i < syllables; i += 1) {
      const lengthS = between(random, 0.12, 0.28);
      const from = hz * between(random, 0.9, 1.15) * (1.1 - (0.25 * i) / syllables);
      const fall = between(random, -0.2, 0.1) * from;
      const loud = between(random, 0.4, 1);
      strike(wave, at, lengthS * soundRate, (t) => {
        const phase = (from * t + (fall * t * t) / (2 * lengthS)) % 1;
        return loud * swell(t, lengthS) * (1 - 2 * phase);
      });
      at += lengthS * between(random, 0.7, 1) * soundRate;
    }
    at += between(random, 0.4, 2.5) * soundRate;
  }
  return lowPass(band(wave, between(random, 320, 520), 0.6), 700);
}

/** Somebody who types: words of some letters, with pauses to think. */
function typing(random: Random): Wave {
  const wave = silence();
  const hiss = band(noise(random), 3_200, 0.9);
  const press = (at: number, loud: number): void => {
    const from = Math.floor(random() * (length - soundRate));
    const body = between(random, 170, 260);
    strike(wave, at, 0.06 * soundRate, (t) => {
      const rise = Math.min(1, t / 0.0006);
      const click = (hiss[from + Math.round(t * soundRate)] ?? 0) * Math.exp(-t / 0.006);
      const knock = 0.25 * Math.sin(2 * Math.PI * body * t) * Math.exp(-t / 0.014);
      return loud * rise * (click + knock);
    });
  };
  for (let at = 0; at < length - soundRate;) {
    const letters = Math.round(between(random, 3, 11));
    for (let i = 0; i < letters; i += 1) {
      const loud = between(random, 0.6, 1);
      press(at, loud);
      press(at + between(random, 0.06, 0.1) * soundRate, 0.3 * loud);
      at += between(random, 0.09, 0.2) * soundRate;
    }
    at += between(random, 0.25, random() < 0.25 ? 1.6 : 0.5) * soundRate;
  }
  return wave;
}

function office(random: Random): Wave {
  const wave = silence();
  add(wave, lowPass(noise(random), 250), -8);
  add(wave, band(noise(random), 900, 0.3), -20);
  for (let voice = 0; voice < 5; voice += 1) add(wave, murmur(random), between(random, -12, -7));
  add(wave, lowPass(typing(random), 4_000), -22);
  return wave;
}

function street(random: Random): Wave {
  const wave = silence();
  add(wave, lowPass(lowPass(noise(random), 120), 250), -8);
  add(wave, band(noise(random), 700, 0.4), -16);
  for (let car = 0; car < 6; car += 1) {
    const tyres = band(noise(random), between(random, 450, 1_100), 0.7);
    const passing = silence();
    const lengthS = between(random, 3, 6);
    const from = Math.floor(random() * length);
    strike(passing, from, lengthS * soundRate, (t) => {
      const place = (from + Math.round(t * soundRate)) % length;
      return swell(t, lengthS) ** 2 * (tyres[place] ?? 0);
    });
    add(wave, passing, between(random, -14, -8));
  }
  return lowPass(wave, 2_500);
}

const makers: Readonly<Record<SoundName, (random: Random) => Wave>> = { office, street, keyboard: typing };

/** The level of the loud parts, as that of a voice is measured without its pauses; and no sample may be beyond this. */
const loudLevel = 10 ** (-20 / 20);
const mostPeak = 0.9;
const frame = soundRate / 50;

/** One turn of a sound at {@link soundRate}, about as loud as a voice. */
export function makeSound(name: SoundName): Int16Array {
  const prng = newPrng(seed);
  const wave = makers[name](() => prng.next());
  const levels: number[] = [];
  let peak = 0;
  for (let at = 0; at < wave.length; at += frame) {
    let squares = 0;
    for (const sample of wave.subarray(at, at + frame)) {
      squares += sample * sample;
      peak = Math.max(peak, Math.abs(sample));
    }
    levels.push(Math.sqrt(squares / frame));
  }
  levels.sort((a, b) => a - b);
  const factor = Math.min(loudLevel / (levels[Math.floor(levels.length * 0.9)] ?? 1), mostPeak / peak);
  const pcm = new Int16Array(wave.length);
  for (let at = 0; at < pcm.length; at += 1) pcm[at] = Math.round((wave[at] ?? 0) * factor * 32_767);
  return pcm;
}

/**
 * Voices made by a seeded generator: syllables of a buzz with a moving pitch through moving resonances, hisses between them, and pauses.
 * They are no language and nobody's, but have what makes one voice explain another by chance: pitch, vowels and rhythm.
 */
import { newPrng, type Prng } from '../../../shared/base/prng.ts';

const rate = 16_000;

/** A resonance of the second order whose frequency may move. */
class Resonance {
  #last = 0;
  #before = 0;

  take(sample: number, hz: number, widthHz: number): number {
    const radius = Math.exp((-Math.PI * widthHz) / rate);
    const gain = 1 - radius;
    const turn = 2 * radius * Math.cos((2 * Math.PI * hz) / rate);
    const out = gain * sample + turn * this.#last - radius * radius * this.#before;
    this.#before = this.#last;
    this.#last = out;
    return out;
  }
}

interface Sound {
  readonly samples: number;
  readonly formants: readonly [number, number, number];
  readonly hiss: boolean;
  readonly loudness: number;
}

const soundOf = (prng: Prng): Sound => {
  const hiss = prng.chance(0.3);
  return {
    samples: Math.round(rate * (hiss ? 0.05 + 0.07 * prng.next() : 0.07 + 0.13 * prng.next())),
    formants: [270 + 550 * prng.next(), 850 + 1_450 * prng.next(), 2_300 + 800 * prng.next()],
    hiss,
    loudness: hiss ? 0.15 : 0.6 + 0.4 * prng.next(),
  };
};

export interface MadeVoice {
  /** Decides everything. */
  readonly seed: number;
  readonly pitchHz: number;
  readonly ms: number;
}

/** Speech of about `ms`, mean level 3,000 of 32,768, without silence at its ends. */
export function madeVoice({ seed, pitchHz, ms }: MadeVoice): Int16Array {
  const prng = newPrng(seed);
  const length = Math.round((ms * rate) / 1000);
  const out = new Float64Array(length);
  const resonances = [new Resonance(), new Resonance(), new Resonance()];
  let phase = 0;
  let [pitch, loudness] = [pitchHz, 0];
  let formants: number[] = [500, 1_500, 2_500];
  for (let at = 0; at < length;) {
    const sound = soundOf(prng);
    const pitchWanted = pitchHz * (0.8 + 0.45 * prng.next());
    for (let i = 0; i < sound.samples && at < length; i += 1, at += 1) {
      pitch += (pitchWanted - pitch) / 800;
      loudness += (sound.loudness - loudness) / 160;
      formants = formants.map((hz, k) => hz + ((sound.formants[k] ?? hz) - hz) / 500);
      phase += (pitch * (1 + 0.02 * (prng.next() - 0.5))) / rate;
      const isPulse = phase >= 1;
      if (isPulse) phase -= 1;
      const noise = prng.next() - 0.5;
      const source = sound.hiss ? noise * 3 : (isPulse ? 12 : 0) + noise * 0.15;
      let sample = 0;
      resonances.forEach((resonance, k) => {
        sample += resonance.take(source, formants[k] ?? 500, 60 + 40 * k) / (1 + k);
      });
      out[at] = sample * loudness + (sound.hiss ? noise * loudness : 0);
    }
    // Between words.
    if (prng.chance(0.15)) at += Math.round(rate * (0.05 + 0.15 * prng.next()));
  }
  let power = 0;
  for (const sample of out) power += sample * sample;
  const gain = 3_000 / Math.sqrt(power / length);
  return Int16Array.from(out, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
}

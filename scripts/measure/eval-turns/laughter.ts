/**
 * Laughter, made: bursts of a voiced vowel behind breath, some five a second, of falling pitch and loudness. A recording has more colour;
 * these are for the question what the service makes of a voice that goes on for seconds without a word.
 */
import { newPrng } from '../../../shared/base/prng.ts';

const sampleRate = 16_000;
/** Frequencies and widths of the resonances of an open vowel, in Hz. */
const formants = [
  [720, 90],
  [1_250, 110],
  [2_600, 170],
] as const;

export interface Laugher {
  readonly name: string;
  readonly isAside: boolean;
  readonly pitchHz: number;
  /** Bursts in a second. */
  readonly pace: number;
  /** How much of it is breath, from 0 to 1. */
  readonly breath: number;
}

export const laughers: readonly Laugher[] = [
  { name: 'low', isAside: false, pitchHz: 150, pace: 4.6, breath: 0.3 },
  { name: 'high', isAside: false, pitchHz: 310, pace: 5.4, breath: 0.2 },
  { name: 'breathy', isAside: false, pitchHz: 220, pace: 5, breath: 0.6 },
  { name: 'slow', isAside: true, pitchHz: 180, pace: 4, breath: 0.35 },
  { name: 'shrill', isAside: true, pitchHz: 380, pace: 5.8, breath: 0.15 },
  { name: 'husky', isAside: true, pitchHz: 200, pace: 4.8, breath: 0.5 },
];

/** So many milliseconds of it, at any level. */
export function laugh({ pitchHz, pace, breath }: Laugher, ms: number, seed: number): Int16Array {
  const prng = newPrng(seed);
  const noise = (): number => prng.below(2_001) / 1_000 - 1;
  const length = Math.round((ms * sampleRate) / 1000);
  const source = new Float64Array(length);
  let phase = 0;
  for (let i = 0; i < length; i += 1) {
    const burst = ((i / sampleRate) * pace) % 1;
    const done = i / length;
    const hz = pitchHz * (1.25 - 0.35 * burst) * (1.1 - 0.3 * done);
    phase = (phase + hz / sampleRate) % 1;
    // Breath, then the vowel, then nothing.
    const voice = burst > 0.25 && burst < 0.75 ? Math.sin(((burst - 0.25) / 0.5) * Math.PI) : 0;
    const air = burst < 0.4 ? Math.sin((burst / 0.4) * Math.PI) : 0;
    const pulse = phase < 0.35 ? Math.sin((phase / 0.35) * Math.PI) ** 2 - 0.35 : -0.1;
    source[i] =
      (voice * pulse * (1 - breath) + (air * 0.25 + voice * 0.1) * breath * noise()) * (1 - 0.5 * done);
  }
  const sounds = formants.map(([hz, width]) => resonance(source, hz, width));
  const most = Math.max(1e-9, ...[0].concat(Array.from(source, (_, i) => Math.abs(summed(sounds, i)))));
  return Int16Array.from(source, (_, i) => Math.round((summed(sounds, i) / most) * 20_000));
}

const summed = (sounds: readonly Float64Array[], i: number): number =>
  sounds.reduce((sum, sound, at) => sum + (sound[i] ?? 0) / (at + 1), 0);

function resonance(source: Float64Array, hz: number, width: number): Float64Array {
  const radius = Math.exp((-Math.PI * width) / sampleRate);
  const [a, b] = [2 * radius * Math.cos((2 * Math.PI * hz) / sampleRate), -radius * radius];
  const out = new Float64Array(source.length);
  for (let i = 0; i < out.length; i += 1)
    out[i] = (1 - radius) * (source[i] ?? 0) + a * (out[i - 1] ?? 0) + b * (out[i - 2] ?? 0);
  return out;
}

/** The way of the agent's voice back into the caller's microphone, at 16 kHz: late, quieter, and bent as loudspeakers, rooms and lines do. */
import { newPrng, type Prng } from '../../../shared/base/prng.ts';
import { decodeMulaw, encodeMulaw } from '../../../shared/audio/g711.ts';
import { newResampler } from '../../../shared/audio/resampler.ts';
import { convolved } from './convolve.ts';

const rate = 16_000;

type Samples = Float64Array<ArrayBuffer>;

export interface EchoPath {
  readonly delayMs: number;
  readonly db: number;
  /** The impulse response of the room is a direct sound and noise that has died down by 60 dB after so long. */
  readonly roomMs?: number;
  /** How much louder than the direct sound that noise is; 3 dB quieter where it is not said. */
  readonly reverberantDb?: number;
  /** First-order, twice. */
  readonly lowPassHz?: number;
  /** 300 Hz to 4 kHz, mu-law. */
  readonly telephone?: boolean;
  /** Share of the packets of 20 ms that get lost. */
  readonly loss?: number;
  /** Loudest sample, as a multiple of the mean level. */
  readonly clipAt?: number;
  readonly driftPpm?: number;
  /** Noise, so much below the echo. */
  readonly noiseDb?: number;
}

export function level(pcm: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < pcm.length; i += 1) sum += (pcm[i] ?? 0) ** 2;
  return Math.sqrt(sum / Math.max(1, pcm.length));
}

function rounded(pcm: Samples): Int16Array {
  const out = new Int16Array(pcm.length);
  for (let i = 0; i < out.length; i += 1)
    out[i] = Math.max(-32_768, Math.min(32_767, Math.round(pcm[i] ?? 0)));
  return out;
}

const gauss = (prng: Prng): number =>
  Math.sqrt(-2 * Math.log(prng.next() + 1e-12)) * Math.cos(2 * Math.PI * prng.next());

function lowPassed(pcm: Samples, hz: number): Samples {
  const follow = 1 - Math.exp((-2 * Math.PI * hz) / rate);
  let [once, twice] = [0, 0];
  return pcm.map((sample) => {
    once += follow * (sample - once);
    twice += follow * (once - twice);
    return twice;
  });
}

function telephoned(pcm: Samples): Samples {
  const low = lowPassed(pcm, 300);
  const band = rounded(pcm.map((sample, i) => sample - (low[i] ?? 0)));
  const narrow = newResampler({ from: rate, to: 8_000 }).process(band);
  const bytes = new Uint8Array(narrow.length);
  encodeMulaw(narrow, bytes);
  const back = new Int16Array(narrow.length);
  decodeMulaw(bytes, back);
  return Float64Array.from(newResampler({ from: 8_000, to: rate }).process(back));
}

function inRoom(pcm: Samples, { ms, db, prng }: { ms: number; db: number; prng: Prng }): Samples {
  const length = (ms * rate) / 1000;
  const tail = Float64Array.from({ length }, (_, i) => gauss(prng) * 10 ** ((-3 * i) / length));
  const scale = 10 ** (db / 20) / (level(tail) * Math.sqrt(length));
  const echo = convolved(pcm, tail);
  return pcm.map((sample, i) => sample + scale * (echo[i] ?? 0));
}

function drifted(pcm: Samples, ppm: number): Samples {
  return pcm.map((_, i) => {
    const at = i * (1 + ppm * 1e-6);
    const whole = Math.floor(at);
    return (pcm[whole] ?? 0) + (at - whole) * ((pcm[whole + 1] ?? 0) - (pcm[whole] ?? 0));
  });
}

/** What the microphone hears of `bot` beside its own faint noise; as long as `bot`. */
export function echoOf(bot: Int16Array, path: EchoPath, seed = 1): Int16Array {
  const prng = newPrng(seed);
  let pcm: Samples = Float64Array.from(bot);
  if (path.loss !== undefined)
    for (let at = 0; at < pcm.length; at += rate / 50)
      if (prng.chance(path.loss)) pcm.fill(0, at, at + rate / 50);
  if (path.driftPpm !== undefined) pcm = drifted(pcm, path.driftPpm);
  if (path.clipAt !== undefined) {
    const most = path.clipAt * level(pcm);
    pcm = pcm.map((sample) => Math.max(-most, Math.min(most, sample)));
  }
  if (path.roomMs !== undefined) pcm = inRoom(pcm, { ms: path.roomMs, db: path.reverberantDb ?? -3, prng });
  if (path.lowPassHz !== undefined) pcm = lowPassed(pcm, path.lowPassHz);
  if (path.telephone === true) pcm = telephoned(pcm);
  const gain = (level(bot) / level(pcm)) * 10 ** (path.db / 20);
  const noise = path.noiseDb === undefined ? 1 : level(bot) * 10 ** ((path.db - path.noiseDb) / 20);
  const delay = (path.delayMs * rate) / 1000;
  return rounded(pcm.map((_, i) => (pcm[i - delay] ?? 0) * gain + gauss(prng) * noise));
}

/** Two sounds at once; `added` begins at a sample of `pcm`. */
export function mixed(pcm: Int16Array, added: Int16Array, at: number): Int16Array {
  return rounded(Float64Array.from(pcm, (sample, i) => sample + (added[i - at] ?? 0)));
}

/** Who answers a telephone: persons and machines, made of recordings, of synthesized sentences and of beeps, as a line at 8 kHz brings them. */
import { newPrng } from '../../../shared/base/prng.ts';
import { decodeMulaw, encodeMulaw } from '../../../shared/audio/g711.ts';
import { newResampler } from '../../../shared/audio/resampler.ts';
import { level } from './echo-path.ts';

const rate = 16_000;
/** A usual level of speech on a line: -26 dBFS. */
const usual = 32_768 * 10 ** (-26 / 20);

export const silence = (ms: number): Int16Array => new Int16Array((rate * ms) / 1000);

export function joined(parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Without the silence around it, at the usual level. */
export function voice(pcm: Int16Array): Int16Array {
  const step = 160;
  const loud: number[] = [];
  const most = level(pcm);
  for (let at = 0; at + step <= pcm.length; at += step)
    if (level(pcm.subarray(at, at + step)) > most / 10) loud.push(at);
  const cut = pcm.slice(loud[0] ?? 0, (loud.at(-1) ?? pcm.length) + step);
  const gain = usual / level(cut);
  return cut.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
}

export function beep(hz: number, ms: number, db = -18): Int16Array {
  const amplitude = 32_768 * Math.SQRT2 * 10 ** (db / 20);
  return Int16Array.from({ length: (rate * ms) / 1000 }, (_, i) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hz * i) / rate)),
  );
}

/** What arrives at 8 kHz in mu-law, with a background so much below the usual level of speech. */
export function line(
  pcm: Int16Array,
  { noise, noiseDb }: { readonly noise?: Int16Array; readonly noiseDb?: number } = {},
): Uint8Array {
  const mixed = Int16Array.from(pcm);
  if (noiseDb !== undefined) {
    const prng = newPrng(1);
    const background = noise ?? Int16Array.from({ length: pcm.length }, () => (prng.next() - 0.5) * 20_000);
    const gain = (usual * 10 ** (-noiseDb / 20)) / level(background);
    for (let i = 0; i < mixed.length; i += 1) {
      const sample = (mixed[i] ?? 0) + (background[i % background.length] ?? 0) * gain;
      mixed[i] = Math.max(-32_768, Math.min(32_767, Math.round(sample)));
    }
  }
  const narrow = newResampler({ from: rate, to: 8_000 }).process(mixed);
  const bytes = new Uint8Array(narrow.length);
  encodeMulaw(narrow, bytes);
  return bytes;
}

export function heard(bytes: Uint8Array): Int16Array {
  const pcm = new Int16Array(bytes.length);
  decodeMulaw(bytes, pcm);
  return pcm;
}

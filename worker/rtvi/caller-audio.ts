/**
 * The caller's audio of an RTVI call at the one rate that the call has for it. Clients choose rate and channels for each frame; stock ones
 * send mono at 16 kHz, which passes through as it is.
 */
import { int16View } from '../../shared/audio/pcm.ts';
import { SAMPLE_RATES } from '../../shared/base/units.ts';
import { newResampler, type Resampler } from '../../shared/audio/resampler.ts';
import type { ConvertAudio } from './dialect.ts';

const mostChannels = 8;

export function newCallerAudio(toRate: number): ConvertAudio {
  let resampler: Resampler | undefined;
  let fromRate = toRate;
  return ({ samples, sampleRate, channels }) => {
    if (channels > mostChannels || !Number.isInteger(channels) || !SAMPLE_RATES.includes(sampleRate))
      return undefined;
    if (samples.length % (2 * Math.max(1, channels)) !== 0) return undefined;
    const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.length);
    if (sampleRate === toRate && channels <= 1) return bytes;
    const pcm = mono(int16View(bytes, new Int16Array(bytes.length / 2)), Math.max(1, channels));
    if (sampleRate !== fromRate) {
      resampler = sampleRate === toRate ? undefined : newResampler({ from: sampleRate, to: toRate });
      fromRate = sampleRate;
    }
    const out = resampler?.process(pcm) ?? pcm;
    return Buffer.from(out.buffer, out.byteOffset, out.byteLength);
  };
}

function mono(pcm: Int16Array, channels: number): Int16Array {
  if (channels === 1) return pcm;
  const out = new Int16Array(pcm.length / channels);
  for (let at = 0; at < out.length; at += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += pcm[at * channels + channel] ?? 0;
    out[at] = Math.round(sum / channels);
  }
  return out;
}

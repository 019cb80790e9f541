/**
 * The sound of the announcement, which callers hear when TTS cannot be heard and no line was made ahead of time: the operator's
 * recording, the one that ships for the language, or a signal that is nobody's language.
 */
import { readFileSync } from 'node:fs';
import type { AnnouncementDefinition } from '../../shared/config/agent/announcement.ts';
import { newResampler } from '../../shared/audio/resampler.ts';
import { parseWav } from '../../shared/audio/wav.ts';
import type { KnownLine } from './known-lines-session.ts';

/** Ships beside the code that reads it; `npm run announcement` makes it. */
const shipped = new URL('../announcements/en.wav', import.meta.url);

/** Silence behind it, in seconds: what a frame and a filter hold back until more audio comes shall not be a part of the sound. */
const endS = 0.06;

/** The announcement that ships, by the rate that it was made for: all agents of a worker share it. */
const shippedLines = new Map<number, KnownLine>();

/**
 * The announcement at the rate of TTS, in Hz.
 *
 * @throws Error when the recording that ships is missing.
 */
export function announcementLine({ text, recording }: AnnouncementDefinition, rate: number): KnownLine {
  if (recording !== undefined) return lineOf(recording, rate);
  if (text === '') return lineOf(newSignal(rate), rate);
  const known = shippedLines.get(rate) ?? lineOf(parseWav(readFileSync(shipped)), rate);
  shippedLines.set(rate, known);
  return known;
}

function lineOf(
  { pcm, sampleRate }: { readonly pcm: Int16Array; readonly sampleRate: number },
  rate: number,
): KnownLine {
  const sound = resampled(pcm, { from: sampleRate, to: rate });
  const padded = new Int16Array(sound.length + Math.round(endS * rate));
  padded.set(sound);
  return { pcm: padded, ms: (padded.length * 1000) / rate };
}

function resampled(pcm: Int16Array, rates: { readonly from: number; readonly to: number }): Int16Array {
  const resampler = newResampler(rates);
  const head = resampler.process(pcm).slice();
  const tail = resampler.flush();
  const whole = new Int16Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

/** The special information tone by which telephones announce trouble (ITU-T E.180): three tones, each higher than the one before. */
const tonesHz = [950, 1400, 1800];
const toneS = 0.33;
const fadeS = 0.01;
/** Of full scale: as loud as speech. */
const level = 0.2;

function newSignal(sampleRate: number): { readonly pcm: Int16Array; readonly sampleRate: number } {
  const length = Math.round(toneS * sampleRate);
  const pcm = new Int16Array(length * tonesHz.length);
  for (const [index, hz] of tonesHz.entries())
    for (let at = 0; at < length; at += 1) {
      const fade = Math.min(1, at / (fadeS * sampleRate), (length - at) / (fadeS * sampleRate));
      const wave = Math.sin((2 * Math.PI * hz * at) / sampleRate);
      pcm[index * length + at] = Math.round(wave * fade * level * 32_767);
    }
  return { pcm, sampleRate };
}

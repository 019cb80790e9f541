/**
 * Tells speech from sounds in which no word can be found again: tones, noise, constant samples, silence. Servers that only pretend to
 * be a voice make such, and music on hold comes near to it.
 *
 * Pure; the work is that of one second of audio.
 */
import type { KeptSpeech } from './kept-speech.ts';
import { leastLiveliness, SpeechBands, soundOf } from './speech-sound.ts';

/** So much of the newest audio is listened to. A single vowel may fill the second, and a mouth that opens the third. */
const windowMs = 1_050;
const vowelMs = 380;
const leastMs = 100;
/** Steps of a sample, at the mean, below which nothing is to be heard. */
const floor = 30;
/** A click at its edges is all that constant samples sound like. */
const mutedShare = 0.8;
/** A voice may be silent for this long before it begins. */
const leadMs = 700;

/**
 * Absent when there is too little to tell.
 *
 * @param options `isWhole`: no sound follows that belongs to it.
 */
export function speechIn(kept: KeptSpeech, { isWhole }: { readonly isWhole: boolean }): boolean | undefined {
  const { lengthMs } = kept;
  if (lengthMs < leastMs) return undefined;
  const isSilent = meanOf(kept.between(0, lengthMs)) < floor / 10;
  if (isSilent) return isWhole || lengthMs >= leadMs ? false : undefined;
  const newest = kept.between(lengthMs - windowMs, lengthMs);
  const bands = new SpeechBands(kept.rate);
  bands.read(newest, newest.length);
  const { liveliness, quiet } = soundOf(bands);
  if (liveliness !== undefined) return lengthMs < vowelMs ? undefined : liveliness >= leastLiveliness;
  // A pause is silent. What is loud and has no sound in any band is no voice.
  const quietFrames = quiet.reduce((sum, one) => sum + one, 0);
  return meanOf(newest) >= floor && quietFrames >= quiet.length * mutedShare ? false : undefined;
}

function meanOf(pcm: Int16Array): number {
  let sum = 0;
  for (const sample of pcm) sum += Math.abs(sample);
  return sum / Math.max(1, pcm.length);
}

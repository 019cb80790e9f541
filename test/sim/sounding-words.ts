/**
 * Words as sound: each letter sounds in a way of its own, and every sample tells which word it is of and which of two voices
 * said it. At 8 kHz.
 */

/** Where in the audio of a piece a word lies. */
export interface SpokenWord {
  readonly chars: number;
  readonly text: string;
  readonly number: number;
  readonly fromMs: number;
  readonly toMs: number;
}

const sampleRate = 8_000;
const perMs = sampleRate / 1_000;
/** Samples are a wave in steps of so much, and between two steps stands who says what. */
const step = 512;
const voiceStep = 256;
const height = 26;
const sine = Float64Array.from({ length: sampleRate }, (_, at) => Math.sin((2 * Math.PI * at) / sampleRate));
const sineOf = (at: number): number => sine[at % sampleRate]!;

/** Each letter has two tones of its own; the second voice has all of them higher. */
export function sound(pcm: Int16Array, { text, number, fromMs, toMs }: SpokenWord, voice: number): void {
  const [from, to] = [Math.round(fromMs * perMs), Math.min(pcm.length, Math.round(toMs * perMs))];
  const spoken = text.replace(/[.,]/g, '');
  const label = voice * voiceStep + number;
  for (let index = 0; index < spoken.length; index += 1) {
    const letter = spoken.charCodeAt(index) % 32;
    const [low, high] = [250 + letter * 35, 1_000 + ((letter * 7) % 24) * 90];
    const [first, second] = [Math.round(low * (1 + voice * 0.06)), Math.round(high * (1 + voice * 0.06))];
    const end = from + Math.floor(((to - from) * (index + 1)) / spoken.length);
    for (let at = from + Math.floor(((to - from) * index) / spoken.length); at < end; at += 1) {
      const wave = sineOf(first * at) + sineOf(second * at);
      pcm[at] = Math.round(wave * height) * step + label;
    }
  }
}

/** Who says what, of a sample that is not silence. */
export const labelOf = (sample: number): number => sample & (step - 1);

export const spokenBy = (label: number): { voice: number; word: number } => ({
  voice: Math.floor(label / voiceStep),
  word: label % voiceStep,
});

/**
 * Turns with one pause in them, at a word boundary and as long as callers pause: what is cut off of these is what is cut off of callers.
 * The lengths are the middles of sixteen equal parts of a log-normal distribution with a median of 450 ms, which is assumed and not
 * measured here: spontaneous speech is reported to pause like that. Every other pause stands behind a word that leads on, where there is
 * one. Silence that a recording has there of its own is taken out, so that a pause is as long as it is said to be.
 */
import type { Recording } from './recordings.ts';
import {
  msOf,
  pausedTurn,
  quietAround,
  rms,
  samplesOf,
  speechOf,
  turnStartMs,
  type Scenario,
} from './scenarios.ts';
import { wordsOver } from './words.ts';

const medianMs = 450;
const spread = 0.7;
/** Of a normal distribution, the middles of sixteen equal parts. */
const upper = [0.078, 0.237, 0.402, 0.579, 0.776, 1.01, 1.318, 1.863];
const middles = [...upper.map((z) => -z).reverse(), ...upper];
export const lengthsMs = middles.map((z) => Math.round(medianMs * Math.exp(spread * z)));
/** Coprime to their number: lengths that follow one another stand at boundaries of either class. */
export const stride = 5;

const leadsOn =
  /^(a|an|the|and|or|but|so|if|of|to|in|on|at|by|for|from|with|that|which|who|when|i|you|he|she|it|we|they|my|your|his|her|its|our|their|is|are|was|were|can|would|not)$/;

/** The quietest place of 20 ms this near to where a word is thought to end. */
const aroundMs = 150;
const windowMs = 20;

function quietestAt(pcm: Int16Array, aboutMs: number): number {
  const window = samplesOf(windowMs);
  let best = { at: samplesOf(aboutMs), level: Number.POSITIVE_INFINITY };
  const to = Math.min(pcm.length - window, samplesOf(aboutMs + aroundMs));
  for (let at = Math.max(0, samplesOf(aboutMs - aroundMs)); at < to; at += window / 2) {
    const level = rms(pcm.subarray(at, at + window));
    if (level < best.level) best = { at: at + window / 2, level };
  }
  return best.at;
}

/** Behind how many words the n-th pause of a recording stands: at boundaries of the wanted class, one after another. */
export function boundary(words: readonly string[], n: number): number {
  const inner = words.slice(0, -1).map((word, i) => ({ word, count: i + 1 }));
  const wanted = inner.filter(({ word }) => leadsOn.test(word) === (n % 2 === 0));
  const from = wanted.length > 0 ? wanted : inner;
  return from[(n * 3 + 1) % Math.max(1, from.length)]?.count ?? 0;
}

/** Every recording with each length once. No threshold was chosen on the half that is kept aside. */
export function naturalTurns(speech: readonly Recording[]): Scenario[] {
  return speech.flatMap((recording, index) => {
    const whole = speechOf(recording.pcm);
    const words = recording.text.split(/\s+/);
    const ends = wordsOver(recording.text, 0, msOf(whole.length));
    return lengthsMs.flatMap((_, n): Scenario[] => {
      const count = boundary(words, n);
      const end = ends[count - 1];
      if (end === undefined) return [];
      const pauseMs = lengthsMs[(n * stride) % lengthsMs.length] ?? 0;
      const { pcm: speech, at } = quietAround(whole, quietestAt(whole, end.endMs));
      const { pcm, endMs, splitMs } = pausedTurn(speech, pauseMs, at);
      return [
        {
          kind: 'turn',
          group: `natural, ${index % 2 === 0 ? 'seen' : 'kept aside'}`,
          clip: recording.name,
          pcm,
          startMs: turnStartMs,
          endMs,
          pause: { fromMs: splitMs, toMs: splitMs + pauseMs },
          words: [
            ...wordsOver(words.slice(0, count).join(' '), turnStartMs, splitMs),
            ...wordsOver(words.slice(count).join(' '), splitMs + pauseMs, endMs),
          ],
          botText: '',
          botMsPerChar: 0,
        },
      ];
    });
  });
}

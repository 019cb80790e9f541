/**
 * Turns with one pause in them, at a word boundary and as long as callers pause: what is cut off of these is what is cut off of callers.
 * The lengths are the middles of eight equal parts of a log-normal distribution with a median of 450 ms, which is assumed and not measured
 * here: spontaneous speech is reported to pause like that. Every other pause stands behind a word that leads on, where there is one.
 */
import type { Recording } from './recordings.ts';
import { msOf, pausedTurn, rms, samplesOf, speechOf, turnStartMs, type Scenario } from './scenarios.ts';
import { pausedAt, wordsOver, type SpokenWord } from './words.ts';

const medianMs = 450;
const spread = 0.7;
/** Of a normal distribution, the middles of eight equal parts. */
const middles = [-1.534, -0.887, -0.489, -0.157, 0.157, 0.489, 0.887, 1.534];
const lengthsMs = middles.map((z) => Math.round(medianMs * Math.exp(spread * z)));

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

/** Where the n-th pause of a recording stands: at boundaries of the wanted class, one after another. */
function boundary(words: readonly SpokenWord[], n: number): SpokenWord | undefined {
  const inner = words.slice(0, -1);
  const wanted = inner.filter(({ word }) => leadsOn.test(word) === (n % 2 === 0));
  const from = wanted.length > 0 ? wanted : inner;
  return from[(n * 3 + 1) % Math.max(1, from.length)];
}

/** Every recording with each length once. No threshold was chosen on the half that is kept aside. */
export function naturalTurns(speech: readonly Recording[]): Scenario[] {
  return speech.flatMap((recording, index) => {
    const pcm = speechOf(recording.pcm);
    const spoken = wordsOver(recording.text, turnStartMs, turnStartMs + msOf(pcm.length));
    return lengthsMs.flatMap((pauseMs, n): Scenario[] => {
      const word = boundary(spoken, n);
      if (word === undefined) return [];
      const turn = pausedTurn(pcm, pauseMs, quietestAt(pcm, word.endMs - turnStartMs));
      return [
        {
          kind: 'turn',
          group: `natural, ${index % 2 === 0 ? 'seen' : 'kept aside'}`,
          clip: recording.name,
          pcm: turn.pcm,
          startMs: turnStartMs,
          endMs: turn.endMs,
          words: pausedAt(spoken, word.endMs, pauseMs),
          botText: '',
          botMsPerChar: 0,
        },
      ];
    });
  });
}

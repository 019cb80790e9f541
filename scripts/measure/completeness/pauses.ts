/** What the service makes of pauses within sentences that were kept aside, by the words alone. */
import { silencesOf } from '../../../shared/config/agent/silences.ts';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { endOfTurn } from '../../../worker/core/turn/end-of-turn.ts';
import { boundary, lengthsMs, stride } from '../eval-turns/natural.ts';

/** The defaults of an agent without a turn model. */
const settings = {
  ...silencesOf({ stop: undefined, end: undefined, most: undefined }).withoutModel,
  minSpeechMs: 120,
  askEarlyMs: 300,
  model: false,
  completeAt: 0.5,
  speculate: false,
};
const vocabulary = vocabularyOf(['en', 'de', 'fr', 'es']);
const silenceAfter = (words: readonly string[]): number =>
  endOfTurn(
    {
      vocabulary,
      text: words.join(' '),
      asked: '',
      guessed: false,
      speechFinal: false,
      probability: undefined,
      patienceMs: 0,
    },
    settings,
  );

/** Pauses as callers make them within sentences that were kept aside: how many end the turn, and the mean silence behind a whole sentence. */
export function pausesWithin(sentences: readonly string[][]): string {
  let [pauses, cut, silenceMs] = [0, 0, 0];
  for (const words of sentences) {
    silenceMs += silenceAfter(words);
    for (let n = 0; n < lengthsMs.length; n += 1) {
      const pauseMs = lengthsMs[(n * stride) % lengthsMs.length] ?? 0;
      pauses += 1;
      if (pauseMs > silenceAfter(words.slice(0, boundary(words, n)))) cut += 1;
    }
  }
  return `cut off ${((cut / pauses) * 100).toFixed(1)} %, silence ${(silenceMs / sentences.length).toFixed(0)} ms`;
}

/**
 * A voice that goes on although nobody says anything: a television, another person, music. Voice detection alone would hold the turn open for
 * as long. Here words decide: where STT has told all that it heard and there is nothing new, the caller has stopped speaking when the words did.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { Slices } from '../state.ts';
import { flush, listen } from './hearing.ts';
import { beginPause } from './pause.ts';
import type { Owed, TurnStep } from './turn-actions.ts';
import { newWords, wholeText, type Speaking, type Words } from './turn.ts';

/**
 * STT has told nothing new for so long behind words: no speaker draws a word out as long, and an STT may be that far behind. One that tells
 * words as they come is not, and to be asked in vain costs a speaker nothing.
 */
const wordsGoneMs = { streamed: 2_400, atTheEnd: 3_500 } as const;
/** A voice without any word keeps the caller waiting for what is owed for no longer, and for the first words of the call. */
const wordlessMs: Millis = 3_000;
const ungreetedMs: Millis = 1_600;
/** From the beginning of a voice to its first word, as STT tells it. */
const firstWordsMs: Millis = 1_000;
/** From the end of a word to the moment when STT tells it. */
const toldAfterMs: Millis = 300;

/** When STT is asked whether there is anything new in a voice that goes on. `owes`: the caller waits for something that the agent has to say. */
export function coveredDeadline(
  { caller: { turn, stt, voiceAt } }: Slices<'caller'>,
  { owes }: { readonly owes: Owed },
): Millis | undefined {
  if (turn.phase !== 'speaking' || stt.listeningAt === undefined || stt.owed.length > 0) return undefined;
  // An STT that did not answer once is not asked again in this turn.
  if (turn.asked !== undefined) return undefined;
  const { toldAt } = turn.words;
  const askedAt = Math.max(turn.askedAt ?? -Infinity, stt.reopenedAt ?? -Infinity);
  if (wholeText(turn.words) !== '')
    return (
      Math.max(toldAt ?? -Infinity, voiceAt, stt.listeningAt, askedAt) +
      (stt.guesses ? wordsGoneMs.streamed : wordsGoneMs.atTheEnd)
    );
  // Where nobody waits, a voice without words is listened to for as long as it lasts.
  if (owes === undefined) return undefined;
  const since = Math.max(turn.cutAt ?? turn.startedAt, askedAt);
  if (owes === 'greeting') return since + ungreetedMs;
  // A voice that has just come back may bring the first words.
  return Math.max(stt.listeningAt + firstWordsMs, since + wordlessMs);
}

/** Asks STT for what it has; the voice goes on meanwhile. */
export function askCovered(step: TurnStep): void {
  const { turn } = step.state.caller;
  if (turn.phase !== 'speaking') return;
  turn.asked = { at: step.now, text: comparable(turn), toldAt: turn.words.toldAt };
  turn.askedAt = step.now;
  flush(step);
  listen(step, false);
}

/** STT has told all that it heard. With nothing new in it, the words were over before: that is where the pause began. */
export function endCovered(step: TurnStep): void {
  const { state, now } = step;
  const { turn, stt } = state.caller;
  if (turn.phase !== 'speaking' || turn.asked === undefined || stt.owed.length > 0) return;
  const { at, text, toldAt: toldBefore } = turn.asked;
  turn.asked = undefined;
  if (comparable(turn) !== text || (text === '' && step.agent.owes === undefined)) return;
  // An STT that tells words when it is asked heard the last of them at some time since it was asked before.
  const toldAt = stt.guesses ? (toldBefore ?? at) : at;
  beginPause(step, turn, { lastVoiceAt: Math.min(now, toldAt - toldAfterMs), isCovered: true });
}

/** Somebody else speaks by now, as STT knows: the caller's turn was over when its words were, unless more of them come. */
export function endBehindWords(step: TurnStep): void {
  const { turn } = step.state.caller;
  if (turn.phase !== 'speaking' || wholeText(turn.words) === '') return;
  const toldAt = turn.words.toldAt ?? step.now;
  beginPause(step, turn, { lastVoiceAt: toldAt - toldAfterMs, isCovered: true });
}

/** There are words that were not there before. */
export const saysMore = (before: string, words: Words): boolean =>
  spoken(wholeText(words)) !== spoken(before);

const comparable = ({ words }: Speaking): string => spoken(wholeText(words));

/** Words as they are said, whatever STT makes of case and punctuation in its final text. */
const spoken = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** The turn is over, and the agent answers into a voice that goes on: words in it may still interrupt, the voice alone does not. */
export function listenOn(step: TurnStep): void {
  const { state, now } = step;
  const { turn } = state.caller;
  if (turn.phase !== 'idle' || step.agent.response === undefined || step.agent.response.isLastWord) return;
  state.caller.turn = {
    phase: 'candidate',
    words: newWords(),
    startedAt: now,
    output: 'plain',
    loud: false,
    lastedMs: 0,
    isNoEcho: false,
    isSoft: true,
    position: undefined,
  };
  listen(step, true);
}

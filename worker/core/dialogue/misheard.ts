/** Turns of which STT has told nothing, or a part: a caller who was not understood is asked to say it again. */
import type { Millis } from '../../../shared/base/units.ts';
import { startAnswer, startLine, startText } from '../answer/speaking.ts';
import { dropSpeculation } from './speculation.ts';
import { addUser } from '../delivery/history.ts';
import type { Slices, Step } from '../state.ts';
import { tell } from '../told.ts';
import { isUntold, type Finalizing } from '../turn/turn.ts';

/** A wordless turn this long was speech that STT missed: coughs and doors are shorter. A caller who can go on speaking waits for more. */
const wordlessSpeechMs = 800;
const wordlessInterruptionMs = 1_500;
/** How often in a row the caller is asked to say it again. */
const maxWordlessQuestions = 2;

/** Whether that is all that STT will tell: it has failed, and the caller spoke on. */
export const isPart = (state: Slices<'faults' | 'caller'>, turn: Finalizing): boolean =>
  isDeafTo(state) && isUntold(turn);

/** STT fails, or has not heard all of the turn: that it says nothing means nothing. */
const isDeafTo = ({ faults, caller }: Slices<'faults' | 'caller'>): boolean =>
  faults.inARow.stt > 0 || caller.stt.lost;

/**
 * Nobody said anything. An answer that is owed is made; what was cut off by mistake goes on; and a caller who spoke
 * without being understood is asked to say it again. A noise is not answered.
 */
export function answerNothing(step: Step, turn: Finalizing, kind: 'echo' | 'listening' | 'silence'): void {
  const { state } = step;
  const owedSince = turn.decidedAt;
  const hasRest = turn.interrupted && state.delivery.cutOff.trim() !== '';
  const longMs = hasRest ? wordlessInterruptionMs : wordlessSpeechMs;
  // An STT that fails tells no word from a noise.
  const isDeaf = !hasRest && isDeafTo(state);
  // What is softer than the caller, or never ends, is a television more often than somebody whom STT does not understand.
  const isCaller = turn.isSoft !== true && turn.isCovered !== true && turn.words.isOthers !== true;
  const lasted = isCaller && turn.lastVoiceAt - turn.startedAt >= longMs;
  const spoke = kind === 'silence' && (isDeaf || lasted);
  if (state.conversation.owed) {
    startAnswer(step, owedSince);
  } else if (spoke && (isDeaf || state.caller.wordlessTurns < maxWordlessQuestions)) {
    state.caller.wordlessTurns += 1;
    // It may have been noise after all: that is told, and does not count against STT.
    tell(step, { type: 'fault.noticed', stage: 'stt', what: 'empty' });
    startLine(step, isDeaf ? 'apology' : 'misheard', { owedSince });
  } else if (hasRest) {
    startText(step, 'rest', { text: state.delivery.cutOff, owedSince });
  }
}

/** "Cancel my order" may have gone on: nothing is done about a part, but it stays known. */
export function answerPart(step: Step, text: string, owedSince: Millis): void {
  dropSpeculation(step);
  tell(step, { type: 'user.text', epoch: step.state.numbers.epoch, text });
  addUser(step.state.conversation.history, text);
  startLine(step, 'apology', { owedSince });
}

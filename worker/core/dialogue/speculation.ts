/**
 * An answer asked for before the turn is certainly over. Its text is held here; it is promoted when the turn turns out to
 * hold exactly the words it was asked with, and dropped otherwise. Nothing that it wants done happens before that.
 */
import { isEnding } from '../course.ts';
import { spokenWords } from '../../../shared/languages/spelling.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { CallEvent } from '../events.ts';
import { isLaughter } from '../turn/backchannels.ts';
import { isPressing } from '../turn/dtmf.ts';
import { numberSaid } from '../turn/numbers-said.ts';
import { endsHesitant } from '../turn/time-asked.ts';
import { applyEdits } from '../answer/edits.ts';
import { onLlmDone, onLlmText } from '../answer/answering.ts';
import { addText, finishText, newSplitter } from '../answer/sentences.ts';
import { openAnswer, requestAnswer } from '../answer/speaking.ts';
import { wasteSpeculation, type Speculation } from './speculation-state.ts';
import { agentLeads } from '../operator.ts';
import { awaitsWord, type Step } from '../state.ts';
import { tell } from '../told.ts';
import { waitsForSafePoint } from '../tools/tools-cut.ts';
import type { TurnAction } from '../turn/turn-actions.ts';

/** Requests of one turn whose answers may be thrown away. */
const maxWastedRounds = 2;
/** More text than anybody waits for at a pause. */
const maxHeldChars = 8_192;

type WordsChanged = Omit<Extract<TurnAction, { type: 'words.changed' }>, 'type'>;

/** What asking early looks at: everything that an answer is made of. */
export type Guessing = Step<
  | 'setup'
  | 'course'
  | 'numbers'
  | 'caller'
  | 'speculation'
  | 'delivery'
  | 'conversation'
  | 'tools'
  | 'keys'
  | 'operator'
>;

/** The words of the turn, or the state of its pause, have changed. */
export function reviewSpeculation(step: Guessing, { text, pause }: WordsChanged): void {
  const { state } = step;
  if (state.speculation.running !== undefined && state.speculation.running.text !== text) {
    const isCorrected = state.speculation.running.guessed && pause?.guessed === false;
    if (isCorrected) state.speculation.trustsStt = false;
    dropSpeculation(step);
  }
  if (pause === undefined || state.speculation.running !== undefined || text === '') return;
  const { guessed } = pause;
  const { vocabulary } = state.setup;
  const isPart =
    endsHesitant(text, vocabulary) ||
    numberSaid(state.delivery.lastSaid.text, text, vocabulary.numbers) === 'begun';
  const worthIt = !isPart && (state.speculation.trustsStt || !guessed);
  if (!worthIt || !maySpeculate(step) || /^\W*$/u.test(text) || isLaughter(spokenWords(text))) return;
  applyEdits(state.conversation.edits, state.conversation.history);
  const { messages } = state.conversation.history;
  state.speculation.running = {
    round: requestAnswer(step, { messages: [...messages, { role: 'user', text }] }),
    text,
    basis: messages.length,
    guessed,
    held: '',
    firstTextAt: undefined,
    isPrepared: false,
    done: undefined,
  };
}

const maySpeculate = ({ state }: Guessing): boolean =>
  state.setup.settings.turn.speculate &&
  agentLeads(state) &&
  !state.conversation.greets &&
  state.speculation.wasted < maxWastedRounds &&
  !isEnding(state.course) &&
  !awaitsWord(state) &&
  !isPressing(state.keys) &&
  state.conversation.notes.length === 0 &&
  !waitsForSafePoint(state.tools) &&
  state.delivery.response === undefined;

export function dropSpeculation(step: Step<'speculation'>): void {
  const { state } = step;
  const { running: speculation } = state.speculation;
  if (speculation === undefined) return;
  wasteSpeculation(state.speculation);
  if (speculation.isPrepared) step.actions.push({ type: 'tts.forget' });
  if (speculation.done === undefined) step.actions.push({ type: 'llm.cancel' });
}

/** What the answer begins with is made ahead: it can be heard as soon as the turn is over. */
function prepareSpeech(step: Guessing, speculation: Speculation): void {
  if (speculation.isPrepared) return;
  const splitter = newSplitter();
  const { pronounce, vocabulary } = step.state.setup;
  const [piece = speculation.done?.finish === 'stop' ? finishText(splitter) : undefined] = addText(
    splitter,
    speculation.held,
    vocabulary.sentences,
  );
  const said = piece === undefined ? '' : pronounce(piece);
  if (said === '') return;
  speculation.isPrepared = true;
  step.actions.push({ type: 'tts.prepare', text: said });
}

/** Takes what the LLM says to a request that may turn out to be in vain. */
export function onSpeculativeLlm(
  step: Guessing,
  speculation: Speculation,
  event: Extract<CallEvent, { type: `llm.${string}` }>,
): void {
  if (speculation.done !== undefined) return;
  if (event.type === 'llm.text') {
    speculation.firstTextAt ??= step.now;
    speculation.held += event.text;
    if (speculation.held.length > maxHeldChars) dropSpeculation(step);
    else prepareSpeech(step, speculation);
  } else if (event.type === 'llm.done') {
    speculation.done = event;
    prepareSpeech(step, speculation);
  } else {
    // The request that is made once the turn is over shows whether the LLM is at fault.
    wasteSpeculation(step.state.speculation);
    if (speculation.isPrepared) step.actions.push({ type: 'tts.forget' });
  }
}

/**
 * The turn is over and holds `text`: the answer that was asked for with it becomes the response. False when there is none.
 * `enter` brings the turn into the context, which must not have changed since the request.
 */
export function promoteSpeculation(
  step: Step,
  text: string,
  { owedSince, enter }: { owedSince: Millis; enter: () => void },
): boolean {
  const { state } = step;
  const { running: speculation } = state.speculation;
  if (speculation === undefined) return false;
  const moves =
    state.conversation.edits.pending.length > 0 ||
    state.conversation.flow?.pending !== undefined ||
    waitsForSafePoint(state.tools);
  if (
    moves ||
    speculation.text !== text ||
    speculation.basis !== state.conversation.history.messages.length
  ) {
    if (speculation.guessed && !moves) state.speculation.trustsStt = false;
    dropSpeculation(step);
    return false;
  }
  state.speculation.running = undefined;
  state.conversation.owed = false;
  enter();
  const { response } = openAnswer(step, owedSince);
  response.writing.round = speculation.round;
  response.writing.firstTextAt = speculation.firstTextAt;
  tell(step, { type: 'bot.llm_started', epoch: response.epoch });
  if (speculation.held !== '') onLlmText(step, response, speculation.held);
  if (speculation.done !== undefined) onLlmDone(step, response, speculation.done);
  return true;
}

/** Steps the turn machine and does what it decides: here the caller's side meets the agent's. */
import { resumeOutput } from '../answer/silence.ts';
import { unfilled, type Response } from '../answer/response.ts';
import { cutResponse, startOwedAnswer } from '../answer/speaking.ts';
import { endSoon, isEnding } from '../course.ts';
import { enterKeys } from '../delivery/context.ts';
import { noteGap } from '../delivery/heard.ts';
import { beginEpoch } from '../epoch.ts';
import { agentLeads } from '../operator.ts';
import type { PlayoutPosition } from '../events.ts';
import { forgetFaults } from '../faults.ts';
import { nobodySpeaks, noticeFault, type Step } from '../state.ts';
import { tell } from '../told.ts';
import type { TurnAction } from '../turn/turn-actions.ts';
import { stepTurn, type TurnEvent } from '../turn/step-turn.ts';
import { agentSide } from './agent-side.ts';
import { reviewSpeculation } from './speculation.ts';
import { answerTurn } from './turn-ended.ts';

/** Something is heard of the caller, or is due on the caller's side. */
export function hear(step: Step, event: TurnEvent): void {
  const { state, now, position } = step;
  const actions = stepTurn({ state, agent: agentSide(state, now), now, position }, event);
  for (const action of actions) perform(step, action);
}

function perform(step: Step, action: TurnAction): void {
  const { state } = step;
  switch (action.type) {
    case 'output.hold':
      holdOutput(step, action);
      return;
    case 'output.duck':
      if (action.from === 'held') resumeOutput(step, { softly: true });
      else step.actions.push({ type: 'playout.duck' });
      return;
    case 'output.release':
      if (action.from === 'held') resumeOutput(step);
      else step.actions.push({ type: 'playout.resume' });
      return;
    case 'turn.begun':
      beginEpoch(step);
      return;
    case 'turn.interrupted':
      takeOver(step, action.position);
      return;
    case 'words.changed':
      reviewSpeculation(step, action);
      return;
    case 'turn.ended':
      answerTurn(step, action.turn);
      if (action.turn.isCovered === true) goOnListening(step);
      return;
    case 'aside.forgotten':
      enterKeys(state);
      if (state.conversation.owed && mayAnswerNow(step)) startOwedAnswer(step);
      return;
    case 'stt.fault':
      // Whoever speaks with an operator is heard without STT.
      if (noticeFault(step, 'stt', action.what) && agentLeads(state)) endSoon(state.course);
      return;
    case 'stt.works':
      forgetFaults(state.faults, 'stt');
      return;
    default:
      step.actions.push(action);
  }
}

/** The voice that goes on is not the caller's turn any more: words in it may be. */
function goOnListening(step: Step): void {
  step.state.caller.voice = 'silent';
  hear(step, { type: 'voice.goes_on' });
}

const mayAnswerNow = ({ state }: Step): boolean =>
  state.delivery.response === undefined && !isEnding(state.course) && nobodySpeaks(state);

/** Callers hear that the agent gives way when it becomes softer; most nods are over before it falls silent. */
const duckMs = 600;

/** A response that can be heard gives way step by step, unless words ask for silence; one that is silent just now does not begin. */
function holdOutput(
  { state, now, actions }: Step<'delivery'>,
  { atOnce = false }: { readonly atOnce?: boolean },
): void {
  const playing = state.delivery.response?.playing;
  const sounds = !atOnce && playing?.phase === 'playing' && playing.silentAt === undefined;
  if (playing !== undefined) noteGap(playing.heard, sounds ? now + duckMs : now);
  actions.push(sounds ? { type: 'playout.pause', duckMs } : { type: 'playout.pause' });
}

/** The caller has cut in. */
function takeOver(step: Step, position: PlayoutPosition | undefined): void {
  const { state } = step;
  const thinking = state.delivery.response !== undefined && isThinking(state.delivery.response);
  cutResponse(step, position);
  // Should this turn out to be no turn, the question is still there.
  if (thinking) {
    state.conversation.owed = true;
    state.delivery.cutOff = '';
  }
  state.speculation.wasted = 0;
  tell(step, { type: 'turn.user_started', epoch: state.numbers.epoch });
}

/** The LLM has yet to begin the answer, or nothing of it is heard: a filler at most. */
const isThinking = (response: Response): boolean =>
  response.writing.phase !== 'done' &&
  (response.playing.phase === 'waiting' ||
    (unfilled(response, 0) + response.writing.splitter.pending).trim() === '');

/**
 * An operator takes the call over from the agent, and hands it back (docs/monitoring-calls.md). The agent falls silent behind a sentence, or
 * at once; what is said meanwhile is kept, so that the agent knows of it when it goes on.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { wholeSentence } from '../answer/sentences.ts';
import type { Response } from '../answer/response.ts';
import { cutResponse, startOwedAnswer, startText } from '../answer/speaking.ts';
import { longestTextChars, type CallCommand } from '../commands.ts';
import { isEnding } from '../course.ts';
import { enterKeys } from '../delivery/context.ts';
import { addBeforeQuestion, addMessages } from '../delivery/history.ts';
import { nextEpoch, tellTools } from '../epoch.ts';
import type { CallEvent } from '../events.ts';
import { agentLeads, operatorLeads } from '../operator.ts';
import { nobodySpeaks, type Step } from '../state.ts';
import { tell, type HandedBack, type RefusalCode } from '../told.ts';
import { dropSpeculation } from './speculation.ts';

/** A sentence that goes on for longer is cut. */
const longestSentenceMs: Millis = 6_000;
/** An operator who does not come back within this time has left the caller to the agent. Three seconds of silence are long on a telephone. */
const operatorAwayMs: Millis = 2_000;

const taken =
  'A person of your side has taken the call over and speaks to the caller now, in your place. What follows is said without you.';
const said = (text: string): string => `The person of your side said to the caller: "${text}"`;
const back: Readonly<Record<HandedBack, string>> = {
  handed_back:
    'The call is yours again. Go on with the caller from here, and repeat nothing of what was said.',
  lost: 'The connection of the person was lost, and the call is yours again.',
  ending: 'The call is yours again, and ends.',
};

type Command = Extract<CallCommand, { type: 'operator' }>;

/** Takes a command of an operator; it is done at once, and what comes of it is told. */
export function onOperator(step: Step, command: Command): RefusalCode | undefined {
  const { operator, conversation } = step.state;
  switch (command.does) {
    case 'take_over':
      operator.by = operatorLeads(step.state) ? undefined : operator.by;
      if (agentLeads(step.state)) come(step, command.atOnce);
      return undefined;
    case 'leave':
      if (operator.phase === 'coming') operator.phase = 'none';
      operator.by = operatorLeads(step.state) ? step.now + operatorAwayMs : undefined;
      return undefined;
    case 'said': {
      const text = command.text.slice(0, longestTextChars).trim();
      if (text === '') return 'empty';
      tell(step, { type: 'operator.text', text });
      const note = { role: 'system', text: said(text) } as const;
      // Words that were understood late belong before what the caller asks of the agent by now.
      if (operatorLeads(step.state)) addMessages(conversation.history, [note]);
      else addBeforeQuestion(conversation.history, [note]);
      return undefined;
    }
    case 'hand_back': {
      if (agentLeads(step.state)) return 'already_done';
      const [note, say] = [command.note.slice(0, longestTextChars), command.say.slice(0, longestTextChars)];
      goOn(step, 'handed_back', { note: note.trim(), say: say.trim() });
      return undefined;
    }
  }
}

function come(step: Step, atOnce: boolean): void {
  const { operator, delivery } = step.state;
  const { response } = delivery;
  if (atOnce || response === undefined || !isHeard(response)) {
    takeOver(step);
    return;
  }
  operator.phase = 'coming';
  operator.by = step.now + longestSentenceMs;
}

/** Something of it goes out now. */
const isHeard = ({ playing }: Response): boolean =>
  playing.phase === 'draining' || (playing.phase === 'playing' && playing.silentAt === undefined);

/** A piece of the agent's text is on the wire: where a sentence ends with it, an operator who waits for that begins. */
export function onPieceSent(step: Step, { id, inside }: Extract<CallEvent, { type: 'mark.sent' }>): void {
  const { operator, delivery } = step.state;
  const chars = delivery.response?.playing.heard.marks.get(id)?.chars;
  if (operator.phase !== 'coming' || inside !== undefined || chars === undefined) return;
  const text = delivery.response?.writing.text ?? '';
  if (wholeSentence.test(text.slice(0, chars))) takeOver(step, chars);
}

export function onOperatorDue(step: Step): void {
  if (step.state.operator.phase === 'coming') takeOver(step);
  else goOn(step, 'lost');
}

/** After every step: the response may be over that an operator waited for, and in a call that ends the agent takes leave. */
export function settleOperator(step: Step): void {
  const { operator, course, delivery } = step.state;
  if (isEnding(course) && operator.phase !== 'none') goOn(step, 'ending');
  else if (operator.phase === 'coming' && delivery.response === undefined) takeOver(step);
}

/** Another worker had the call, and the operator's connection with it. */
export function onOperatorResumed({ state, now }: Step<'operator'>): void {
  const { operator } = state;
  if (operator.phase === 'coming') operator.phase = 'none';
  operator.by = operatorLeads(state) ? now + operatorAwayMs : undefined;
}

/** The agent is silent from here on; `heardTo`: at the end of a sentence, which the client plays to its end. */
function takeOver(step: Step, heardTo?: number): void {
  const { state } = step;
  const { operator, conversation, delivery, course, silence, numbers } = state;
  if (delivery.response !== undefined)
    cutResponse(step, step.position, heardTo === undefined ? {} : { heardTo });
  else if (nobodySpeaks(state)) nextEpoch(step);
  dropSpeculation(step);
  tellTools(step, { type: 'question.left' });
  operator.phase = 'speaking';
  operator.by = undefined;
  // The operator answers what the agent owed the caller.
  conversation.owed = false;
  conversation.greets = false;
  delivery.cutOff = '';
  course.parting = 'none';
  silence.retryAt = undefined;
  silence.idle.asks = 0;
  silence.idle.askAt = undefined;
  state.caller.clock = undefined;
  addMessages(conversation.history, [{ role: 'system', text: taken }]);
  tell(step, { type: 'operator.took_over', epoch: numbers.epoch });
}

/** The caller has said this to the operator. */
export function hearForOperator(step: Step, text: string): void {
  const { conversation, numbers, caller } = step.state;
  dropSpeculation(step);
  caller.clock = undefined;
  caller.wordlessTurns = 0;
  enterKeys(step.state);
  if (text === '') return;
  tell(step, { type: 'user.text', epoch: numbers.epoch, text });
  addMessages(conversation.history, [{ role: 'user', text }]);
}

/** The caller is the agent's again: it says a line, or the LLM goes on. A caller who speaks is answered behind that, and hears no line. */
function goOn(step: Step, how: HandedBack, { note = '', say = '' } = {}): void {
  const { state } = step;
  const { operator, conversation, numbers, setup } = state;
  const wasSpeaking = operatorLeads(state);
  operator.phase = 'none';
  operator.by = undefined;
  if (!wasSpeaking) return;
  const text = note === '' ? back[how] : `${back[how]} Note of the person: ${note}`;
  addMessages(conversation.history, [{ role: 'system', text }]);
  tell(step, { type: 'operator.handed_back', epoch: numbers.epoch, how });
  if (how === 'ending') return;
  const line = how === 'lost' ? setup.settings.operatorLost : say;
  if (!nobodySpeaks(state)) conversation.owed = true;
  else if (line === '') startOwedAnswer(step);
  else {
    nextEpoch(step);
    startText(step, 'line', { text: line });
  }
}

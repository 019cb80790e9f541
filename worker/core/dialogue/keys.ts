/** Keys that the caller presses: they may interrupt, and an entry of them is answered like words, together with those around it. */
import { beginAside } from '../turn/candidate.ts';
import { interruptible } from './agent-side.ts';
import { dtmfDeadline, isIdleKey, keysNote, pressKey } from '../turn/dtmf.ts';
import { answerWithKeys } from './turn-ended.ts';
import type { PlayoutPosition } from '../events.ts';
import { enterKeys } from '../delivery/context.ts';
import { cutResponse, startOwedAnswer } from '../answer/speaking.ts';
import { dropSpeculation } from './speculation.ts';
import { nobodySpeaks, type Step } from '../state.ts';

export function onDtmf(step: Step, digit: string, position: PlayoutPosition | undefined): void {
  const { state, now } = step;
  const settings = state.setup.settings.dtmf;
  if (!settings.collect || isIdleKey(state.keys, digit, settings)) return;
  state.silence.idle.askAt = undefined;
  // It would be an answer to half of what the caller brings.
  dropSpeculation(step);
  if (state.delivery.response !== undefined && state.setup.settings.interrupt.dtmf && interruptible(state)) {
    // A caller who speaks into the response has a turn now, which is answered together with the keys.
    if (state.caller.turn.phase === 'fading') beginAside(step, state.caller.turn);
    cutResponse(step, position);
  }
  takeEntry(step, pressKey(state.keys, digit, { settings, now }));
}

export function onDtmfDeadline(step: Step): void {
  takeEntry(step, dtmfDeadline(step.state.keys, step.now));
}

function takeEntry(step: Step, entry: string | undefined): void {
  if (entry === undefined) return;
  const { conversation, delivery, caller, keys, setup, silence } = step.state;
  silence.idle.asks = 0;
  conversation.notes.push(keysNote(entry, setup.settings.dtmf));
  const isAlone = delivery.response === undefined;
  // The words that the caller is saying stand before the keys; words said into a response become a turn only once that is over.
  const isBehind = isAlone && caller.turn.phase !== 'idle' && caller.turn.startedAt <= keys.pressedAt;
  if (!isBehind) enterKeys(step.state);
  if (isAlone && nobodySpeaks(step.state)) startOwedAnswer(step);
  else conversation.owed = true;
  answerWithKeys(step);
}

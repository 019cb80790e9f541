/** Keys that the caller presses: they may interrupt, and an entry of them is answered like words. */
import { beginAside, interruptible } from './candidate.ts';
import { dtmfDeadline, keysNote, pressKey } from './dtmf.ts';
import type { PlayoutPosition } from '../events.ts';
import { addUser } from '../delivery/history.ts';
import { cutResponse, startOwedAnswer } from '../answer/speaking.ts';
import { nobodySpeaks, type Step } from '../state.ts';

export function onDtmf(
  step: Step<'setup' | 'numbers' | 'caller' | 'delivery' | 'silence' | 'conversation' | 'tools' | 'keys'>,
  digit: string,
  position: PlayoutPosition | undefined,
): void {
  const { state, now } = step;
  const settings = state.setup.settings.dtmf;
  if (!settings.collect) return;
  state.silence.idle.askAt = undefined;
  if (state.delivery.response !== undefined && state.setup.settings.interrupt.dtmf && interruptible(state)) {
    // Whoever speaks into the response has a turn now, which is answered together with the keys.
    if (state.caller.turn.phase === 'fading') beginAside(step, state.caller.turn);
    cutResponse(step, position);
  }
  enterKeys(step, pressKey(state.keys, digit, { settings, now }));
}

export function onDtmfDeadline(
  step: Step<'setup' | 'numbers' | 'caller' | 'delivery' | 'silence' | 'conversation' | 'tools' | 'keys'>,
): void {
  enterKeys(step, dtmfDeadline(step.state.keys, step.now));
}

function enterKeys(
  step: Step<'setup' | 'numbers' | 'caller' | 'delivery' | 'silence' | 'conversation' | 'tools'>,
  entry: string | undefined,
): void {
  if (entry === undefined) return;
  const { state } = step;
  addUser(state.conversation.history, keysNote(entry, state.setup.settings.dtmf));
  // The running answer is none to them: the request that asks for one must end with them.
  if (state.delivery.response !== undefined) state.delivery.response.notes += 1;
  state.silence.idle.asks = 0;
  if (state.delivery.response === undefined && nobodySpeaks(state)) startOwedAnswer(step);
  else state.conversation.owed = true;
}

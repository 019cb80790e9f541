/** Keys that the caller presses: they may interrupt, and an entry of them is answered like words. */
import { interruptible } from './candidate.ts';
import { dtmfDeadline, keysNote, pressKey } from './dtmf.ts';
import type { PlayoutPosition } from './events.ts';
import { discardOwed, finalize } from './hearing.ts';
import { addUser } from './history.ts';
import { cutResponse, startOwedAnswer } from './speaking.ts';
import { nobodySpeaks, type Step } from './state.ts';

export function onDtmf(step: Step, digit: string, position: PlayoutPosition | undefined): void {
  const { state, now } = step;
  const settings = state.settings.dtmf;
  if (!settings.collect) return;
  state.idle.askAt = undefined;
  if (state.response !== undefined && state.settings.interrupt.dtmf && interruptible(state)) {
    if (state.turn.phase === 'candidate') finalize(step, 'discard');
    if (state.turn.phase === 'candidate' || state.turn.phase === 'fading') {
      discardOwed(state);
      state.turn = { phase: 'idle' };
    }
    cutResponse(step, position);
  }
  enterKeys(step, pressKey(state.dtmf, digit, { settings, now }));
}

export function onDtmfDeadline(step: Step): void {
  enterKeys(step, dtmfDeadline(step.state.dtmf, step.now));
}

function enterKeys(step: Step, entry: string | undefined): void {
  if (entry === undefined) return;
  const { state } = step;
  addUser(state.history, keysNote(entry, state.settings.dtmf));
  state.idle.asks = 0;
  if (state.response === undefined && nobodySpeaks(state)) startOwedAnswer(step);
  else state.answerOwed = true;
}

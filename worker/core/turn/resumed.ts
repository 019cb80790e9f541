/**
 * The caller's side of a call that was taken over from a worker that is gone: a turn that was being heard is heard again from its
 * beginning.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { CallEvent } from '../events.ts';
import type { TurnStep } from './turn-actions.ts';
import { beginAside, beginFading } from './candidate.ts';
import { finalize, forgetGiven, givenMs, listen } from './hearing.ts';
import { beginPause, judgedWithinMs } from './pause.ts';
import { addFinal, type Words } from './turn.ts';

type Resumed = Extract<CallEvent, { type: 'call.resumed' }>;

/** The least that a session of another worker has for a turn that was over before; its audio comes faster than it was spoken. */
const hearAgainMs: Millis = 800;

/** What the other worker's sessions and detector knew of the caller is gone with them. */
export function forgetVoice(step: Pick<TurnStep, 'state' | 'now'>, turnAudio: boolean): void {
  const { caller } = step.state;
  caller.voice = 'silent';
  caller.stt.owed.length = 0;
  caller.stt.hasNew = turnAudio;
  if (turnAudio && 'words' in caller.turn) forgetGiven(step, caller.turn.words);
  caller.stt.givenMs = givenMs(step);
  caller.stt.listeningAt = undefined;
}

/**
 * The detector of this worker knows of no speech, so a turn waits as if the voice had fallen silent when the other one died: one that
 * goes on takes it back to where it was.
 */
export function resumeTurn(step: TurnStep, { turnAudio, silentMs = 0 }: Resumed): void {
  const { state, now, actions } = step;
  const { turn } = state.caller;
  if (turn.phase === 'idle') return;
  const words = turnAudio ? turn.words : keptWords(turn.words);
  listen(step, false);
  if (turnAudio) actions.push({ type: 'stt.replay' });
  switch (turn.phase) {
    case 'candidate':
    case 'fading': {
      const { startedAt, output, loud, lastedMs, isNoEcho, position, isFaint } = turn;
      if (output !== 'plain') actions.push({ type: 'output.hold' });
      const given = output === 'plain' ? 'plain' : 'held';
      const known = { words, startedAt, output: given, loud, lastedMs, isNoEcho, position, isFaint } as const;
      // The voice may go on: this worker knows when it has judged what came meanwhile.
      beginFading(step, { phase: 'candidate', ...known }, { lastVoiceAt: now, maySound: false });
      return;
    }
    case 'aside':
      beginAside(step, { ...turn, words, lastVoiceAt: now });
      finalize(step);
      return;
    case 'speaking':
    case 'pausing': {
      const { startedAt, interrupted } = turn;
      const lastVoiceAt = turn.phase === 'pausing' ? turn.lastVoiceAt : now - silentMs;
      // A voice that goes on is known when what came meanwhile is judged: STT that is asked before hears half a word.
      beginPause(step, { words, startedAt, interrupted }, { lastVoiceAt, holdBy: now + judgedWithinMs });
      return;
    }
    case 'finalizing':
      // Another session hears the turn from its beginning; its caller has been waiting before.
      state.caller.turn = {
        ...turn,
        words,
        giveUpAt: Math.min(finalize(step), Math.max(turn.giveUpAt, now + hearAgainMs)),
      };
      return;
  }
}

/** The session that would have made a final of the partial is gone. */
function keptWords(words: Words): Words {
  addFinal(words, words.partial);
  return words;
}

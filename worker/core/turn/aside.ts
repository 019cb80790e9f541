/**
 * Words that the caller said into a response without cutting it: too late, too little, or where nobody may interrupt. Words
 * that say something are answered once the response is over; listening, sounds and the agent's own voice are forgotten. It
 * cuts nothing.
 */
import type { AgentSide, TurnStep } from './turn-actions.ts';
import { withoutSounds } from './backchannels.ts';
import { tellingWords, type Hearing } from './candidate.ts';
import { listen } from './hearing.ts';
import { beginPause } from './pause.ts';
import { spokenWords } from '../../../shared/languages/spelling.ts';
import { forgetWords, wholeText, type Aside, type Turn } from './turn.ts';

/**
 * Words that are mostly the agent's own are its echo, even where STT misheard some of them: a user who switches
 * interruptions off may have no echo canceller, and an agent that answered itself would never stop.
 */
const ownShare = 0.5;

/** Words of listening that end this late in a response are no listening: they answer its last words. */
const answersWithinMs = 1_000;

/** Of its words, those that are not the agent's own, and those that are more than listening. */
function wordsOf(hearing: Hearing, turn: Exclude<Turn, { phase: 'idle' }>): ReturnType<typeof tellingWords> {
  const position = 'position' in turn ? turn.position : undefined;
  const { words, startedAt } = turn;
  return tellingWords(
    hearing,
    { words, startedAt, position },
    { late: hearing.agent.response !== undefined },
  );
}

function weightOf(hearing: Hearing, turn: Aside): 'much' | 'listening' | 'nothing' {
  const said = spokenWords(wholeText(turn.words));
  const { own, telling } = wordsOf(hearing, turn);
  if (own.length <= said.length * ownShare) return 'nothing';
  if (telling.length > 0) return 'much';
  return withoutSounds(own).length > 0 ? 'listening' : 'nothing';
}

/** What holds after every step: an aside waits for its text, then for the end of the response, and for nothing else. */
export function settleAside(step: TurnStep): void {
  const { state, agent } = step;
  const { turn, stt } = state.caller;
  if (turn.phase !== 'aside' || stt.owed.length > 0) return;
  const what = weightOf(step, turn);
  const isAnswer = what === 'listening' && mayAnswer(agent, turn);
  if (what === 'much' || isAnswer) {
    if (agent.response !== undefined) return;
    const { words, startedAt, lastVoiceAt } = turn;
    const own = { words, startedAt, interrupted: false, isVoice: true };
    step.actions.push({ type: 'turn.begun' });
    // A caller who speaks into the last words again goes on.
    if (state.caller.voice === 'speech') {
      state.caller.turn = { phase: 'speaking', ...own };
      listen(step, false);
    } else beginPause(step, own, { lastVoiceAt });
    return;
  }
  state.caller.turn = { phase: 'idle' };
  step.actions.push({ type: 'aside.forgotten' });
}

/** Words of listening answer the last words of a response, and one that they could not have cut. */
const mayAnswer = ({ response, lastSaid }: AgentSide, { lastVoiceAt }: Aside): boolean =>
  response === undefined ? lastVoiceAt >= lastSaid.endedAt - answersWithinMs : !response.interruptible;

/** STT has given all its text of an aside behind which the caller has begun to speak again: is it part of that? */
export function weighAside(step: TurnStep): void {
  const { turn, stt } = step.state.caller;
  if (turn.phase === 'idle' || turn.phase === 'aside' || stt.owed[0]?.fate === 'aside') return;
  if (wordsOf(step, turn).telling.length === 0) forgetWords(turn.words);
}

/**
 * Words that the caller said into a response without cutting it: too late, too little, or where nobody may interrupt. Words
 * that say something are answered once the response is over; listening, sounds and the agent's own voice are forgotten. It
 * cuts nothing.
 */
import { isEnding } from '../course.ts';
import { interruptible, tellingWords } from './candidate.ts';
import { enterKeys } from '../delivery/context.ts';
import { beginEpoch } from '../epoch.ts';
import { beginPause } from './pause.ts';
import { withoutSounds } from './backchannels.ts';
import { spokenWords } from './phrases.ts';
import { startOwedAnswer } from '../answer/speaking.ts';
import { nobodySpeaks, type Step, type Slices } from '../state.ts';
import { forgetWords, wholeText, type Aside, type Turn } from './turn.ts';

/**
 * Words that are mostly the agent's own are its echo, even where STT misheard some of them: a user who switches
 * interruptions off may have no echo canceller, and an agent that answered itself would never stop.
 */
const ownShare = 0.5;

/** Words of listening that end this late in a response are no listening: they answer its last words. */
const answersWithinMs = 1_000;

/** Of its words, those that are not the agent's own, and those that are more than listening. */
function wordsOf(
  state: Slices<'setup' | 'delivery'>,
  turn: Exclude<Turn, { phase: 'idle' }>,
): ReturnType<typeof tellingWords> {
  const position = 'position' in turn ? turn.position : undefined;
  const { words, startedAt } = turn;
  return tellingWords(state, { words, startedAt, position }, { late: state.delivery.response !== undefined });
}

function weightOf(state: Slices<'setup' | 'delivery'>, turn: Aside): 'much' | 'listening' | 'nothing' {
  const said = spokenWords(wholeText(turn.words));
  const { own, telling } = wordsOf(state, turn);
  if (own.length <= said.length * ownShare) return 'nothing';
  if (telling.length > 0) return 'much';
  return withoutSounds(own).length > 0 ? 'listening' : 'nothing';
}

/** What holds after every step: an aside waits for its text, then for the end of the response, and for nothing else. */
export function settleAside(step: Step): void {
  const { state } = step;
  const {
    caller: { turn },
    delivery: { response },
  } = state;
  if (turn.phase !== 'aside' || state.caller.stt.owed.length > 0) return;
  const what = weightOf(state, turn);
  const listens =
    what === 'listening' && (response === undefined ? answersTheEnd(state, turn) : !interruptible(state));
  if (what === 'much' || listens) {
    if (response !== undefined) return;
    const { words, startedAt, lastVoiceAt } = turn;
    beginEpoch(step);
    beginPause(step, { words, startedAt, interrupted: false }, lastVoiceAt);
    return;
  }
  state.caller.turn = { phase: 'idle' };
  enterKeys(state);
  if (state.conversation.owed && response === undefined && !isEnding(state.course) && nobodySpeaks(state))
    startOwedAnswer(step);
}

const answersTheEnd = ({ delivery: { lastSaid } }: Slices<'delivery'>, { lastVoiceAt }: Aside): boolean =>
  lastVoiceAt >= lastSaid.endedAt - answersWithinMs;

/** STT has given all its text of an aside behind which the caller has begun to speak again: is it part of that? */
export function weighAside({ state }: Step<'setup' | 'caller' | 'delivery'>): void {
  const { turn, stt } = state.caller;
  if (turn.phase === 'idle' || turn.phase === 'aside' || stt.owed[0]?.fate === 'aside') return;
  if (wordsOf(state, turn).telling.length === 0) forgetWords(turn.words);
}

/**
 * Where an agent that listens aloud says "mm-hm": in a long turn of the caller, at a short pause behind which the caller goes on. It belongs to no
 * turn and no response, and interrupts nothing: what is heard of it is mixed in softly by the shell, and nothing counts it.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { CallAction } from '../actions.ts';
import type { Slices } from '../state.ts';
import { wholeText } from './turn.ts';

/** The caller has spoken for so long. */
const turnMs: Millis = 4_500;
/** So much of a pause is silent; later a murmur would lie over what comes next. */
const pauseMs: Millis = 350;
const latestMs: Millis = 500;
/** The caller goes on if the pause may become this long before it is an end. */
const goesOnMs: Millis = 1_000;
/** From one murmur to the next. */
const apartMs: Millis = 8_000;

/** What is known of a pause. */
export interface MurmurPause {
  readonly startedAt: Millis;
  readonly lastVoiceAt: Millis;
  /** When the pause will be an end, by what is known now. */
  readonly decideAt: Millis;
  /** Words or a turn model tell that; a pause of which nothing is known says nothing. */
  readonly isJudged: boolean;
}

/** When to murmur in a pause; undefined: not in this one. Pure. */
export function murmurIn(pause: MurmurPause, lastAt: Millis | undefined): Millis | undefined {
  const { startedAt, lastVoiceAt, decideAt, isJudged } = pause;
  const at = lastVoiceAt + pauseMs;
  if (!isJudged || lastVoiceAt - startedAt < turnMs || decideAt - lastVoiceAt < goesOnMs) return undefined;
  return lastAt !== undefined && at - lastAt < apartMs ? undefined : at;
}

type Listening = Slices<'setup' | 'caller' | 'delivery'>;

export function murmurDeadline({ setup: { settings }, caller, delivery }: Listening): Millis | undefined {
  const { turn, murmurs } = caller;
  if ((settings.turn.murmurs ?? []).length === 0 || turn.phase !== 'pausing') return undefined;
  if (turn.ask === murmurs?.pause || delivery.response !== undefined) return undefined;
  // Nobody nods to a voice that may be somebody else's, and into one that is just coming back.
  if (turn.isSoft === true || turn.isCovered === true || turn.holdBy > turn.lastVoiceAt + pauseMs)
    return undefined;
  const isJudged = settings.turn.model ? turn.probability !== undefined : wholeText(turn.words) !== '';
  return murmurIn({ ...turn, isJudged }, murmurs?.at);
}

/** The pause is as long as it has to be. */
export function onMurmurDue(step: {
  readonly state: Listening;
  readonly now: Millis;
  readonly actions: CallAction[];
}): void {
  const { state, now, actions } = step;
  const { turn, murmurs } = state.caller;
  if (turn.phase !== 'pausing') return;
  const { at, count } = murmurs ?? { at: undefined, count: 0 };
  const lines = state.setup.settings.turn.murmurs ?? [];
  const text = lines[count % lines.length];
  const isLate = text === undefined || now - turn.lastVoiceAt > latestMs;
  state.caller.murmurs = isLate
    ? { at, count, pause: turn.ask }
    : { at: now, count: count + 1, pause: turn.ask };
  if (!isLate) actions.push({ type: 'playout.murmur', text });
}

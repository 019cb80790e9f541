/** A pause of the caller: when it is the end of the turn, asked again whenever more is known. */
import type { Millis } from '../../../shared/base/units.ts';
import { soundEnd } from './caller.ts';
import { endOfTurn, noteDecision } from './end-of-turn.ts';
import { finalize, flush } from './hearing.ts';
import type { Slices } from '../state.ts';
import type { TurnStep } from './turn-actions.ts';
import { writtenOut } from '../unwritten.ts';
import { ownOf, wholeText, type OwnTurn, type Words } from './turn.ts';

/** From giving up STT to the first sound of a line that is ready, on a busy machine. */
const lineMs = 100;

/** Less time than this between STT's early text and the decision gains nothing. */
const worthAskingMs = 60;

/** What the agent asked for stands at the end of what it said. */
const askedChars = 200;

/** Margin on top of `minSpeechMs` for a voice that came back to be reported as speech. */
export const resumeMarginMs = 100;

/** Audio that is behind the end of a voice is judged after so long at the latest, or counts as silence. */
export const judgedWithinMs = 1_500;

/** The caller has fallen silent. Nothing is concluded from it before `holdBy`. `asked` is what the agent said before, where a cut has changed it. */
export function beginPause(
  step: TurnStep,
  from: OwnTurn,
  pause: {
    readonly lastVoiceAt: Millis;
    readonly holdBy?: Millis;
    readonly asked?: string;
    readonly isCovered?: boolean;
  },
): void {
  const { state, now } = step;
  const { lastVoiceAt, holdBy = now, asked, isCovered } = pause;
  state.numbers.ask += 1;
  const ask = state.numbers.ask;
  state.caller.turn = {
    phase: 'pausing',
    ...ownOf(from),
    lastVoiceAt,
    isCovered,
    decideAt: now,
    holdBy,
    ask,
    probability: undefined,
  };
  if (state.setup.settings.turn.model) step.actions.push({ type: 'turn.judge', ask });
  reviewPause(step, asked);
}

/** More is known about the pause. A turn that is over by now is decided by the deadline that follows at once. */
export function reviewPause(step: TurnStep, asked = step.agent.lastSaid.text): void {
  const { state } = step;
  const {
    caller: { turn },
    setup: { settings, vocabulary },
  } = state;
  if (turn.phase !== 'pausing') return;
  // A note says nothing of what was said.
  const text = writtenOut(wholeText(turn.words), '');
  const waitMs = endOfTurn(
    {
      vocabulary,
      text,
      asked: asked.slice(-askedChars),
      guessed: isGuess(turn.words),
      speechFinal: turn.words.speechFinal,
      probability: turn.probability,
      patienceMs: state.caller.patience.extraMs,
    },
    settings.turn,
  );
  const latest = turn.lastVoiceAt + settings.turn.maxSilenceMs;
  turn.decideAt = Math.min(Math.max(turn.lastVoiceAt + waitMs, turn.holdBy), latest);
  tellPause(step, turn.words);
}

/** The caller is silent behind these words: an answer to them may be asked for. */
export function tellPause(step: TurnStep, words: Words): void {
  step.actions.push({ type: 'words.changed', text: wholeText(words), pause: { guessed: isGuess(words) } });
}

/** The newest of the words are a guess that may still change. */
const isGuess = ({ partial }: Words): boolean => partial.trim() !== '';

export function onTurnJudged(step: TurnStep, ask: number, probability: number | undefined): void {
  const { turn } = step.state.caller;
  if (turn.phase !== 'pausing' || turn.ask !== ask) return;
  turn.probability = probability;
  reviewPause(step);
  decideWhenDue(step);
}

/**
 * When STT is asked for what it has before the turn is certainly over: its text is final then, and the answer to it on its way.
 * Undefined where it was asked in this pause already, or where there is nothing to gain.
 */
export function askEarlyAt({
  caller: { turn, stt },
  setup: { settings },
}: Slices<'setup' | 'caller'>): Millis | undefined {
  if (turn.phase !== 'pausing' || stt.listeningAt === undefined || stt.owed.length > 0) return undefined;
  const { words } = turn;
  const isFinal = words.speechFinal && words.partial.trim() === '' && wholeText(words) !== '';
  const at = Math.max(turn.lastVoiceAt + settings.turn.askEarlyMs, turn.holdBy);
  return isFinal || at + worthAskingMs > turn.decideAt ? undefined : at;
}

export function askWhenDue(step: TurnStep): void {
  const at = askEarlyAt(step.state);
  if (at !== undefined && step.now >= at) flush(step);
}

/** Ends the turn when its time has come: STT is asked for the final text. */
export function decideWhenDue(step: TurnStep): void {
  const { state, now } = step;
  const { turn } = state.caller;
  if (turn.phase !== 'pausing' || now < turn.decideAt) return;
  const { lastVoiceAt, isCovered, holdBy } = turn;
  noteDecision(state.caller.patience, now);
  // The caller has been waiting since its last sound. An STT that hears what another worker has left hears it from its beginning.
  const waitsFrom = holdBy >= lastVoiceAt + judgedWithinMs ? now : soundEnd(state.caller, lastVoiceAt);
  const waitsUntil = waitsFrom + state.setup.settings.limits.deadAirMs - lineMs;
  const giveUpAt = finalize(step, waitsUntil);
  state.caller.turn = {
    phase: 'finalizing',
    ...ownOf(turn),
    isCovered,
    lastVoiceAt,
    decidedAt: now,
    giveUpAt,
  };
}

/** There is no voice in what came late: the pause is as long as it was. */
export function onVoiceCaughtUp(step: TurnStep): void {
  const { turn } = step.state.caller;
  if (turn.phase !== 'pausing') return;
  turn.holdBy = Math.min(turn.holdBy, step.now);
  reviewPause(step);
  decideWhenDue(step);
}

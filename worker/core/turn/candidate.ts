/**
 * A possible interruption: the caller's voice while a response exists. The output gives way, first softer and then silent at a sample, until
 * the voice has lasted long enough or words say what it is; then the response is cut, or goes on where it was held.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { noteSpeechAfterDecision } from './end-of-turn.ts';
import type { CallEvent, PlayoutPosition } from '../events.ts';
import type { AgentSide, RunningResponse } from './turn-actions.ts';
import { finalize, listen, setAside } from './hearing.ts';
import { beginPause, resumeMarginMs } from './pause.ts';
import { mayBeInvented, withoutListening, type Listening } from './backchannels.ts';
import { asksAt, isQuestion, listensOn } from './nods.ts';
import { withoutEcho } from './phrases.ts';
import { spokenWords } from '../../../shared/languages/spelling.ts';
import { outputFor } from './caller.ts';
import type { Slices } from '../state.ts';
import type { TurnStep } from './turn-actions.ts';
import { newWords, wholeText, type Aside, type Candidate, type Fading, type Words } from './turn.ts';

/** Words of listening for longer than this are something to say. */
const listeningMs = 1_500;
/** A voice that goes on behind a word of listening may say more by then: the agent would begin and break off again. */
const moreWordsMs = 250;
/** "No" may become "no problem": while the output stands still, the rest of such a phrase is waited for. A pause ends that sooner. */
const halfPhraseMs = 900;
/**
 * A voice that falls silent this soon is a nod more often than an interruption: the agent goes on softly until its words are known. The words
 * of a longer one are waited for in silence.
 */
const shortVoiceMs = 700;
/** Nor one that is not heard yet: a caller who waits for it takes the agent for gone. */
const longestWaitMs = 1_200;
/** An STT that tells words as they come would have told some by then: who laughs or hums hears the agent go on, softly. */
const wordlessHoldMs = 1_000;
/** No candidate holds the output for longer; the caller would take the agent for gone. */
const longestHoldMs = 2_500;
/** Nobody reacts to what the agent says any sooner: such a voice was there already. */
const reactionMs = 800;
/** An echo has begun by then after the end of what comes back. Callers repeat the agent's words to answer, but not as fast. */
export const echoWithinMs = 300;

export function beginCandidate(step: TurnStep, voice: VoiceLevel): void {
  const { state, now } = step;
  const { isFaint = false } = voice;
  const { turn } = state.caller;
  const wasThere = step.position === undefined || step.position.sentMs < reactionMs;
  // Words that were said before and still count are the beginning of those that are said now.
  const words = turn.phase === 'aside' ? turn.words : newWords();
  state.caller.turn = {
    phase: 'candidate',
    words,
    startedAt: now,
    output: firstOutput(step.agent, voice, wasThere),
    loud: false,
    lastedMs: 0,
    isNoEcho: false,
    position: undefined,
    isFaint,
    isSoft: isSoft(voice),
    isWaiting: step.agent.response?.isWaiting,
    wasThere,
  };
  const output = outputFor(state.caller);
  if (output === 'held') step.actions.push({ type: 'output.hold' });
  else if (output === 'ducked') step.actions.push({ type: 'output.duck', from: 'plain' });
  listen(step, turn.phase !== 'aside');
}

/** How the agent gives way to a voice that begins. Where its own voice comes back, it would hold itself at every word. */
function firstOutput(
  agent: AgentSide,
  { isFaint = false, isDoubtful = false }: VoiceLevel,
  wasThere: boolean,
): Candidate['output'] {
  if (!mayCut(agent) || agent.echoes) return 'plain';
  if (!isFaint) return 'held';
  // A soft caller hears that the agent gives way, and under a television that has begun to talk the agent goes on.
  return isDoubtful && !wasThere ? 'ducked' : 'plain';
}

/** What had begun as a hum is a soft voice. */
export function doubtCandidate(step: TurnStep, turn: Candidate, voice: VoiceLevel): void {
  if (turn.isFaint !== true || turn.output !== 'plain' || turn.listensAt !== undefined) return;
  if (firstOutput(step.agent, voice, turn.wasThere === true) !== 'ducked') return;
  turn.isSoft = isSoft(voice);
  turn.output = 'ducked';
  step.actions.push({ type: 'output.duck', from: 'plain' });
}

/** Whether words may interrupt what the agent says. */
export const mayCut = ({ response }: AgentSide): boolean => response?.interruptible === true;

/** The voice lasted long enough to be an interruption, where words do not say otherwise. */
export function onSpeechConfirmed(
  step: TurnStep,
  event: Omit<Extract<CallEvent, { type: 'speech.confirmed' }>, 'type'>,
): void {
  const { position, isNoEcho = false } = event;
  const { turn } = step.state.caller;
  if ('isSoft' in turn) turn.isSoft = isSoft(event);
  if (turn.phase !== 'candidate') {
    if ('interrupted' in turn) turn.isVoice = true;
    return;
  }
  turn.loud = true;
  turn.isNoEcho = isNoEcho;
  const { state } = step;
  const wasFaint = turn.isFaint === true && turn.listensAt === undefined;
  turn.isFaint = false;
  reviewCandidate(step, position);
  if (!wasFaint || state.caller.turn !== turn || !mayCut(step.agent) || step.agent.echoes) return;
  giveWay(step, turn);
}

/** The voice goes on and on. */
export function onVoiceLasted(
  step: TurnStep,
  event: Omit<Extract<CallEvent, { type: 'voice.lasted' }>, 'type'>,
): void {
  const { position, lastedMs } = event;
  const { turn } = step.state.caller;
  if (turn.phase !== 'candidate') return;
  turn.isSoft = isSoft(event);
  turn.lastedMs = Math.max(turn.lastedMs, lastedMs);
  // A response that has been played to its end by now is not cut any more.
  if (step.agent.response?.isPlayed !== true) reviewCandidate(step, position);
}

/** So much below the caller a voice is somebody else's. */
const softDb = 9;

/** What voice detection tells of a voice's level. */
interface VoiceLevel {
  readonly isFaint?: boolean;
  readonly isDoubtful?: boolean;
  readonly belowCallerDb?: number;
}

/** By its level the voice is not the caller's, or so soft that nobody knows yet. */
export const isSoft = ({ isFaint = false, belowCallerDb }: VoiceLevel): boolean =>
  belowCallerDb === undefined ? isFaint : belowCallerDb >= softDb;

/** More is known about the candidate. */
export function reviewCandidate(step: TurnStep, position: PlayoutPosition | undefined): void {
  const { turn } = step.state.caller;
  if (turn.phase !== 'candidate' && turn.phase !== 'fading' && turn.phase !== 'aside') return;
  turn.position = position ?? turn.position;
  if (interrupts(step, turn)) confirm(step, turn);
  else if (turn.phase !== 'aside') goOnWhenListening(step, turn);
}

/** Whether all that was said is listening, whole words of it; what may still become something else is not. */
function listensOnly(step: Hearing, turn: Candidate | Fading): boolean {
  const { own } = tellingWords(step, turn);
  if (own.length === 0 || withoutListening(own, listeningWords(step)).length === 0) return own.length > 0;
  return isNod(step, turn, { own, unfinished: false, patient: false });
}

/** What was said is no phrase of the list, and made of words that ask for nothing. */
function isNod(
  hearing: Hearing,
  { words, position }: Pick<Candidate, 'words' | 'position'>,
  {
    own,
    ...said
  }: { readonly own: readonly string[]; readonly unfinished: boolean; readonly patient: boolean },
): boolean {
  const isAsked = asks(hearing.agent, position);
  const evidence = { words: own, isQuestion: isQuestion(wholeText(words)), isAsked, ...said };
  return listensOn(evidence, hearing.state.setup.vocabulary, listeningWords(hearing));
}

/** The agent asks where playback is, or has just asked. */
function asks({ response, lastSaid }: AgentSide, position: PlayoutPosition | undefined): boolean {
  if (response === undefined) return asksAt(lastSaid.text, lastSaid.text.length);
  return asksAt(response.text, response.charsAt(position));
}

/** STT has yet to tell what was said before this voice: its words so far say nothing about it. */
const owesAside = ({ caller }: Slices<'caller'>): boolean => caller.stt.owed[0]?.fate === 'aside';

const listeningWords = ({ state, agent }: Hearing): Listening =>
  agent.response?.isFarewell === true ? state.setup.parting : state.setup.listening;

/** The agent goes on as soon as the words are those of listening, or STT has found none: a silence would tell nothing more. */
function goOnWhenListening(step: TurnStep, turn: Candidate | Fading): void {
  const { state, now } = step;
  const listens = !owesAside(state) && listensOnly(step, turn);
  turn.listensAt = listens ? (turn.listensAt ?? now) : undefined;
  if (turn.phase === 'candidate' || turn.output === 'plain') return;
  const isNothing = state.caller.stt.owed.length === 0 && wholeText(turn.words).trim() === '';
  if (!listens && !isNothing) return;
  turn.resumeAt = Math.min(turn.resumeAt, Math.max(now, turn.voiceBy ?? now));
  if (now >= turn.resumeAt) endFading(step, turn);
}

function endFading(step: TurnStep, turn: Fading): void {
  beginAside(step, turn);
  if (turn.output !== 'plain') step.actions.push({ type: 'output.release', from: turn.output });
}

function interrupts(step: TurnStep, turn: Candidate | Fading | Aside): boolean {
  const { state, agent, now } = step;
  // It may have become the farewell meanwhile.
  if (!mayCut(agent)) return false;
  const { minWords } = state.setup.settings.interrupt;
  // Of words that come late, one that the agent has just said is its echo.
  const { own, telling } = tellingWords(step, turn, { late: turn.phase === 'aside' });
  if (telling.length >= Math.max(1, minWords))
    return !isHalfPhrase(step, turn) && !isDoubted(step, turn, own) && !isAnybodys(turn, now);
  if (turn.phase !== 'candidate') return false;
  turn.halfAt = undefined;
  if (!turn.loud) return false;
  const wordless = spokenWords(wholeText(turn.words)).length === 0 || owesAside(state);
  // STT may have written down the agent's echo from before this voice began.
  if (wordless || (turn.isNoEcho && own.length === 0))
    return (turn.isNoEcho || !agent.echoes) && mayBeWordless(state, turn);
  return minWords === 0 && own.length > 0 && now - turn.startedAt >= listeningMs;
}

/** What STT makes of a noise: such words interrupt where a voice was heard that can have said them. */
function isDoubted({ state }: TurnStep, turn: Candidate | Fading | Aside, own: readonly string[]): boolean {
  if (turn.phase === 'aside' || turn.loud) return false;
  return mayBeInvented(own, state.setup.invented);
}

/**
 * Nobody knows yet how loud the caller is, and this voice was there before the agent spoke, and is so soft that it may be a television's, which STT
 * writes down as well. A caller stops and waits for an answer; what talks on is somebody else.
 */
function isAnybodys(turn: Candidate | Fading | Aside, now: Millis): boolean {
  if (turn.phase === 'aside' || turn.wasThere !== true) return false;
  if (turn.isFaint !== true || turn.isSoft !== true) return false;
  return turn.phase === 'candidate' || now < turn.resumeAt;
}

/** What was said asks for something, unless more words make it a phrase of listening; the voice goes on, and the agent stands still. */
function isHalfPhrase(step: TurnStep, turn: Candidate | Fading | Aside): boolean {
  if (turn.phase !== 'candidate' || turn.output === 'plain') return false;
  if (tellingWords(step, turn, { patient: true }).telling.length > 0) return false;
  if (turn.halfAt === undefined) {
    turn.halfAt = step.now;
    turn.output = 'held';
    step.actions.push({ type: 'output.hold', atOnce: true });
  }
  return step.now < turn.halfAt + halfPhraseMs;
}

/** Whether the voice alone interrupts, once it is loud enough. A voice that has ended has not lasted for longer than it did. */
function mayBeWordless(
  { setup: { settings }, caller: { stt } }: Slices<'setup' | 'caller'>,
  { lastedMs, words, isSoft: soft = false }: Candidate,
): boolean {
  const { minWords, wordlessMs, tellsLate = false } = settings.interrupt;
  if (words.isOthers === true) return false;
  // An STT that tells words as they come would have told some: it laughs, sings, or is somebody else. Before the first words nobody knows.
  if (minWords > 0 && (soft || stt.guesses || !(stt.hasTold || tellsLate))) return false;
  // How an STT tells words says little of when: the first one may be long, and is told after its end.
  return minWords === 0 || (wordlessMs > 0 && lastedMs >= wordlessMs);
}

/** When a candidate has lasted so long that it interrupts whatever it says. */
function longAt(state: Slices<'setup'>, turn: Candidate): Millis {
  if (state.setup.settings.interrupt.minWords > 0) return Infinity;
  return wholeText(turn.words) === '' ? Infinity : turn.startedAt + listeningMs;
}

/** What words are weighed by: the settings, and what the agent says meanwhile. */
export type Hearing = Pick<TurnStep, 'agent'> & { readonly state: Slices<'setup'> };

/**
 * The words that are not the agent's own voice, and those of them that are more than listening. With `late`, a single word that
 * the agent has just said tells nothing either.
 */
export function tellingWords(
  hearing: Hearing,
  voice: {
    readonly words: Words;
    readonly startedAt: Millis;
    readonly position: PlayoutPosition | undefined;
  },
  { late = false, patient = false }: { late?: boolean; patient?: boolean } = {},
): { own: string[]; telling: string[] } {
  const { words } = voice;
  const unfinished = words.partial.trim() !== '';
  const played = playedWords(hearing.agent, voice);
  const listening = listeningWords(hearing);
  const { urgent } = listening;
  const own = withoutEcho(spokenWords(wholeText(words)), played, { unfinished, urgent });
  const options = { unfinished: true, partial: unfinished, patient };
  const telling = withoutListening(own, listening, options);
  if (telling.length > 0 && isNod(hearing, voice, { own, unfinished, patient })) return { own, telling: [] };
  const isEcho = (word: string): boolean => played.includes(word);
  return { own, telling: late || hearing.agent.echoes ? telling.filter((word) => !isEcho(word)) : telling };
}

/** The agent's words around the place where playback is, or of what was cut right before the voice began or under it. */
function playedWords(
  { response, lastSaid }: AgentSide,
  { startedAt, position }: { readonly startedAt: Millis; readonly position: PlayoutPosition | undefined },
): string[] {
  const isNear = startedAt - lastSaid.endedAt < echoWithinMs;
  const before = isNear || response === undefined ? spokenWords(lastSaid.text) : [];
  if (response === undefined || position === undefined) return before;
  return [...before, ...spokenWords(response.textAround(position))];
}

/** The text that the agent said last once the response is cut: nobody has heard one that is not on the wire yet. */
const saidIfCut = ({ lastSaid }: AgentSide, response: RunningResponse | undefined): string =>
  response === undefined || response.isWaiting ? lastSaid.text : response.text;

function confirm(step: TurnStep, turn: Candidate | Fading | Aside): void {
  const { state, agent, now } = step;
  const { words, startedAt, position } = turn;
  if (agent.response?.isWaiting === true) noteSpeechAfterDecision(state.caller.patience, now);
  step.actions.push({ type: 'turn.interrupted', position });
  const isVoice = turn.phase === 'aside' || turn.loud;
  const own = { words, startedAt, interrupted: true, cutAt: now, isSoft: false, isVoice };
  if (turn.phase === 'candidate') state.caller.turn = { phase: 'speaking', ...own };
  else beginPause(step, own, { lastVoiceAt: turn.lastVoiceAt, asked: saidIfCut(agent, agent.response) });
}

/** The candidate fell silent. STT is asked at once: what it heard may still be an interruption. */
export function beginFading(
  step: TurnStep,
  turn: Candidate,
  { lastVoiceAt, maySound = true }: { readonly lastVoiceAt: Millis; readonly maySound?: boolean },
): void {
  const { settings } = step.state.setup;
  const { words, startedAt, output, position } = turn;
  const gaveWay = output !== 'plain';
  if (!gaveWay && !mayCut(step.agent)) {
    beginAside(step, { words, startedAt, lastVoiceAt, position });
    finalize(step);
    return;
  }
  const resumeAt = lastVoiceAt + settings.interrupt.resumeAfterMs;
  const { isLong: _, ...rest } = turn;
  const fading: Fading = {
    ...rest,
    phase: 'fading',
    lastVoiceAt,
    resumeAt: gaveWay ? Math.max(step.now, Math.min(resumeAt, startedAt + longestHoldMs)) : resumeAt,
  };
  step.state.caller.turn = fading;
  finalize(step);
  if (gaveWay && fading.listensAt !== undefined) endFading(step, fading);
  else if (maySound && output === 'held' && isShort(fading) && step.agent.response?.isWaiting === false)
    goOnSoftly(step, fading);
}

/** The output gives way to a voice that may be an interruption. */
export function giveWay(step: TurnStep, turn: Candidate): void {
  turn.output = 'held';
  step.actions.push({ type: 'output.hold' });
}

const isShort = ({ startedAt, lastVoiceAt }: Fading): boolean => lastVoiceAt - startedAt < shortVoiceMs;

/** The agent goes on, softly: the voice has ended and its words are not known yet, or it has none. */
function goOnSoftly(step: TurnStep, turn: Candidate | Fading): void {
  turn.output = 'ducked';
  step.actions.push({ type: 'output.duck', from: 'held' });
}

/** What was said cuts nothing, as far as is known. */
export function beginAside(step: Pick<TurnStep, 'state'>, from: Omit<Aside, 'phase'>): void {
  const { words, startedAt, lastVoiceAt, position } = from;
  setAside(step.state);
  step.state.caller.turn = { phase: 'aside', words, startedAt, lastVoiceAt, position };
}

/** A voice is back that may turn out to be speech. */
export function prolongFading(step: TurnStep, turn: Fading): void {
  const { minSpeechMs, maxSilenceMs } = step.state.setup.settings.turn;
  const until = Math.min(step.now + minSpeechMs + resumeMarginMs, turn.lastVoiceAt + maxSilenceMs);
  const latest = turn.output !== 'plain' ? turn.startedAt + longestHoldMs : Infinity;
  turn.resumeAt = Math.max(turn.resumeAt, Math.min(until, latest));
  turn.voiceBy = Math.min(until, latest);
}

export function candidateDeadline(state: Slices<'setup' | 'caller'>): Millis | undefined {
  const { turn } = state.caller;
  if (turn.phase === 'fading') return turn.resumeAt;
  if (turn.phase !== 'candidate') return undefined;
  const isLongAt = turn.loud && turn.isLong !== true ? longAt(state, turn) : Infinity;
  const wholeAt = turn.halfAt === undefined ? Infinity : turn.halfAt + halfPhraseMs;
  const softAt = turn.output === 'held' ? softlyAt(state, turn) : Infinity;
  const heldAt = turn.output === 'plain' ? Infinity : Math.min(heldUntil(turn), wholeAt, softAt);
  const at = Math.min(isLongAt, heldAt);
  return at === Infinity ? undefined : at;
}

/** When a voice without words silences the agent no longer. */
function softlyAt({ caller: { stt } }: Slices<'caller'>, turn: Candidate): Millis {
  const streams = stt.hasTold ? stt.guesses : stt.streamed === true;
  const tells = streams && wholeText(turn.words).trim() === '';
  return tells && turn.isWaiting === false ? turn.startedAt + wordlessHoldMs : Infinity;
}

/** When a candidate whose voice goes on holds the output no longer. */
function heldUntil({ startedAt, listensAt, isWaiting, isFaint, output }: Candidate): Millis {
  const isDoubtful = isFaint === true && output === 'ducked';
  const longestMs = isDoubtful ? wordlessHoldMs : isWaiting === true ? longestWaitMs : longestHoldMs;
  return Math.min(startedAt + longestMs, listensAt === undefined ? Infinity : listensAt + moreWordsMs);
}

export function onCandidateDeadline(step: TurnStep): void {
  const { state, now } = step;
  const { turn } = state.caller;
  if (turn.phase === 'fading' && now >= turn.resumeAt) {
    // Half a phrase, while the voice went on, is a word now, and a voice that nobody knew has stopped.
    if ((turn.halfAt !== undefined || turn.isFaint === true) && interrupts(step, turn)) confirm(step, turn);
    else endFading(step, turn);
  } else if (turn.phase === 'candidate') {
    if (now >= longAt(state, turn)) turn.isLong = true;
    // A response that has been played to its end by now is not cut any more.
    if (step.agent.response?.isPlayed !== true) reviewCandidate(step, step.position);
    if (state.caller.turn !== turn || turn.output === 'plain') return;
    if (now >= heldUntil(turn)) {
      // The agent goes on; words can still interrupt it.
      step.actions.push({ type: 'output.release', from: turn.output });
      turn.output = 'plain';
    } else if (turn.output === 'held' && now >= softlyAt(state, turn)) goOnSoftly(step, turn);
  }
}

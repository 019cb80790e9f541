/** What becomes of the agent's text: TTS, playout and marks, and what happens when TTS fails the response. */
import { forgetFaults } from '../faults.ts';
import { endSoon } from '../course.ts';
import type { Millis } from '../../../shared/base/units.ts';
import { beginProbe, newClientPlayout, noteProbed, wantsProbe } from './client-playout.ts';
import {
  expectMark,
  fastestMsPerChar,
  heardChars,
  newHeardState,
  noteFlow,
  noteGap,
  noteMarkPlayed,
  noteMarkSent,
  noteSpoken,
  tellingChars,
} from './heard.ts';
import { enterHeard, tellHeard, tellHeardEnd } from './context.ts';
import type { CallEvent } from '../events.ts';
import { loseAnswer } from '../answer/outage.ts';
import { uncountedMs } from '../answer/silence-state.ts';
import { finishWriting, flush, isAnnounced, passText, unfilled, type Response } from '../answer/response.ts';
import {
  announce,
  answerOwed,
  completeResponse,
  endCall,
  openResponse,
  speakForSilence,
  startAnnouncement,
  startLine,
  stopLlm,
  voiceOf,
} from '../answer/speaking.ts';
import { nobodySpeaks, noticeFault, outputHeld, type Step, type Slices } from '../state.ts';
import { tell, type FaultKind } from '../told.ts';

/** How long a client that never echoed a mark is assumed to play on after the last frame. */
const unconfirmedPlayoutMs = 500;
const slowestMsPerChar = 200;

export function onTtsSpoken(
  step: Step<'numbers' | 'delivery' | 'faults'>,
  response: Response,
  spoken: { chars: number; audioMs: number },
): void {
  response.spoken.spokenSaid = Math.max(
    response.spoken.spokenSaid,
    Math.min(spoken.chars, response.spoken.said),
  );
  if (spoken.audioMs > 0 && spokenBeyondFillers(response)) forgetFaults(step.state.faults, 'tts');
  const chars = noteSpoken(response.playing.heard, spoken.chars, spoken.audioMs);
  noteRate(step, chars ?? 0, spoken.audioMs);
  // A mark behind no audio would be echoed at once and tell nothing.
  if (chars === undefined || spoken.audioMs === 0) return;
  expectMark(response.playing.heard, orderMark(step, response.context), { chars, atMs: spoken.audioMs });
}

/** TTS says that no more sound comes. */
export function onTtsFlushed(
  step: Step<'numbers' | 'delivery' | 'faults'>,
  response: Response,
  audioMs: Millis,
): void {
  if (response.spoken.phase !== 'broken') response.spoken.phase = 'flushed';
  tell(step, { type: 'bot.tts_stopped', epoch: response.epoch });
  // A provider that does not report single pieces still gets one mark, at the end of the response.
  if (audioMs > 0) onTtsSpoken(step, response, { chars: response.spoken.said, audioMs });
}

/** Has a mark sent behind what there is of a context. Returns its id. */
function orderMark({ state, actions }: Step<'numbers'>, context: number): string {
  state.numbers.mark += 1;
  const id = `m${state.numbers.mark}`;
  actions.push({ type: 'playout.mark', context, id });
  return id;
}

/** How fast TTS speaks, unless some of the text made no sound. */
function noteRate({ state }: Step<'delivery'>, chars: number, audioMs: Millis): void {
  const msPerChar = audioMs / Math.max(1, chars);
  if (chars >= tellingChars && msPerChar >= fastestMsPerChar && msPerChar <= slowestMsPerChar)
    state.delivery.msPerChar = msPerChar;
}

/** TTS has spoken something that it may not have had ready. */
function spokenBeyondFillers({
  playing: { heard },
  spoken: { spokenSaid },
  writing: { fillers },
}: Response): boolean {
  const piece = heard.pieces.find(({ endSaid }) => endSaid >= spokenSaid);
  return piece !== undefined && !fillers.some(({ to }) => to === piece.endChars);
}

/** What is said next is the last of it where TTS has failed too often. */
function noticeTts(step: Step, what: FaultKind): void {
  if (!noticeFault(step, 'tts', what)) return;
  step.state.faults.lastWords = true;
  step.state.course.cause = 'providers';
}

/**
 * The TTS session is dead. Nothing of the response was audible: it is spoken again from its start. Otherwise what
 * exists is played, and the text after it is spoken next.
 */
export function onTtsFailed(step: Step, what: 'failed' | 'stalled'): void {
  const { state, actions } = step;
  actions.push({ type: 'tts.reopen' });
  noticeTts(step, what);
  const { response } = state.delivery;
  if (response?.playing.phase === 'waiting') {
    actions.push({ type: 'playout.clear', epoch: state.numbers.epoch, wire: false });
    enterHeard(state.conversation.history, response, 0);
    if (what === 'stalled' && state.faults.lastWords && isAnnounced(response)) endCall(step, 'ended');
    else speakAgain(step, response, unfilled(response, 0) + response.writing.splitter.pending);
  } else if (
    response?.playing.phase === 'playing' &&
    response.spoken.phase !== 'broken' &&
    !isWholeAnnouncement(response)
  ) {
    response.spoken.phase = 'broken';
    actions.push({ type: 'playout.finish', context: response.context });
  } else if (response === undefined && state.faults.lastWords) {
    endSoon(state.course);
  }
}

/** All of its audio exists, whatever becomes of the session. */
const isWholeAnnouncement = (response: Response): boolean =>
  response.spoken.phase === 'flushed' && isAnnounced(response);

/**
 * How long TTS may take for a sound, from when the response is owed. For the caller the silence began with the last word and not with
 * the decision.
 */
export function audibleWithin(
  state: Slices<'setup' | 'caller' | 'silence' | 'faults'>,
  response: Response,
): Millis {
  const {
    setup: { settings },
    caller: { clock: turnClock },
    faults: { inARow },
    silence: { readyLines },
  } = state;
  const { audibleWithinMs, lateAudibleMs, ttsLeastMs, ttsHurriedMs } = settings.limits;
  const {
    playing: { silentAt },
    writing: { firstTextAt, llmAt },
  } = response;
  if (silentAt === undefined) return audibleWithinMs;
  const textAfterMs = (firstTextAt ?? llmAt) - silentAt;
  // The silence before an answer that is tried again is a part of the caller's wait, unless a filler that is ready ends it.
  const isFilled = response.writing.fillers.length > 0 && readyLines.fillers;
  if (response.recovery.retried && response.playing.phase === 'waiting' && !isFilled) {
    const hurriedMs = Math.min(textAfterMs + ttsHurriedMs, lateAudibleMs - uncountedMs);
    return Math.min(audibleWithinMs, Math.max(audibleWithinMs - uncountedMs, hurriedMs));
  }
  // Counted once: a caller who was given something meanwhile that nobody heard begins to wait anew.
  if (turnClock === undefined || silentAt > turnClock.finalAt) return audibleWithinMs;
  const pausedMs = Math.min(turnClock.decidedAt - turnClock.soundEndAt, longestPauseMs);
  const isHurried = inARow.stt > 0 || inARow.llm > 0;
  const hurriedMs = textAfterMs + ttsHurriedMs;
  const calmMs = isHurried ? hurriedMs : Math.min(textAfterMs + ttsLeastMs, lateAudibleMs - pausedMs);
  return Math.min(audibleWithinMs, Math.max(audibleWithinMs - pausedMs, hurriedMs, calmMs));
}

/** A longer pause was a takeover's, and the voice of the next worker begins as late. */
const longestPauseMs = 1_500;

/** Times that TTS breaks off, or something stands in for what it owes, before the caller is told and the response is given up. */
const mostStandIns = 3;

/** TTS does not come back in time for this response. An answer is tried again later, and the caller may speak meanwhile. */
function giveUpResponse(step: Step, former: Response): void {
  const { state, now } = step;
  stopLlm(step, former);
  if (former.hangUpAfter || former.source === 'closing') {
    sayLastWords(step, former);
    return;
  }
  if (former.source === 'answer') loseAnswer(step);
  const silentMs = now - (former.playing.silentAt ?? now);
  // A caller who has heard the announcement, and nothing for long since then, hears it again.
  const wasTold = former.playing.phase !== 'waiting' && nobodySpeaks(state);
  const isLong = wasTold && silentMs >= state.setup.settings.limits.fillerAfterMs;
  if (!isAnnounced(former) || isLong) {
    startAnnouncement(step, 'apology', { standIns: mostStandIns });
    return;
  }
  state.delivery.response = undefined;
  state.silence.since = undefined;
  tellHeardEnd(step, former, { to: former.recovery.heardTo, how: 'failed' });
  if (former.playing.phase !== 'waiting' || former.recovery.wasAudible)
    tell(step, { type: 'turn.bot_ended', epoch: former.epoch });
  answerOwed(step, now);
}

/** Speaks what is left of a response in a new session, after a filler when the caller has been waiting. */
function speakAgain(step: Step, former: Response, text: string): void {
  const { state, now } = step;
  if (state.faults.lastWords) {
    stopLlm(step, former);
    sayLastWords(step, former);
    return;
  }
  // A caller whose voice holds the output may be asking something else.
  if (isUseless(former, text) && !outputHeld(state)) {
    giveUpResponse(step, former);
    return;
  }
  const fills = (text.trim() !== '' || former.writing.phase !== 'done') && hasWaited(step, former);
  const { source, interruptible } = former;
  const again = openResponse(step, source, { interruptible, owedSince: state.silence.since ?? now });
  // A caller who hears no filler is still waiting: two sessions that say nothing must not take twice as long.
  if (fills) again.playing.silentAt = now;
  takeOn(again, former);
  const voice = voiceOf(step);
  // A filler that is not ready would be asked of the TTS that has just failed.
  const fillsSilence = (): boolean => state.silence.readyLines.fillers && speakForSilence(step, again);
  if (wasOnlyAnnounced(former) || (fills && !fillsSilence())) announce(step, again);
  const { fillers } = again.writing;
  if (fillers.length > 0 || isBrokenOff(former)) again.recovery.standIns += 1;
  passText(again, text, voice);
  if (again.writing.phase !== 'done') return;
  if (finishWriting(again, voice) || fillers.length > 0) flush(again, voice);
  else completeResponse(step);
}

/** The one response goes on in another: its request to the LLM, its tools and what is to follow it are the same. */
function takeOn(again: Response, former: Response): void {
  const { phase, round, notes, llmAt, firstTextAt, asks } = former.writing;
  Object.assign(again.writing, { phase, round, notes, llmAt, firstTextAt });
  if (asks !== undefined) again.writing.asks = { key: asks.key, from: 0 };
  again.hangUpAfter = former.hangUpAfter;
  again.recovery.again = former.recovery.again;
  again.recovery.retried = former.recovery.retried;
  again.recovery.standIns = former.recovery.standIns;
}

/** The caller was told already that something is wrong, or was given something else too often. */
function isUseless(former: Response, text: string): boolean {
  const wasTold = former.playing.phase !== 'waiting' && isAnnounced(former);
  return (wasTold && text.trim() !== '') || former.recovery.standIns >= mostStandIns;
}

/** Whether the caller has waited for so long that something is to be heard before the text. */
function hasWaited({ state, now }: Step, former: Response): boolean {
  const waitedMs = now - (former.playing.silentAt ?? now);
  // Lines of the agent are made ahead of time; a line that TTS owes for so long was not.
  const isOwn = ['greeting', 'question', 'apology', 'misheard', 'farewell'].includes(former.source);
  if (isOwn && waitedMs < audibleWithin(state, former)) return false;
  // A filler that nobody heard has not ended the wait.
  const unheard = former.playing.phase === 'waiting' && former.writing.fillers.length > 0;
  return (
    unheard || waitedMs >= Math.min(state.setup.settings.limits.fillerAfterMs, audibleWithin(state, former))
  );
}

/** The session that was to play the announcement is gone. */
const wasOnlyAnnounced = (former: Response): boolean =>
  former.playing.phase === 'waiting' && isAnnounced(former);

/** Of a TTS that breaks off in every piece the caller would hear a word at a time. */
const isBrokenOff = ({ playing, spoken }: Response): boolean =>
  playing.phase !== 'waiting' && spoken.spokenSaid <= spoken.saidBefore;

/** TTS was given up: the farewell, or what stands in for it, is the last that is heard. */
function sayLastWords(step: Step, former: Response): void {
  const isHeard = former.playing.phase !== 'waiting';
  if (isHeard && isAnnounced(former)) endCall(step, 'ended');
  else if (former.source === 'farewell') startAnnouncement(step, 'farewell');
  else startLine(step, 'farewell', { owedSince: step.now });
}

/** The first sound of it goes out. True where the caller has heard nothing of this attempt before. */
export function onPlayoutStarted(step: Step<'delivery' | 'silence' | 'faults'>, response: Response): boolean {
  const { state, now } = step;
  const { playing } = response;
  if (playing.phase === 'playing') onPlayoutFed(step, response);
  if (playing.phase !== 'waiting') return false;
  response.playing = { phase: 'playing', heard: playing.heard, silentAt: undefined };
  state.silence.since = undefined;
  noteFlow(playing.heard, now);
  if (response.writing.fillers[0]?.from !== 0) forgetFaults(state.faults, 'tts');
  if (!response.recovery.wasAudible) tell(step, { type: 'turn.bot_started', epoch: response.epoch });
  return true;
}

/** Everything that TTS delivered is on the wire, and more must come. */
export function onPlayoutStarved(step: Step<'silence'>, response: Response, sentMs: Millis): void {
  if (response.playing.phase !== 'playing' || response.spoken.phase === 'broken') return;
  response.playing.silentAt ??= step.now;
  step.state.silence.since ??= step.now;
  response.spoken.starvedMs = sentMs;
  response.spoken.starvedSaid = response.spoken.said;
  noteGap(response.playing.heard, step.now);
}

export function onPlayoutFed(step: Step<'silence'>, response: Response): void {
  if (response.playing.phase !== 'playing') return;
  response.playing.silentAt = undefined;
  step.state.silence.since = undefined;
  noteFlow(response.playing.heard, step.now);
}

/** All audio that exists is on the wire: `sentMs` of it. */
export function onPlayoutDrained(step: Step, response: Response, sentMs: Millis): void {
  const { state, now } = step;
  if (response.spoken.phase === 'broken') {
    speakRest(step, response, sentMs);
    return;
  }
  if (response.playing.phase === 'waiting') {
    onNoAudio(step, response);
    return;
  }
  const graceMs = state.delivery.client.echoesMarks
    ? state.delivery.client.delayMs + state.setup.settings.limits.markGraceMs
    : unconfirmedPlayoutMs;
  noteGap(response.playing.heard, now);
  state.silence.since = undefined;
  response.playing = {
    phase: 'draining',
    heard: response.playing.heard,
    silentAt: undefined,
    sentMs,
    drainedAt: now,
    endsBy: now + graceMs,
  };
  if (
    response.playing.heard.marks.size === 0 &&
    response.playing.heard.echoedChars >= response.writing.text.length
  )
    completeResponse(step);
}

/**
 * TTS took the text and made no sound of it. An answer is apologised for, and a line of the agent's own is stood in for by the
 * announcement; lines of others are left out. A caller who speaks, or has just spoken, is heard out.
 */
function onNoAudio(step: Step, response: Response): void {
  const { state } = step;
  const { source, hangUpAfter } = response;
  noticeTts(step, 'empty');
  if (!hangUpAfter) enterHeard(state.conversation.history, response, 0);
  const quiet = state.caller.voice === 'silent' && state.caller.turn.phase !== 'fading';
  const isOthers = source === 'line' || source === 'rest' || source === 'closing';
  if (!quiet || isAnnounced(response) || (isOthers && !state.faults.lastWords)) {
    if (state.faults.lastWords) endSoon(state.course);
    completeResponse(step);
    return;
  }
  if (hangUpAfter) startAnnouncement(step, 'farewell');
  else if (state.faults.lastWords) startLine(step, 'farewell');
  else if (source !== 'answer') startAnnouncement(step, 'apology');
  else startLine(step, 'apology');
}

export function onMarkSent(
  { state, now }: Step<'delivery'>,
  { id, inside }: Extract<CallEvent, { type: 'mark.sent' }>,
): void {
  const { response, client } = state.delivery;
  if (client.probe?.id === id) client.probe.sentAt = now;
  else if (response !== undefined && (inside === undefined || inside.context === response.context))
    noteMarkSent(response.playing.heard, id, { client, now, atMs: inside?.atMs });
}

export function onMarkPlayed(step: Step, id: string): void {
  const { state, now } = step;
  const { client, response } = state.delivery;
  if (noteProbed(client, id, now)) return;
  const heardBefore = response?.playing.heard.echoedChars ?? 0;
  const isLast = response === undefined && client.newestMark?.id === id;
  const expected = noteMarkPlayed(response?.playing.heard ?? newHeardState(), { id, client, now });
  if (isLast) probe(step, state.numbers.context);
  if (response === undefined || !expected) return;
  tellHeard(step, response, { from: heardBefore, to: response.playing.heard.echoedChars });
  if (response.playing.phase !== 'draining' || response.playing.heard.marks.size > 0) return;
  probe(step, response.context);
  completeResponse(step);
}

/** All of a context was played, so what the echo of one more mark takes is no playing. */
function probe(step: Step<'numbers' | 'delivery'>, context: number): void {
  const { client } = step.state.delivery;
  if (wantsProbe(client)) beginProbe(client, orderMark(step, context));
}

/** TTS failed in this response: what exists has been played, and the text after it is spoken next. */
function speakRest(step: Step, response: Response, sentMs: Millis): void {
  const position = { context: response.context, sentMs };
  const { text } = response.writing;
  const { pronounce } = step.state.setup;
  const chars = heardChars(
    { ...response.playing.heard, acknowledged: undefined },
    { text, pronounce, position, client: newClientPlayout(), now: step.now },
  );
  tellHeard(step, response, { from: response.playing.heard.echoedChars, to: chars });
  response.recovery.heardTo = chars;
  enterHeard(step.state.conversation.history, response, chars);
  step.state.delivery.lastSaid = { text: response.writing.text.slice(0, chars), endedAt: step.now };
  speakAgain(step, response, unfilled(response, chars) + response.writing.splitter.pending);
}

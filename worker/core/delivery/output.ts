/** What becomes of the agent's text: TTS, playout and marks, and what happens when TTS fails the response. */
import { forgetFaults } from '../faults.ts';
import { endSoon } from '../course.ts';
import type { Millis } from '../../../shared/base/units.ts';
import { noteRightEnd } from '../turn/end-of-turn.ts';
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
} from './heard.ts';
import { enterHeard, tellHeard, tellHeardEnd } from './context.ts';
import type { CallEvent } from '../events.ts';
import { loseAnswer } from '../answer/outage.ts';
import { uncountedMs } from '../answer/quiet.ts';
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
/** Less text than this does not tell how fast TTS speaks. */
const tellingChars = 15;
const slowestMsPerChar = 200;

export function onTtsSpoken(
  step: Step<'numbers' | 'delivery' | 'faults'>,
  response: Response,
  spoken: { chars: number; audioMs: number },
): void {
  response.spokenSaid = Math.max(response.spokenSaid, Math.min(spoken.chars, response.said));
  if (spoken.audioMs > 0 && spokenBeyondFillers(response)) forgetFaults(step.state.faults, 'tts');
  const chars = noteSpoken(response.heard, spoken.chars, spoken.audioMs);
  noteRate(step, chars ?? 0, spoken.audioMs);
  // A mark behind no audio would be echoed at once and tell nothing.
  if (chars === undefined || spoken.audioMs === 0) return;
  expectMark(response.heard, orderMark(step, response.context), { chars, atMs: spoken.audioMs });
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
function spokenBeyondFillers({ heard, spokenSaid, fillers }: Response): boolean {
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
  if (response?.phase === 'waiting') {
    actions.push({ type: 'playout.clear', epoch: state.numbers.epoch, wire: false });
    enterHeard(state.conversation.history, response, 0);
    if (what === 'stalled' && state.faults.lastWords && isAnnounced(response)) endCall(step, 'ended');
    else speakAgain(step, response, unfilled(response, 0) + response.splitter.pending);
  } else if (response?.phase === 'playing' && !response.broken && !isWholeAnnouncement(response)) {
    response.broken = true;
    actions.push({ type: 'playout.finish', context: response.context });
  } else if (response === undefined && state.faults.lastWords) {
    endSoon(state.course);
  }
}

/** All of its audio exists, whatever becomes of the session. */
const isWholeAnnouncement = (response: Response): boolean => response.flushed && isAnnounced(response);

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
  const { audibleWithinMs, fillerAfterMs, ttsLeastMs, ttsHurriedMs } = settings.limits;
  const { silentAt, firstTextAt, llmAt } = response;
  if (silentAt === undefined) return audibleWithinMs;
  const textAfterMs = (firstTextAt ?? llmAt) - silentAt;
  // The silence before an answer that is tried again is a part of the caller's wait, unless a filler that is ready ends it.
  const isFilled = response.fillers.length > 0 && readyLines.fillers;
  if (response.retried && response.phase === 'waiting' && !isFilled)
    return Math.min(audibleWithinMs, Math.max(audibleWithinMs - uncountedMs, textAfterMs + ttsHurriedMs));
  // Counted once: a caller who was given something meanwhile that nobody heard begins to wait anew.
  if (turnClock === undefined || silentAt > turnClock.finalAt) return audibleWithinMs;
  const pausedMs = Math.min(turnClock.decidedAt - turnClock.lastVoiceAt, longestPauseMs);
  const isHurried = inARow.stt > 0 || inARow.llm > 0;
  // Not before a filler would be due: the line that is spoken instead begins with one.
  const leastMs = Math.max(fillerAfterMs, textAfterMs + (isHurried ? ttsHurriedMs : ttsLeastMs));
  return Math.min(audibleWithinMs, Math.max(audibleWithinMs - pausedMs, leastMs));
}

/** A longer pause was a takeover's, and the voice of the next worker begins as late. */
const longestPauseMs = 1_000;

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
  const silentMs = now - (former.silentAt ?? now);
  // Who has heard the announcement, and nothing for long since then, hears it again.
  const wasTold = former.phase !== 'waiting' && nobodySpeaks(state);
  const isLong = wasTold && silentMs >= state.setup.settings.limits.fillerAfterMs;
  if (!isAnnounced(former) || isLong) {
    startAnnouncement(step, 'apology', { standIns: mostStandIns });
    return;
  }
  state.delivery.response = undefined;
  state.silence.since = undefined;
  tellHeardEnd(step, former, { to: former.heardTo, how: 'failed' });
  if (former.phase !== 'waiting' || former.wasAudible)
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
  const wasTold = former.phase !== 'waiting' && isAnnounced(former);
  // Whose voice holds the output may be asking something else.
  const isUseless = (wasTold && text.trim() !== '') || former.standIns >= mostStandIns;
  if (isUseless && !outputHeld(state)) {
    giveUpResponse(step, former);
    return;
  }
  const waitedMs = now - (former.silentAt ?? now);
  const owes = text.trim() !== '' || former.writing;
  // Lines of the agent are made ahead of time; a line that TTS owes for so long was not.
  const own = ['greeting', 'question', 'apology', 'misheard', 'farewell'].includes(former.source);
  const known = own && waitedMs < audibleWithin(state, former);
  // A filler that nobody heard has not ended the wait.
  const unheard = former.phase === 'waiting' && former.fillers.length > 0;
  const waited = !known && (unheard || waitedMs >= state.setup.settings.limits.fillerAfterMs);
  const fills = owes && waited;
  const owedSince = state.silence.since ?? now;
  const again = openResponse(step, former.source, { interruptible: former.interruptible, owedSince });
  // Who gets no filler goes on waiting: two sessions that say nothing must not take twice as long.
  if (fills) again.silentAt = now;
  again.round = former.round;
  again.notes = former.notes;
  again.llmAt = former.llmAt;
  again.firstTextAt = former.firstTextAt;
  again.hangUpAfter = former.hangUpAfter;
  again.again = former.again;

  again.writing = former.writing;
  again.inTools = former.inTools;
  if (former.asks !== undefined) again.asks = { key: former.asks.key, from: 0 };
  const voice = voiceOf(step);
  // The session that was to play it is gone.
  const lost = former.phase === 'waiting' && isAnnounced(former);
  // A filler that is not ready would be asked of the TTS that has just failed.
  const fillsSilence = (): boolean => state.silence.readyLines.fillers && speakForSilence(step, again);
  if (lost || (fills && !fillsSilence())) announce(step, again);
  // Of a TTS that breaks off in every piece the caller would hear a word at a time.
  const isBrokenOff = former.phase !== 'waiting' && former.spokenSaid <= former.saidBefore;
  again.standIns = former.standIns + (again.fillers.length > 0 || isBrokenOff ? 1 : 0);
  passText(again, text, voice);
  if (again.writing) return;
  if (finishWriting(again, voice) || again.fillers.length > 0) flush(again, voice);
  else completeResponse(step);
}

/** TTS was given up: the farewell, or what stands in for it, is the last that is heard. */
function sayLastWords(step: Step, former: Response): void {
  const isHeard = former.phase !== 'waiting';
  if (isHeard && isAnnounced(former)) endCall(step, 'ended');
  else if (former.source === 'farewell') startAnnouncement(step, 'farewell');
  else startLine(step, 'farewell', { owedSince: step.now });
}

export function onPlayoutStarted(
  step: Step<'caller' | 'delivery' | 'silence' | 'faults'>,
  response: Response,
  audioAt: number,
): void {
  const { state, now } = step;
  if (response.phase === 'playing') onPlayoutFed(step, response);
  if (response.phase !== 'waiting') return;
  state.delivery.response = { ...response, phase: 'playing', silentAt: undefined };
  state.silence.since = undefined;
  noteFlow(state.delivery.response.heard, now);
  if (response.fillers[0]?.from !== 0) forgetFaults(state.faults, 'tts');
  noteRightEnd(state.caller.patience);
  if (!response.wasAudible) tell(step, { type: 'turn.bot_started', epoch: response.epoch });
  const clock = state.caller.clock;
  state.caller.clock = undefined;
  if (clock?.epoch !== response.epoch || !clock.hasWords) return;
  const firstTextAt = Math.max(response.firstTextAt ?? clock.finalAt, clock.finalAt);
  tell(step, {
    type: 'turn.measured',
    epoch: response.epoch,
    times: {
      endOfTurnMs: clock.decidedAt - clock.soundEndAt,
      sttFinalMs: clock.finalAt - clock.decidedAt,
      llmTtftMs: firstTextAt - clock.finalAt,
      ttsTtfbMs: audioAt - firstTextAt,
      wireMs: now - audioAt,
      responseMs: now - clock.soundEndAt,
      filled: response.fillers[0]?.from === 0,
    },
  });
}

/** Everything that TTS delivered is on the wire, and more must come. */
export function onPlayoutStarved(step: Step<'silence'>, response: Response, sentMs: Millis): void {
  if (response.phase !== 'playing' || response.broken) return;
  response.silentAt ??= step.now;
  step.state.silence.since ??= step.now;
  response.starvedMs = sentMs;
  response.starvedSaid = response.said;
  noteGap(response.heard, step.now);
}

export function onPlayoutFed(step: Step<'silence'>, response: Response): void {
  if (response.phase !== 'playing') return;
  response.silentAt = undefined;
  step.state.silence.since = undefined;
  noteFlow(response.heard, step.now);
}

/** All audio that exists is on the wire: `sentMs` of it. */
export function onPlayoutDrained(step: Step, response: Response, sentMs: Millis): void {
  const { state, now } = step;
  if (response.broken) {
    speakRest(step, response, sentMs);
    return;
  }
  if (response.phase === 'waiting') {
    onNoAudio(step, response);
    return;
  }
  const graceMs = state.delivery.client.echoesMarks
    ? state.delivery.client.delayMs + state.setup.settings.limits.markGraceMs
    : unconfirmedPlayoutMs;
  noteGap(response.heard, now);
  state.silence.since = undefined;
  state.delivery.response = {
    ...response,
    phase: 'draining',
    sentMs,
    drainedAt: now,
    endsBy: now + graceMs,
    silentAt: undefined,
  };
  if (response.heard.marks.size === 0 && response.heard.echoedChars >= response.text.length)
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
    noteMarkSent(response.heard, id, { client, now, atMs: inside?.atMs });
}

export function onMarkPlayed(step: Step, id: string): void {
  const { state, now } = step;
  const { client, response } = state.delivery;
  if (noteProbed(client, id, now)) return;
  const heardBefore = response?.heard.echoedChars ?? 0;
  const isLast = response === undefined && client.newestMark?.id === id;
  const expected = noteMarkPlayed(response?.heard ?? newHeardState(), { id, client, now });
  if (isLast) probe(step, state.numbers.context);
  if (response === undefined || !expected) return;
  tellHeard(step, response, { from: heardBefore, to: response.heard.echoedChars });
  if (response.phase !== 'draining' || response.heard.marks.size > 0) return;
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
  const { text } = response;
  const { pronounce } = step.state.setup;
  const chars = heardChars(
    { ...response.heard, acknowledged: undefined },
    { text, pronounce, position, client: newClientPlayout(), now: step.now },
  );
  tellHeard(step, response, { from: response.heard.echoedChars, to: chars });
  response.heardTo = chars;
  enterHeard(step.state.conversation.history, response, chars);
  step.state.delivery.lastSaid = { text: response.text.slice(0, chars), endedAt: step.now };
  speakAgain(step, response, unfilled(response, chars) + response.splitter.pending);
}

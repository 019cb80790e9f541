/**
 * A call that was taken over from a worker that is gone. The conversation is known up to the last step; sessions with
 * providers, waiting audio and the judgement of the caller's voice are not. Words that the caller has heard are not
 * said again. A line that was being said goes on at the sample, and a turn that was being heard is heard again from its beginning.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { CallEvent } from './events.ts';
import { beginAside, beginFading } from './turn/candidate.ts';
import { finalize, forgetGiven, givenMs, listen } from './turn/hearing.ts';
import { noteGap, type Piece } from './delivery/heard.ts';
import { wasteGuess } from './answer/guess.ts';
import { onToolsResumed } from './answer/answering.ts';
import { beginPause, judgedWithinMs } from './turn/pause.ts';
import { unfilled, type Response } from './answer/response.ts';
import { startRound } from './answer/speaking.ts';
import type { Step } from './state.ts';
import { resumeTransfer } from './answer/transfer.ts';
import { addFinal, type Words } from './turn/turn.ts';

type Resumed = Extract<CallEvent, { type: 'call.resumed' }>;

/** The least that a session of another worker has for a turn that was over before; its audio comes faster than it was spoken. */
const hearAgainMs = 800;

export function onCallResumed(step: Step, event: Resumed): void {
  const { state } = step;
  state.numbers.lostEpochs += 1;
  // What the caller has pressed meanwhile has not been read.
  if (state.keys.completeAt !== undefined) state.keys.completeAt += event.silentMs ?? 0;
  state.caller.voice = 'silent';
  state.caller.stt.owed.length = 0;
  state.caller.stt.hasNew = event.turnAudio;
  // The sound of lines was the other worker's; this one says what it has.
  state.silence.readyLines = { fillers: false, farewell: false };
  if (event.turnAudio && 'words' in state.caller.turn) forgetGiven(step, state.caller.turn.words);
  state.caller.stt.givenMs = givenMs(step);
  state.caller.stt.listeningAt = undefined;
  // Its request died with the worker; nothing of it has left the core.
  wasteGuess(state.guess);
  const { response } = state.delivery;
  if (response !== undefined && response.phase !== 'draining') {
    const sentMs = event.position?.context === response.context ? event.position.sentMs : 0;
    resumeResponse(step, response, sentMs);
  }
  onToolsResumed(step);
  resumeTransfer(step);
  resumeTurn(step, event);
}

// ---- the caller's side ----

/**
 * The detector of this worker knows of no speech, so a turn waits as if the voice had fallen silent when the other one died: one that
 * goes on takes it back to where it was.
 */
function resumeTurn(step: Step, { turnAudio, silentMs = 0 }: Resumed): void {
  const { state, now, actions } = step;
  const { turn } = state.caller;
  if (turn.phase === 'idle') return;
  const words = turnAudio ? turn.words : keptWords(turn.words);
  listen(step, false);
  if (turnAudio) actions.push({ type: 'stt.replay' });
  switch (turn.phase) {
    case 'candidate':
    case 'fading': {
      const { startedAt, held, loud, lastedMs, isNoEcho, position, isFaint } = turn;
      if (held) actions.push({ type: 'playout.pause' });
      const candidate = {
        phase: 'candidate',
        words,
        startedAt,
        held,
        loud,
        lastedMs,
        isNoEcho,
        position,
        isFaint,
      } as const;
      beginFading(step, candidate, now);
      return;
    }
    case 'aside':
      beginAside(step, { ...turn, words, lastVoiceAt: now });
      finalize(step);
      return;
    case 'speaking':
    case 'pausing':
      beginPause(
        step,
        { words, startedAt: turn.startedAt, interrupted: turn.interrupted },
        turn.phase === 'pausing' ? turn.lastVoiceAt : now - silentMs,
        // A voice that goes on is known when what came meanwhile is judged: STT that is asked before hears half a word.
        now + judgedWithinMs,
      );
      return;
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

// ---- the agent's side ----

/**
 * Speaks on in a context of its own: pieces whose audio is on the wire stay as they are, the piece in which it stopped is
 * made once more and its first part left out.
 */
function resumeResponse(
  step: Step<'setup' | 'numbers' | 'delivery' | 'silence' | 'conversation'>,
  former: Response,
  sentMs: Millis,
): void {
  const { state, now, actions } = step;
  const { pieces, marks } = former.heard;
  const kept = piecesBefore(pieces, sentMs);
  const base = pieces[kept - 1];
  for (const [id, mark] of marks) if (mark.sentAt === undefined) marks.delete(id);
  state.numbers.context += 1;
  const response: Response = {
    ...former,
    context: state.numbers.context,
    saidBefore: base?.endSaid ?? 0,
    spokenSaid: base?.endSaid ?? 0,
    broken: false,
    flushed: false,
    llmAt: now,
    // Nobody has heard anything since the worker died; how long that was is not known here.
    silentAt: now,
    heard: { ...former.heard, pieces: pieces.slice(0, kept) },
  };
  noteGap(response.heard, now);
  state.delivery.response = response;
  state.silence.since = now;
  const fromMs = base?.endMs ?? 0;
  actions.push({
    type: 'playout.open',
    context: response.context,
    from: { audioMs: fromMs, skipMs: sentMs - fromMs },
  });
  const speaks = speakPieces(step, response, pieces.slice(kept));
  if (former.inTools) return;
  if (former.writing) askAgain(step, response);
  // Also where it has no words: tones are heard as well.
  else if (speaks) actions.push({ type: 'tts.flush', context: response.context });
  else actions.push({ type: 'playout.finish', context: response.context });
}

/** How many pieces lie wholly before `sentMs`. */
function piecesBefore(pieces: readonly Piece[], sentMs: Millis): number {
  let count = 0;
  for (const [index, { endMs }] of pieces.entries())
    if (endMs !== undefined && endMs <= sentMs) count = index + 1;
  return count;
}

/** Gives TTS the pieces once more, and behind them what was kept back while its session was broken. False when that is nothing. */
function speakPieces(step: Step<'setup'>, response: Response, pieces: readonly Piece[]): boolean {
  const { text, heard, context } = response;
  const before = heard.pieces.length;
  let from = heard.pieces.at(-1)?.endChars ?? 0;
  response.said = response.saidBefore;
  const parts: Pick<Piece, 'endChars' | 'recorded'>[] = [...pieces];
  if ((parts.at(-1)?.endChars ?? from) < text.length) parts.push({ endChars: text.length });
  for (const { endChars, recorded = false } of parts) {
    const part = text.slice(from, endChars);
    const said = recorded ? part : step.state.setup.pronounce(part);
    if (said === '' && part !== '') continue;
    response.said += said.length;
    heard.pieces.push({ endChars, endSaid: response.said, endMs: undefined, ...(recorded && { recorded }) });
    step.actions.push({ type: 'tts.speak', context, text: said, ...(recorded && { recorded }) });
    from = endChars;
  }
  return heard.pieces.length > before;
}

/** The LLM was still writing: it is asked the same again, and what it had written before is expected first. */
function askAgain(step: Step<'setup' | 'numbers' | 'conversation'>, response: Response): void {
  response.expected = written(response);
  startRound(step, response);
}

/**
 * Takes off `text` what is expected first. Undefined when the LLM writes something else this time: it is asked to go on
 * from what it had written then.
 */
export function unexpectedText(
  step: Step<'setup' | 'numbers' | 'conversation'>,
  response: Response,
  text: string,
): string | undefined {
  const { expected } = response;
  if (expected === '') return text;
  const length = Math.min(expected.length, text.length);
  if (expected.slice(0, length) === text.slice(0, length)) {
    response.expected = expected.slice(length);
    return text.slice(length);
  }
  response.expected = '';
  const before = written(response);
  // Streams stop between words, and a new message does not begin with a space.
  if (/\S$/.test(before)) response.splitter.pending += ' ';
  step.actions.push({ type: 'llm.cancel' });
  startRound(step, response, {
    behind: [
      { role: 'assistant', text: before },
      { role: 'system', text: goOn },
    ],
  });
  return undefined;
}

/** What the LLM wrote in its newest round, without the fillers between. */
const written = (response: Response): string =>
  unfilled(response, response.rounds.at(-1)?.endChars ?? 0) + response.splitter.pending;

const goOn = 'Your last message was cut off. Go on exactly where it stops, and repeat nothing of it.';

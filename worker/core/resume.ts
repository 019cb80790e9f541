/**
 * A call that was taken over from a worker that is gone. The conversation is known up to the last step; sessions with
 * providers, waiting audio and the judgement of the caller's voice are not. Words that the caller has heard are not
 * said again. A line that was being said goes on at the sample, and a turn that was being heard is heard again from its beginning.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { CallEvent } from './events.ts';
import { hear } from './dialogue/hear.ts';
import { noteGap, wordsBefore, type HeardState, type Piece } from './delivery/heard.ts';
import { forgetOwedWords } from './delivery/written.ts';
import { wasteSpeculation } from './dialogue/speculation-state.ts';
import { onOperatorResumed } from './dialogue/takeover.ts';
import { onToolsResumed } from './answer/answering.ts';
import type { Response } from './answer/response.ts';
import { askAgain } from './answer/asked-again.ts';
import type { Step } from './state.ts';
import { resumeAgentChange } from './answer/agent-change.ts';
import { resumeTransfer } from './answer/transfer.ts';
import { forgetVoice } from './turn/resumed.ts';

type Resumed = Extract<CallEvent, { type: 'call.resumed' }>;

export function onCallResumed(step: Step, event: Resumed): void {
  const { state } = step;
  state.numbers.lostEpochs += 1;
  // Keys that the caller has pressed meanwhile have not been read.
  if (state.keys.completeAt !== undefined) state.keys.completeAt += event.silentMs ?? 0;
  forgetVoice(step, event.turnAudio);
  // The sound of lines was the other worker's; this one says what it has.
  state.silence.readyLines = { fillers: false, farewell: false };
  forgetOwedWords(step);
  // Its request died with the worker; nothing of it has left the core.
  wasteSpeculation(state.speculation);
  const { response } = state.delivery;
  if (response !== undefined && response.playing.phase !== 'draining') {
    const sentMs = event.position?.context === response.context ? event.position.sentMs : 0;
    resumeResponse(step, response, sentMs);
  }
  onOperatorResumed(step);
  onToolsResumed(step);
  resumeTransfer(step);
  resumeAgentChange(step);
  hear(step, event);
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
  const { pieces, marks } = former.playing.heard;
  const whole = piecesBefore(pieces, sentMs);
  const kept = [...pieces.slice(0, whole), ...spokenPart(step, former, { whole, sentMs })];
  const base = kept.at(-1);
  for (const [id, mark] of marks) if (mark.sentAt === undefined) marks.delete(id);
  state.numbers.context += 1;
  const saidBefore = base?.endSaid ?? 0;
  const heard: HeardState = { ...former.playing.heard, pieces: kept };
  const response: Response = {
    ...former,
    context: state.numbers.context,
    writing: { ...former.writing, llmAt: now },
    // The last that the LLM wrote may have been told by the worker that is gone, and not been written down.
    recovery: { ...former.recovery, hadText: former.recovery.hadText || former.writing.phase === 'llm' },
    spoken: { ...former.spoken, phase: 'speaking', saidBefore, spokenSaid: saidBefore },
    // Nobody has heard anything since the worker died; how long that was is not known here.
    playing: { ...former.playing, heard, silentAt: now },
  };
  noteGap(response.playing.heard, now);
  state.delivery.response = response;
  state.silence.since = now;
  const fromMs = base?.endMs ?? 0;
  actions.push({
    type: 'playout.open',
    context: response.context,
    from: { audioMs: fromMs, skipMs: sentMs - fromMs },
  });
  const speaks = speakPieces(step, response, pieces.slice(whole));
  if (former.writing.phase === 'tools') return;
  if (former.writing.phase !== 'done') askAgain(step, response);
  // Also where it has no words: tones are heard as well.
  else if (speaks) actions.push({ type: 'tts.flush', context: response.context });
  else actions.push({ type: 'playout.finish', context: response.context });
}

/**
 * What is on the wire of words that a model spoke itself. Their rest is said by another voice, which would reach the sample with other words: it
 * begins with the word in which the model stopped.
 */
function spokenPart(
  step: Step<'setup'>,
  { writing: { text }, playing: { heard } }: Response,
  { whole, sentMs }: { whole: number; sentMs: Millis },
): Piece[] {
  const before = heard.pieces[whole - 1] ?? { endChars: 0, endSaid: 0, endMs: 0 };
  if (heard.pieces[whole]?.flows !== true || sentMs <= (before.endMs ?? 0)) return [];
  const endChars = Math.max(before.endChars, wordsBefore(heard, text, sentMs));
  const said = step.state.setup.pronounce(text.slice(before.endChars, endChars));
  return [{ endChars, endSaid: before.endSaid + said.length, endMs: sentMs }];
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
  const {
    context,
    writing: { text },
    playing: { heard },
  } = response;
  const before = heard.pieces.length;
  let from = heard.pieces.at(-1)?.endChars ?? 0;
  response.spoken.said = response.spoken.saidBefore;
  const parts: Pick<Piece, 'endChars' | 'recorded'>[] = [...pieces];
  if ((parts.at(-1)?.endChars ?? from) < text.length) parts.push({ endChars: text.length });
  for (const { endChars, recorded = false } of parts) {
    const part = text.slice(from, endChars);
    const said = recorded ? part : step.state.setup.pronounce(part);
    if (said === '' && part !== '') continue;
    response.spoken.said += said.length;
    heard.pieces.push({
      endChars,
      endSaid: response.spoken.said,
      endMs: undefined,
      ...(recorded && { recorded }),
    });
    step.actions.push({ type: 'tts.speak', context, text: said, ...(recorded && { recorded }) });
    from = endChars;
  }
  return heard.pieces.length > before;
}

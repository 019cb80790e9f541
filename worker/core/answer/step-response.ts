/**
 * The response machine: what becomes of the agent's one response. It takes what the LLM, its tools, TTS, playout and the client's marks say,
 * and returns what follows. It knows nothing of turns, and results of an older request or context end here
 * (docs/architecture/turn.md, Two machines and a dialogue).
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { CallAction } from '../actions.ts';
import { noteAcknowledged, noteWord } from '../delivery/heard.ts';
import {
  onMarkPlayed,
  onMarkSent,
  onPlayoutDrained,
  onPlayoutFed,
  onPlayoutStarted,
  onPlayoutStarved,
  onTtsFailed,
  onTtsFlushed,
  onTtsSpoken,
} from '../delivery/output.ts';
import type { CallEvent } from '../events.ts';
import type { Step } from '../state.ts';
import { onLlmDone, onLlmFailed, onLlmText, onToolSettled } from './answering.ts';
import { unexpectedText } from './asked-again.ts';
import type { Response } from './response.ts';

/** What is heard of a response. */
export type ResponseEvent = Extract<
  CallEvent,
  { type: `llm.${string}` | `tts.${string}` | `playout.${string}` | `mark.${string}` | 'tool.settled' }
>;

export type ResponseAction =
  /** Its first sound goes out, which TTS delivered at `audioAt`: the caller's wait is over. */
  { readonly type: 'response.audible'; readonly response: Response; readonly audioAt: Millis } | CallAction;

/** Takes one event of the agent's side. Returns what follows, in the order in which it must be performed. */
export function stepResponse(from: Omit<Step, 'actions'>, event: ResponseEvent): ResponseAction[] {
  const step: Step = { ...from, actions: [] };
  const audible = take(step, event);
  return audible === undefined ? step.actions : [...step.actions, audible];
}

function take(step: Step, event: ResponseEvent): ResponseAction | undefined {
  const { response } = step.state.delivery;
  switch (event.type) {
    case 'tool.settled':
      onToolSettled(step, event);
      return;
    case 'tts.failed':
      onTtsFailed(step, 'failed');
      return;
    case 'mark.sent':
      onMarkSent(step, event);
      return;
    case 'mark.played':
      onMarkPlayed(step, event.id);
      return;
    case 'llm.text':
    case 'llm.done':
    case 'llm.failed':
      takeLlm(step, event);
      return;
    default:
      if (response?.context === event.context) return takeOutput(step, response, event);
      return;
  }
}

/** Results of the LLM count only for the request that is the newest and still waited for. */
function takeLlm(step: Step, event: Extract<ResponseEvent, { type: `llm.${string}` }>): void {
  const { response } = step.state.delivery;
  if (response === undefined || response.writing.round !== event.round) return;
  if (response.writing.phase !== 'llm') return;
  if (event.type === 'llm.text') {
    const text = unexpectedText(step, response, event.text);
    if (text !== undefined) onLlmText(step, response, text);
  } else if (event.type === 'llm.done') onLlmDone(step, response, event);
  else onLlmFailed(step, response);
}

type OutputEvent = Extract<ResponseEvent, { type: `tts.${string}` | `playout.${string}`; context: number }>;

/** Takes what happened to the sound of the running response. */
function takeOutput(step: Step, response: Response, event: OutputEvent): ResponseAction | undefined {
  const { saidBefore } = response.spoken;
  switch (event.type) {
    case 'tts.spoken':
      step.state.delivery.ttsReports = true;
      onTtsSpoken(step, response, { chars: saidBefore + event.chars, audioMs: event.audioMs });
      return;
    case 'tts.word':
      noteWord(response.playing.heard, { chars: saidBefore + event.chars, startMs: event.startMs });
      return;
    case 'tts.flushed':
      onTtsFlushed(step, response, event.audioMs);
      return;
    case 'playout.started':
      return onPlayoutStarted(step, response)
        ? { type: 'response.audible', response, audioAt: event.audioAt }
        : undefined;
    case 'playout.starved':
      onPlayoutStarved(step, response, event.sentMs);
      return;
    case 'playout.fed':
      onPlayoutFed(step, response);
      return;
    case 'playout.acknowledged':
      noteAcknowledged(response.playing.heard, event.playedMs, step.now);
      return;
    case 'playout.drained':
      onPlayoutDrained(step, response, event.sentMs);
      return;
  }
}

/**
 * A call's state as text and back, so that another worker can go on with it. Every slice declares in its own file what of it is
 * saved; here is what belongs to no slice. Settings are not part of it, because they are the call's own and saved beside it, and
 * the history is saved when it changes.
 */
import {
  flag,
  leftOut,
  maybe,
  number,
  opaque,
  record,
  text,
  time,
  versionOf,
  type Codec,
} from '../../shared/base/codec.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { ContextMessage } from './actions.ts';
import { commandsCodec } from './commands.ts';
import { dtmfCodec } from './dtmf.ts';
import { editsCodec } from './edits.ts';
import { patienceCodec } from './end-of-turn.ts';
import { flowCodec } from './flow.ts';
import { clientPlayoutCodec } from './heard.ts';
import { newHistory } from './history.ts';
import { newRespelling, responseCodec } from './response.ts';
import type { CallSettings } from './settings.ts';
import type { CallState, Speculation, TurnClock } from './state.ts';
import { toolStateCodec } from './tools-state.ts';
import { sttLedgerCodec, turnCodec } from './turn.ts';

const faultStages = { stt: number, llm: number, tts: number, call: number };

const stateCodec: Codec<Omit<CallState, 'settings' | 'pronounce'>> = record<
  Omit<CallState, 'settings' | 'pronounce'>
>({
  session: text(),
  phase: text(),
  epoch: number,
  lastContext: number,
  lastMark: number,
  lastRound: number,
  lastAsk: number,
  turn: turnCodec,
  response: maybe(responseCodec),
  wentQuietAt: maybe(time),
  voice: text(),
  stt: sttLedgerCodec,
  patience: patienceCodec,
  speculation: maybe(
    record<Speculation>({
      round: number,
      text: text(),
      basis: number,
      guessed: flag,
      // Its request dies with the worker; that there was one is all that counts.
      held: leftOut(() => ''),
      firstTextAt: leftOut(() => undefined),
      done: leftOut(() => undefined),
    }),
  ),
  wastedRounds: number,
  trustsGuesses: flag,
  cutOff: text(),
  lastSaid: record<CallState['lastSaid']>({ text: text(), endedAt: time }),
  echoes: flag,
  commands: commandsCodec,
  edits: editsCodec,
  tools: toolStateCodec,
  flow: maybe(flowCodec),
  heldReasoning: leftOut(() => undefined),
  fillersSpoken: number,
  msPerChar: number,
  ttsReports: flag,
  lastWords: flag,
  readyLines: opaque(),
  history: leftOut(newHistory),
  client: clientPlayoutCodec,
  dtmf: dtmfCodec,
  turnClock: maybe(
    record<TurnClock>({ epoch: number, lastVoiceAt: time, decidedAt: time, finalAt: time, hasWords: flag }),
  ),
  endingSoon: flag,
  answerOwed: flag,
  idle: record<CallState['idle']>({ asks: number, askAt: maybe(time) }),
  callEndsAt: maybe(time),
  wordlessTurns: number,
  failuresInARow: record<CallState['failuresInARow']>(faultStages),
  failingSince: record<CallState['failingSince']>({ sttAt: time, llmAt: time, ttsAt: time, callAt: time }),
});

/** Names what is saved of a call; another version's text is refused. */
export const stateVersion = versionOf(stateCodec);

export const encodeState = (state: CallState): string => stateCodec.write(state);

/** The newest messages that fit into `bytes`, as JSON. */
export function encodeHistory(history: CallState['history'], bytes: number): string {
  const kept: string[] = [];
  let left = bytes - '[]'.length;
  for (let index = history.messages.length - 1; index >= 0; index -= 1) {
    const message = JSON.stringify(withoutReasoning(history.messages[index]));
    left -= Buffer.byteLength(message) + ','.length;
    if (left < 0) break;
    kept.unshift(message);
  }
  return `[${kept.join(',')}]`;
}

/** What a provider wants back may be large, and the conversation goes on without it. */
function withoutReasoning(message: ContextMessage | undefined): ContextMessage | undefined {
  if (message?.role !== 'assistant' || message.reasoning === undefined) return message;
  const { role, text: said, toolCalls } = message;
  return { role, text: said, ...(toolCalls !== undefined && { toolCalls }) };
}

/** A call's state as parsed JSON, its history as text, and how much later the same moment is on this process's clock. */
export interface SavedState {
  readonly state: unknown;
  readonly history: string;
  readonly shiftMs: Millis;
}

/** The state that was saved. @throws TypeError, or SyntaxError, for what {@link encodeState} did not make. */
export function decodeState({ state, history, shiftMs }: SavedState, settings: CallSettings): CallState {
  const messages = JSON.parse(history) as CallState['history']['messages'];
  const read = stateCodec.read(state, shiftMs);
  return { ...read, settings, pronounce: newRespelling(settings.pronounce), history: { messages } };
}

/**
 * What the core tells of the conversation, for whoever follows it: the transport, logs, metrics, rehearsals, and later the agent
 * link and recordings. One closed union, in the order in which things happened. Nobody who reads it can change the call.
 *
 * A reader can rely on this order. `turn.user_started` opens a turn of the caller and `turn.user_ended` closes it, with at most one
 * `user.text` behind that. Each `bot.llm_started` is followed by one `bot.llm_stopped`; `bot.text` of a request stands between them.
 * `turn.bot_started` of an epoch comes before its `turn.bot_ended`, which is missing when the response was cut. When the caller
 * cuts it, `turn.interrupted` carries the new epoch, and what is told afterwards of an older epoch belongs to what was cut.
 */
import type { CallAction, FaultKind, FaultStage, TurnTimes } from './actions.ts';
import type { ToolPair } from './tools-state.ts';

/** Spec 02, Events, as far as the core knows them; names that the specification does not have say what happened inside. */
export type ConversationEvent =
  /** The caller began to speak: a turn of its own. */
  | { readonly type: 'turn.user_started'; readonly epoch: number }
  /** The turn is over and its text is known; the bot answers now. */
  | { readonly type: 'turn.user_ended'; readonly epoch: number }
  /** A segment of STT, whether or not its turn counts in the end. */
  | { readonly type: 'user.transcript'; readonly text: string; readonly final: boolean }
  /** The whole text of the turn that is answered. */
  | { readonly type: 'user.text'; readonly epoch: number; readonly text: string }
  /** A round of the LLM whose text counts. */
  | { readonly type: 'bot.llm_started'; readonly epoch: number }
  /** Text as the LLM writes it; a line of the agent comes whole. */
  | { readonly type: 'bot.text'; readonly epoch: number; readonly text: string }
  | { readonly type: 'bot.llm_stopped'; readonly epoch: number }
  /** A piece as TTS is given it, fillers and repeated pieces included. */
  | { readonly type: 'bot.tts_text'; readonly epoch: number; readonly text: string }
  /** TTS has given the last audio of a response. */
  | { readonly type: 'bot.tts_stopped'; readonly epoch: number }
  /** The first audio of a response went out. */
  | { readonly type: 'turn.bot_started'; readonly epoch: number }
  /** A response was played to its end. */
  | { readonly type: 'turn.bot_ended'; readonly epoch: number }
  /** The running response was cut, and the call moved to this epoch. */
  | { readonly type: 'turn.interrupted'; readonly epoch: number }
  | { readonly type: 'turn.measured'; readonly epoch: number; readonly times: TurnTimes }
  /** A stage did not do what it owed. */
  | { readonly type: 'fault.noticed'; readonly stage: FaultStage; readonly what: FaultKind }
  /** A round of tool calls is complete, or was cut: what the LLM is told of each. */
  | { readonly type: 'tools.answered'; readonly pairs: readonly ToolPair[] }
  /** The flow has moved. */
  | { readonly type: 'node.entered'; readonly node: string }
  /** Eight lines wait already: this one is left out. */
  | { readonly type: 'line.refused' }
  /** Too many edits of the conversation wait already: this one is left out. */
  | { readonly type: 'edit.refused' };

/** Adds an event to the orders of a step, in its place between them. */
export function tell({ actions }: { readonly actions: CallAction[] }, event: ConversationEvent): void {
  actions.push({ type: 'told', event });
}

/**
 * The conversation as a client can follow it: optional messages of a call, by the names and fields of the agent link (docs/call-protocol.md,
 * Following the conversation). A client asks for them by name in `start.events`; a client that does not ask gets none, and a client that knows none
 * of these names loses nothing.
 */

/** Latencies of an answered turn in whole milliseconds (docs/call-protocol.md, Following the conversation). */
export interface TurnMetrics {
  readonly end_of_turn_ms: number;
  readonly stt_final_ms: number;
  readonly llm_ttft_ms: number;
  readonly tts_ttfb_ms: number;
  readonly response_ms: number;
}

/** How an answer ended for its listener. */
export interface HeardFields {
  readonly heard: string;
  readonly complete: boolean;
  readonly ended: 'finished' | 'interrupted' | 'failed' | 'call_ended';
}

export type ConversationMessage =
  | {
      readonly type:
        | 'turn.user_started'
        | 'turn.user_ended'
        | 'bot.llm_started'
        | 'bot.llm_stopped'
        | 'bot.tts_stopped'
        | 'turn.bot_started'
        | 'turn.bot_ended'
        | 'turn.interrupted';
      readonly epoch: number;
    }
  | { readonly type: 'user.transcript'; readonly text: string; readonly final: boolean }
  | {
      readonly type: 'user.text' | 'bot.text' | 'bot.tts_text';
      readonly epoch: number;
      readonly text: string;
    }
  /** What was heard since the one before; the last one of an answer says how it ended, and what was heard of it in all. */
  | ({ readonly type: 'bot.heard'; readonly epoch: number; readonly text: string } & Partial<HeardFields>)
  /** Another agent has the call from here on. */
  | { readonly type: 'agent.changed'; readonly agent: string }
  | { readonly type: 'turn.metrics'; readonly epoch: number; readonly metrics: TurnMetrics }
  /** A stage did not do what it owed. The caller is a stranger: provider, host and text stand in the log alone. */
  | { readonly type: 'stage.failed'; readonly stage: string; readonly reason: string };

export type ConversationMessageType = ConversationMessage['type'];

const types: Readonly<Record<ConversationMessageType, true>> = {
  'turn.user_started': true,
  'turn.user_ended': true,
  'user.transcript': true,
  'user.text': true,
  'bot.llm_started': true,
  'bot.text': true,
  'bot.llm_stopped': true,
  'bot.tts_text': true,
  'bot.tts_stopped': true,
  'bot.heard': true,
  'turn.bot_started': true,
  'turn.bot_ended': true,
  'turn.interrupted': true,
  'agent.changed': true,
  'turn.metrics': true,
  'stage.failed': true,
};

/** Names that a client may ask for. */
const conversationMessageTypes = Object.keys(types) as readonly ConversationMessageType[];

/** Those of the names that exist, each once; a name of a later version is no fault. */
export const knownMessageTypes = (names: readonly string[]): readonly ConversationMessageType[] =>
  conversationMessageTypes.filter((type) => names.includes(type));

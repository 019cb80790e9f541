/** What a call is told and what it tells. Types and two constants only. */
import type { CallOutcome } from './call-machine.ts';
import type { CallState } from './call-state.ts';
import {
  type ConversationEvent,
  type ConversationEventName,
  DEFAULT_EVENTS,
  type TurnMetrics,
} from './conversation-events.ts';
import type { ConversationLine } from './conversation.ts';
import type { LineKind } from './line/line-kind.ts';
import type { ClientMessage, ServerMessage } from './wire.ts';

export interface VoiceCallOptions {
  /** Where the service takes calls: `wss://`, `ws://`, `https://`, `http://`, or a path on the host of the page, such as `/ws`. */
  readonly url: string | URL;
  /**
   * Where the service takes WebRTC offers (WHIP), such as `/whip`: the call goes that way where it gets through, and by `url` where it
   * does not. Absent: by `url`.
   */
  readonly whip?: string | URL;
  /** A session token, or what gives one when the call connects, as `tokenFrom(endpoint)` does; undefined: the service wants none. */
  readonly token?: string | ((line: LineKind) => string | undefined | Promise<string | undefined>);
  readonly callId?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** What the service is asked to tell of the conversation; an empty list is nothing. Default: everything but `bot.tts_text`. */
  readonly events?: readonly ConversationEventName[];
  /** Device ids as `enumerateDevices` gives them; absent, or no longer there: those of the system. */
  readonly microphone?: string;
  readonly speaker?: string;
  /** Address of `worklets.js` of this package, for pages whose policy forbids `blob:` scripts. Absent: what is embedded. */
  readonly workletUrl?: string | URL;
}

/** A message or audio as it passed over the line, for logs; `note` says what the client noticed itself. */
export type WireNote =
  | { readonly direction: 'sent'; readonly message: ClientMessage }
  | { readonly direction: 'received'; readonly message: ServerMessage }
  | { readonly direction: 'sent' | 'received'; readonly audioMs: number }
  | { readonly direction: 'note'; readonly note: string };

export interface VoiceCallEvents {
  state: CallState;
  /** What the caller has said in this turn so far; `final` when the service answers it. */
  'user-text': { readonly text: string; readonly final: boolean };
  /** A piece of the agent's answer as it is made. */
  'bot-text': { readonly epoch: number; readonly text: string };
  /** A line of the conversation was added or has changed. */
  conversation: ConversationLine;
  /** The caller interrupted the agent. */
  interrupted: { readonly epoch: number };
  /** Where the time of a turn went, as the service measured it. */
  metrics: { readonly epoch: number; readonly metrics: TurnMetrics };
  /** From the end of the caller's speech to the first sound of the answer, as measured here. */
  response: { readonly ms: number };
  /** Any event of the conversation, as the service sent it. */
  event: ConversationEvent;
  /** The browser wants a click or a key press before there can be sound; the next one starts the call. */
  'gesture-needed': undefined;
  /** The network takes no audio at the moment, or takes it again. */
  network: {
    readonly slow: boolean;
    /** It is gone; another connection is being made for the call. */ readonly moving: boolean;
  };
  wire: WireNote;
  ended: CallOutcome;
}

export const DEFAULTS = { events: DEFAULT_EVENTS } as const;

/** A call that ended before it was open. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly outcome: CallOutcome;

  constructor(outcome: CallOutcome) {
    super(`the call was not opened: ${outcome.kind}`);
    this.outcome = outcome;
  }
}

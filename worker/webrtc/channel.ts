/**
 * The data channel of a WebRTC call: the messages of the call protocol (docs/call-protocol.md, WebRTC) beside the audio, for clients
 * that want more than WHIP has words for. `start` says what of the conversation is to be told and is answered by `started`; its other
 * fields are those of the call already and are not looked at. Pure.
 *
 * Invariant: nothing is told before `start`; what breaks a rule is answered and never ends the call; a flood is dropped.
 */
import type { Result } from '../../shared/base/result.ts';
import type { Millis } from '../../shared/base/units.ts';
import {
  CALL_PROTOCOL_VERSION,
  callErrors,
  decodeClientMessage,
  type CallFault,
  type ClientMessage,
  type ServerMessage,
  type TypedText,
} from '../../shared/protocol/call.ts';
import type { ConversationMessage, ConversationMessageType } from '../../shared/protocol/conversation.ts';
import type { ConversationEvent } from '../core/told.ts';
import { conversationMessage } from '../transports/conversation-message.ts';
import { intakeCosts, newAllowance, spend, type Allowance } from '../transports/socket/allowance.ts';
import type { PeerCallStart } from './call-machine.ts';

/** A longer message is none of the protocol. */
const mostChars = 16 * 1024;

/** Kept for a client whose channel is not open yet; one without a channel never asks for them. */
const mostEarly = 64;

/** What a message of the client asks for. */
export type ChannelRequest =
  | { readonly type: 'nothing' }
  | { readonly type: 'start' }
  | { readonly type: 'dtmf'; readonly digit: string }
  | { readonly type: 'typed'; readonly typed: TypedText }
  | { readonly type: 'stop' }
  | { readonly type: 'answer'; readonly json: string };

const nothing: ChannelRequest = { type: 'nothing' };
const json = (message: ServerMessage | ConversationMessage): string => JSON.stringify(message);

export class Channel {
  readonly #allowance: Allowance;
  #events: ReadonlySet<ConversationMessageType> | undefined;
  /** Told before the client has said `start`, the greeting above all: its channel opens later than its call. */
  #early: ConversationMessage[] = [];
  #keepsEarly = true;

  constructor(now: Millis) {
    this.#allowance = newAllowance(now);
  }

  /** The client has said `start`. */
  get isStarted(): boolean {
    return this.#events !== undefined;
  }

  /** Another connection of the same client has a channel of its own, which starts anew and follows from then on. */
  reset(): void {
    this.#events = undefined;
    this.#early = [];
    this.#keepsEarly = false;
  }

  hear(text: string, now: Millis): ChannelRequest {
    if (!spend(this.#allowance, intakeCosts.control, now) || text.length > mostChars) return nothing;
    const message = decodeClientMessage(text);
    switch (message.type) {
      case 'start':
        return this.#start(message);
      case 'dtmf':
        return asked(message.digit, (digit) => ({ type: 'dtmf', digit }));
      case 'text':
        return asked(message.typed, (typed) => ({ type: 'typed', typed }));
      case 'stop':
        return { type: 'stop' };
      case 'mark':
        return nothing;
      case 'unknown':
        return refused({ code: 'unknown_message' });
      case 'not-json':
        return refused({ code: 'invalid_json' });
    }
  }

  #start({ fields }: Extract<ClientMessage, { type: 'start' }>): ChannelRequest {
    return asked(fields, ({ events }) => {
      this.#events = new Set(events);
      return { type: 'start' };
    });
  }

  /** What a client that follows is told of it; undefined where it does not, or not yet. */
  told(event: ConversationEvent): string | undefined {
    const message = conversationMessage(event);
    if (message === undefined) return undefined;
    if (this.#events !== undefined) return this.#events.has(message.type) ? json(message) : undefined;
    if (this.#keepsEarly && this.#early.length < mostEarly) this.#early.push(message);
    return undefined;
  }

  /** What a client that has said `start` has missed by then. */
  takeEarly(): string[] {
    const early = this.#early.filter(({ type }) => this.#events?.has(type) === true);
    this.#early = [];
    return early.map(json);
  }
}

export const startedMessage = ({ callId, sampleRate, encoding }: PeerCallStart): string =>
  json({
    type: 'started',
    version: CALL_PROTOCOL_VERSION,
    call_id: callId,
    sample_rate: sampleRate,
    encoding,
  });

export const stopMessage = (reason: 'ended' | 'shutdown'): string => json({ type: 'stop', reason });
export const clearMessage = (epoch: number): string => json({ type: 'clear', epoch });

function asked<T>(given: Result<T, CallFault>, ask: (value: T) => ChannelRequest): ChannelRequest {
  return given.ok ? ask(given.value) : refused(given.error);
}

/** Nothing here is fatal: the call is its audio. */
function refused({ code, message }: CallFault): ChannelRequest {
  return {
    type: 'answer',
    json: json({ type: 'error', code, message: message ?? callErrors[code].message, fatal: false }),
  };
}

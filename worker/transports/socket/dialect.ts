/**
 * How calls are spoken on a WebSocket. The machine of a call knows one vocabulary, that of the WebSocket call protocol; a dialect reads
 * other protocols into it and writes its messages in theirs. Timing, back-pressure, floods and takeovers are the same for all. Pure.
 */
import type { ClientMessage, ServerMessage } from '../../../shared/protocol/call.ts';
import type { ConversationMessage } from '../../../shared/protocol/conversation.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { ConversationEvent } from '../../core/told.ts';
import type { MessageToAgent, MessageToClient } from '../../../shared/protocol/beside-the-call.ts';

/** What a text frame of the client says. */
export type Heard =
  | { readonly type: 'message'; readonly message: ClientMessage }
  /** Caller audio in the call's encoding. */
  | { readonly type: 'audio'; readonly bytes: Buffer }
  /** For the agent process; `unheard` is the answer where nobody takes it. */
  | { readonly type: 'to-agent'; readonly message: MessageToAgent; readonly unheard: Outgoing }
  /** Nothing but an answer by the protocol's own rules. */
  | { readonly type: 'answer'; readonly frame: Outgoing }
  /** More than one thing, in this order. */
  | { readonly type: 'several'; readonly all: readonly Heard[] }
  /** Nothing that changes the call. */
  | { readonly type: 'nothing' };

/** A frame to the client: bytes go as a binary frame, a string as a text frame. */
export type Outgoing = Buffer | string;

/** What a binary frame holds where audio and messages share them. */
export type Unpacked =
  /** Caller audio in the call's encoding. */
  | { readonly type: 'audio'; readonly bytes: Buffer }
  /** A message, as UTF-8: it is read as a text frame is elsewhere. */
  | { readonly type: 'text'; readonly bytes: Buffer }
  | { readonly type: 'answer'; readonly frame: Outgoing }
  | { readonly type: 'nothing' }
  /** No frame of the protocol. */
  | { readonly type: 'broken' };

/**
 * Three frames, for clients that play what comes and have next to nothing in store: a network and a stall of the process may hold that
 * much up before anybody hears a hole. Audio that is ahead is still heard after a hold, so it is no more.
 */
export const usualLeadMs: Millis = 60;

/** How a client plays that tells nothing of it: in real time, so that the clock says what it has played. */
export interface ClockPlayout {
  /** From sending a frame that is due at once to hearing it. */
  readonly delayMs: Millis;
}

/** One call's. It may keep what the protocol wants to have kept, and must not throw whatever a client sends. */
export interface SocketDialect {
  /** Names the protocol, and the shape of what `save` gives, in what is saved of a call. */
  readonly kind: string;
  /**
   * Where caller audio comes: in binary frames; inside text frames, where a binary frame is a fault; or in frames of both kinds, each
   * of which may hold audio or a message, and where `unpack` tells the binary ones apart.
   */
  readonly audioComesAs: 'binary' | 'text' | 'packed';
  /** Present where audio comes `packed`. Its result is valid until the next call. */
  unpack?(frame: Buffer): Unpacked;
  /** Present where it matters by which kind of frame a message comes: told of each text frame before it is heard. */
  textCame?(): void;
  hear(text: string): Heard;
  /** Present where texts may hold audio beside messages: undefined for one that is a message. */
  hearAudio?(text: string): Heard | undefined;
  /** The frame for a message; undefined where the protocol has none. */
  write(message: ServerMessage | ConversationMessage): Outgoing | undefined;
  /** Present where the protocol has words for what the agent process tells the caller's program. */
  writeMessage?(message: MessageToClient): Outgoing;
  /** One frame of agent audio as it goes out; undefined where the client wants to hear none. */
  writeAudio(frame: Buffer): Outgoing | undefined;
  /** Present where the protocol has words of its own for the conversation, and every client is told of it. */
  tell?(event: ConversationEvent): readonly Outgoing[];
  /** How far ahead of real time the client needs its audio, so that it does not run dry; absent: not at all. */
  readonly leadMs?: Millis;
  /** Present where the client tells nothing of what it has played. */
  readonly playout?: ClockPlayout;
  /** What is due by now; asked about every 20 ms where it is present. */
  due?(now: Millis): readonly Outgoing[];
  /** What another process needs to go on, as JSON. */
  save(): string;
}

/** The other side says by a code of its own that something is wrong with what it was sent. */
export interface Complaint {
  /** The carrier's id of the call, where it is known. */
  readonly call: string | undefined;
  readonly code: string;
}

/** Makes the dialect of a new call, or of one that another process had. */
export type NewDialect = (options: {
  /** Metadata that the server set. */
  readonly signedMetadata: Readonly<Record<string, string>>;
  /** Unix time in milliseconds. */
  readonly wallNow?: () => number;
  /** What `save` gave, parsed. */
  readonly saved?: unknown;
  readonly complained?: (complaint: Complaint) => void;
}) => SocketDialect;

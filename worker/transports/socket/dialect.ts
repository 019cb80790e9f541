/**
 * How calls are spoken on a WebSocket. The machine of a call knows one vocabulary, that of the WebSocket call protocol; a dialect reads
 * other protocols into it and writes its messages in theirs. Timing, back-pressure, floods and takeovers are the same for all.
 */
import type { ClientMessage, ServerMessage } from '../../../shared/protocol/call.ts';
import type { ConversationMessage } from '../../../shared/protocol/conversation.ts';

/** What a text frame of the client says. */
export type Heard =
  | { readonly type: 'message'; readonly message: ClientMessage }
  /** Caller audio in the call's encoding. */
  | { readonly type: 'audio'; readonly bytes: Buffer }
  /** Nothing that changes the call. */
  | { readonly type: 'nothing' };

/** One call's. It may keep what the protocol wants to have kept, and must not throw whatever a client sends. */
export interface SocketDialect {
  /** Names the protocol, and the shape of what `save` gives, in what is saved of a call. */
  readonly kind: string;
  /** Where caller audio comes: in binary frames, or inside text frames, where a binary frame is a fault. */
  readonly audioComesAs: 'binary' | 'text';
  hear(text: string): Heard;
  /** The text frame for a message; undefined where the protocol has none. */
  write(message: ServerMessage | ConversationMessage): string | undefined;
  /** One frame of bot audio as it goes out: bytes as a binary frame, a string as a text frame. */
  writeAudio(frame: Buffer): Buffer | string;
  /** What another process needs to go on, as JSON. */
  save(): string;
}

/** Makes the dialect of a new call, or of one that another process had. */
export type NewDialect = (options: {
  /** Metadata that the server set. */
  readonly signedMetadata: Readonly<Record<string, string>>;
  /** What `save` gave, parsed. */
  readonly saved?: unknown;
}) => SocketDialect;

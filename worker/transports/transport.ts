/**
 * The contract between a transport of one call and the engine.
 *
 * The transport speaks wire; the engine speaks calls. Events are called synchronously from the socket's events or from
 * `tick`, never from inside another method of the transport (`inputTaken` alone may call `audio`), and never after
 * `ended`. A transport owns no timer: the worker's ticker calls `tick`.
 */
import { lawRate, type Law } from '../../shared/audio/law.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { CallRefusal, TypedText } from '../../shared/protocol/call.ts';
import type { ConversationEvent } from '../core/told.ts';
import type { MessageToAgent, MessageToClient } from '../../shared/protocol/beside-the-call.ts';

/** What a client asked for, checked, with the metadata that the server set (docs/call-protocol.md, A call). */
export interface CallStart {
  readonly callId: string;
  /** `callId` is the service's own: nobody else has chosen it. */
  readonly isOwnId?: boolean;
  /** Hz, for both directions unless `inputRate` says otherwise. */
  readonly sampleRate: number;
  /** Hz of the caller's audio where it has another rate than the agent's. */
  readonly inputRate?: number | undefined;
  readonly encoding: 'pcm16' | 'mulaw';
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Why a call is over: the client hung up in the protocol (`hangup`), the connection broke without a close frame
 * (`disconnected`), the client sent a close frame (`closed`), a fault ended it (`fault`), or the engine did (`engine`).
 */
export type TransportEnd = 'hangup' | 'disconnected' | 'closed' | 'fault' | 'engine';

/** What the engine gets from a transport. */
export interface TransportEvents {
  /** A valid `start`: the call is to be built; answer by `accept()` or `refuse()`, at once or later. */
  started(start: CallStart): void;
  /**
   * Caller audio in the call's encoding, whole samples; the bytes are valid only until this returns. False when the
   * engine cannot take it now (its bounded input is full): the transport keeps it and stops reading.
   */
  audio(bytes: Uint8Array): boolean;
  /** One of 0-9, *, #, A-D. */
  dtmf(digit: string): void;
  markPlayed(id: string): void;
  /** The caller typed. */
  typed(typed: TypedText): void;
  /** The caller's program has a message for the agent process. False: nobody takes it. */
  messaged(message: MessageToAgent): boolean;
  /** The transport is gone or done; exactly once, always last, also when `started` never came. */
  ended(reason: TransportEnd): void;
}

/** How the caller's packets have arrived until now. */
export interface HeardLine {
  readonly packets: number;
  readonly lost: number;
  readonly jitterMs: Millis;
  /** The way of a packet, where it is known. */
  readonly delayMs?: Millis;
  readonly codec: string;
}

/** A transport's state as it was saved: parsed JSON, and how much later the same moment is on this process's clock. */
export interface SavedTransport {
  readonly kind: string;
  readonly json: unknown;
  readonly shiftMs: Millis;
}

/** What the engine asks of a transport. Every method is harmless after the call is over. */
export interface CallTransport {
  /** Of a telephone line whose sound it decodes: the law that this had. */
  readonly law?: Law | undefined;
  /** The call is built: tells the client. Output before this is dropped. */
  accept(): void;
  /** The call is not taken. */
  refuse(code: CallRefusal): void;
  /**
   * One 20 ms frame of agent audio in the call's encoding. The buffer belongs to the transport from here on. Audio at
   * another rate than the call's is dropped and reported to the client once (`output_rate_mismatch` in
   * docs/call-protocol.md, Errors).
   */
  sendAudio(frame: Buffer, rate: number): void;
  /**
   * One 20 ms frame behind the agent's voice, as `sendAudio` takes them, while the agent is silent. It counts for nothing, and is dropped
   * where the agent's audio would come later for it.
   */
  sendBackdrop(frame: Buffer, rate: number): void;
  /** The output stands still in the middle of its audio; frames may follow later. Absent: nothing is to be sent about it. */
  pause?(): void;
  /** Barge-in: the client drops what it has not played. */
  sendClear(epoch: number): void;
  /** False when the mark was not sent: its id is over 256 bytes, or the call is not open. */
  sendMark(id: string): boolean;
  /** Presses keys of the phone; false where the peer takes none. Absent: the transport has no keys of its own. */
  sendKeys?(digits: string): boolean;
  /** Something of the agent process for the caller's program. Absent: the transport has no such messages. */
  readonly sendMessage?: ((message: MessageToClient) => void) | undefined;
  /** Something happened in the conversation; passed on where the client follows it. */
  tell(event: ConversationEvent): void;
  /** The engine hangs up, or the server stops. `ended` follows with `engine`, not from inside this call. */
  end(reason: 'ended' | 'shutdown'): void;
  /** The call broke inside: nothing is explained to the client. */
  fail(): void;
  /** The engine has room again after `audio()` returned false. */
  inputTaken(): void;
  /** Tells `started` again, where the engine that was told it has gone without an answer. */
  restart?(): void;
  /** What a transport of the same kind needs to go on in another process, as JSON; absent where none can. */
  save?(): { readonly kind: string; readonly json: string };
  /** Absent where nothing is lost on the way, or nothing has come. */
  readonly heardLine?: HeardLine | undefined;
  /** About every 20 ms: deadlines, write timeout, pings. `now` is on the worker's monotonic clock. */
  tick(now: Millis): void;
  /** Bytes sent but not yet taken by the kernel. */
  readonly bufferedBytes: number;
  /** What is sent is heard at its time, because a clear empties nothing at the client: a voice that is cut has to fade here. */
  readonly isLive?: boolean;
  /** How far ahead of real time the client needs its audio, where it keeps no buffer of its own; absent: not at all. */
  readonly leadMs?: Millis | undefined;
}

/** The law of the caller's line where that is a telephone's. */
export function lawOf(
  { encoding, sampleRate, inputRate = sampleRate }: CallStart,
  transport: Pick<CallTransport, 'law'>,
): Law | undefined {
  return inputRate === lawRate ? (transport.law ?? (encoding === 'mulaw' ? encoding : undefined)) : undefined;
}

/**
 * The one transfer of a call (docs/telephony.md, Transfers and keys): nobody has asked for one, it waits for the hand-off sentence, the
 * carrier has it, it was accepted, or nobody knows. Once the carrier may have done it, no other is begun; the same one may be repeated by
 * its id, by which the carrier knows it.
 */
import { opaque, time, union } from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';

export interface TransferRequest {
  /** The same for every attempt; it reaches the carrier. */
  readonly commandId: string;
  /** From 1: a cold transfer whose outcome was lost is asked for again when its command comes again. */
  readonly attempt: number;
  /** A name of the agent file, or a number that an agent process gave. */
  readonly destination: string;
  readonly isNumber: boolean;
  readonly mode: 'cold' | 'warm';
  readonly summary: string;
  /** The one that is told the outcome: a tool call of this turn, or the giver of the command. */
  readonly by:
    | { readonly kind: 'tool'; readonly key: number; readonly attempt: number; readonly epoch: number }
    | { readonly kind: 'command'; readonly id: string | undefined };
}

export type TransferClaim =
  | { readonly phase: 'none' }
  /** The sentence before it is still being heard; it is asked for at `by` in any case. */
  | { readonly phase: 'settling'; readonly request: TransferRequest; readonly by: Millis }
  /** The carrier has it; without an answer until `by` its outcome is unknown. */
  | { readonly phase: 'asked'; readonly request: TransferRequest; readonly by: Millis }
  | { readonly phase: 'accepted' }
  | { readonly phase: 'unknown'; readonly request: TransferRequest };

/** What a call can do of it. */
export interface TransferSettings {
  /** The longest wait for the hand-off sentence. */
  readonly settleMs: Millis;
  readonly warm: boolean;
}

/** From asking a carrier to giving its answer up: its budget of 40 s, and the way to whoever asks it and back. */
export const transferAnswerMs = 41_000;

const request = opaque<TransferRequest>();

export const transferCodec = union<TransferClaim, 'phase'>('phase', {
  none: {},
  settling: { request, by: time },
  asked: { request, by: time },
  accepted: {},
  unknown: { request },
});

/** One connection on its way to a worker or with one, as the hand-over keeps it. Types, and one question. */
import type { Socket } from 'node:net';
import type { AgentRef } from '../../shared/agents/version.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { CallOffer, SignaledOffer, UnansweredReason } from '../../shared/protocol/ipc.ts';

/** `overtaken`: its client has made another offer for the same call before this one was answered. */
export type Unanswered = UnansweredReason | 'no_worker' | 'overtaken';

/** What becomes of a call that came by an offer, for the part that answers its client. */
export interface OfferSignals {
  /** The worker's answer; once for each offer, or else `unanswered`. */
  readonly answered: (sdp: string) => void;
  readonly unanswered: (reason: Unanswered) => void;
  /** The connection is established. */
  readonly connected: () => void;
  /** A TCP connection of the call is closed. */
  readonly wayClosed: (way: number) => void;
  /** The worker is gone, and every connection of the call with it. */
  readonly waysLost: () => void;
  /** The last word, whatever came before it. */
  readonly over: () => void;
}

export type OfferState =
  | { readonly phase: 'waiting'; readonly since: Millis }
  /** Its worker is gone, and its client has to come back first. */
  | { readonly phase: 'left'; readonly since: Millis }
  | { readonly phase: 'offered'; readonly worker: number }
  | { readonly phase: 'taken'; readonly worker: number };

/** The offer of a client that is back while its call is with its worker. */
export interface Renewal {
  /** Of all that its process was offered: an answer to an overtaken offer does not answer this one. */
  readonly number: number;
  readonly offered: SignaledOffer;
  readonly signals: OfferSignals;
}

/** Gives back what was taken for a call. `isUnused`: no call came of it for want of room, so that its token opens another one. */
export type Release = (end?: { readonly isUnused: boolean }) => void;

export interface OpenOffer {
  message: CallOffer;
  readonly givenAt: Millis;
  /** The version of its agent, once its worker has said so; in a service of many. */
  agent?: AgentRef;
  /** Our duplicate; nothing is ever read from it. Absent where the call came by an offer. */
  readonly socket: Socket | undefined;
  /** Present where it did. */
  signals: OfferSignals | undefined;
  isAnswered: boolean;
  /** Its client has lost its connection and its worker has not: another one is being made to the same call. */
  renewal: Renewal | undefined;
  readonly declinedBy: Set<number>;
  /** Workers that hung or died while they worked for this call. */
  deaths: number;
  readonly release: Release;
  /** Its worker had no room for the call. */
  isUnused: boolean;
  state: OfferState;
}

/**
 * How long a call may wait for a worker after the one that had it died. Where all died at once it waits for the start of a process, which takes
 * seconds on a busy machine.
 */
export const rescueMs = 10_000;
/** A call during which so many workers hung or died is ended, for the sake of all others. */
export const mostDeaths = 2;

/** No worker has confirmed it yet, and one is to. */
export const isUnconfirmed = ({ phase }: OfferState): boolean => phase === 'waiting' || phase === 'offered';

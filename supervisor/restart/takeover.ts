/**
 * What the new supervisor takes over in a restart beside listeners that speak HTTP, as both supervisors see it. Every part keeps the
 * order: what was given is this process's again by `takeBack`, and the other's for good after `leave`.
 */
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Server } from 'node:net';
import type { SipRelayed, SipToSuccessor } from '../../shared/sip/takeover.ts';
import type { WebrtcAnswered, WebrtcAsked } from '../../shared/webrtc/takeover.ts';

/** The way to the new supervisor. */
export interface SuccessorLink {
  readonly say: (message: SipToSuccessor) => void;
  readonly giveListener: (name: string, server: Server) => void;
  readonly giveSocket: (socket: DatagramSocket) => void;
}

/** A feature with sockets of its own, which are opened and given over together with the listeners. */
export interface ListeningFeature extends Takeover {
  /** Gets ready, without a socket. */
  prepare(): Promise<void>;
  /** Binds what no other process has given. Rejects when an address cannot be bound. */
  bind(): Promise<void>;
  /** Something is still to be said to peers before the process ends. */
  readonly isBusy: boolean;
}

export interface Takeover {
  // ---- in the old supervisor ----
  give(successor: SuccessorLink): void;
  /** The new one serves. */
  leave(): void;
  /** There is no new one, or none any more. */
  takeBack(): void;
  successorSaid(message: SipRelayed): void;

  // ---- in the new supervisor ----
  follow(say: (message: SipRelayed) => void): void;
  /** False where the listener is somebody else's. */
  takeListener(name: string, given: Server): boolean;
  takeSocket(given: DatagramSocket): void;
  predecessorSaid(message: SipToSuccessor): void;
  predecessorGone(): void;
}

/** Session URLs of calls that stay in the old supervisor while the new one has the listener. */
export interface SessionUrls {
  // ---- in the old supervisor ----
  give(say: (message: WebrtcAnswered) => void): void;
  /** There is no new one any more. */
  takeBack(): void;
  successorSaid(message: WebrtcAsked, say: (message: WebrtcAnswered) => void): void;

  // ---- in the new supervisor ----
  follow(say: (message: WebrtcAsked) => void): void;
  predecessorSaid(message: WebrtcAnswered): void;
  predecessorGone(): void;
}

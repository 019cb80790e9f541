/**
 * The session URLs that are in force: who knows one may hang up, and come back after the call has lost its worker.
 *
 * Invariant: an id has 128 random bits and is forgotten with its call; what it leads to is never told.
 */
import { randomBytes } from 'node:crypto';
import type { SdpOffer } from '../../shared/webrtc/sdp.ts';

export interface SignalingSession {
  readonly id: string;
  /** Strong entity tag of the ICE session. */
  etag: string;
  /** Number of the call in the hand-over. */
  call: number;
  /** ICE credentials of the client, by which a restart of ICE is told from more candidates. */
  offer: Pick<SdpOffer, 'ufrag' | 'pwd'>;
}

export class SignalingSessions {
  readonly #sessions = new Map<string, SignalingSession>();

  get count(): number {
    return this.#sessions.size;
  }

  add(offer: SignalingSession['offer']): SignalingSession {
    const id = randomBytes(16).toString('hex');
    const session = { id, etag: newEtag(), call: 0, offer };
    this.#sessions.set(id, session);
    return session;
  }

  find(id: string): SignalingSession | undefined {
    return this.#sessions.get(id);
  }

  forget(id: string): void {
    this.#sessions.delete(id);
  }
}

export const newEtag = (): string => `"${randomBytes(6).toString('hex')}"`;

/** How calls come in at a listener: who may open them, whose connections count together, and what a worker serves them with. */
import type { Result } from '../../shared/base/result.ts';
import type { TransportKind } from '../../shared/protocol/ipc.ts';
import type { ConnectionPool } from '../admission/admission.ts';
import type { RequestHead } from '../admission/credentials.ts';
import type { Answer } from '../http/refusals.ts';

/** A request for a call that keeps the listener's own rules. */
export interface AdmittedRequest {
  /** What opens one call and no more; it is used once there is room for the call. `expS`: Unix seconds. */
  readonly pass?: {
    readonly sid: string;
    readonly expS: number;
    /** It opens its call even while nobody can say whether another host has taken it: something else vouches for it, too. */
    readonly isVouchedFor?: true;
  };
  /** Metadata that only the server may set (docs/tokens.md, What is enforced where). */
  readonly metadata: Readonly<Record<string, string>>;
  /** Makes the request without its credentials; most that ask are refused and need none. */
  readonly rest: () => RequestHead;
}

/** The limits of a listener beside those that all share (docs/webrtc.md, Limits). */
export interface IngressGate {
  /** Counts an attempt of an address; the answer when it has made too many. */
  readonly asked: (address: string) => Answer | undefined;
  /** Attempts so far that were let through uncounted, for want of room in the table of addresses. */
  readonly untracked: () => number;
  /** The answer when too many connections are not established yet. */
  readonly crowded: () => Answer | undefined;
  /** Takes a place of the address; undefined when it has none left. */
  readonly take: (address: string) => GatePlace | undefined;
  /** The same limits for all hosts of a fleet together. */
  readonly ofFleet: {
    readonly kind: string;
    readonly most: number;
    readonly offers?: { readonly perMinute: number; readonly tooMany: (retryAfterS: number) => Answer };
  };
}

export interface GatePlace {
  /** The connection is established. */
  readonly connected: () => void;
  /** Gives back what is still held; a second time does nothing. */
  readonly release: () => void;
}

/** How calls come in at a listener. */
export interface CallIngress {
  /** What a worker serves its connections with. */
  readonly transport: TransportKind;
  /** Whose connections are counted together; listeners may share a pool. */
  readonly pool: ConnectionPool;
  /** Calls are hung up when the time of their token is over (docs/tokens.md, What is enforced where). */
  readonly enforcesMaxS?: boolean;
  /** Absent: the limits that all share are enough. */
  readonly gate?: IngressGate;
  /** Judges a request by its path, credentials and origin. Nothing is used or counted. */
  readonly admit: (head: RequestHead, nowS: number) => Result<AdmittedRequest, Answer>;
}

/**
 * What the agent of this side is made of (RFC 3261): its transactions, its calls, the events that change them and the orders that come
 * out. Plain data; time is an argument, and what is random comes in as functions. Every timer is a moment that stands here. Pure.
 */
import type { Millis } from '../../base/units.ts';
import type { SipMedia, SrtpSuite } from '../calls.ts';
import type { Refused } from '../message/validate.ts';
import type { HeaderPair, MessageBody, Source } from '../message/write.ts';
import type { SipMessage, SipRequest } from '../message/message.ts';
import type { AgreeRules, Agreed } from '../session/agree.ts';
import type { SessionOffer } from '../session/sdp.ts';
import { newSurplus, type Surplus } from './surplus.ts';

/** The way to a peer: an address behind the one socket for UDP, or a connection. */
export interface Flow {
  /** Of a connection; 0 for UDP. */
  readonly connection: number;
  readonly protocol: 'UDP' | 'TCP' | 'TLS';
  /** Where the peer sends from. */
  readonly source: Source;
  /** How the peer reaches this side. */
  readonly local: { readonly address: string; readonly port: number };
}

/** Times of RFC 3261, 17. */
export const timers = { t1: 500, t2: 4_000, t4: 5_000, giveUp: 32_000 } as const;

export interface ServerTransaction {
  readonly key: string;
  readonly request: SipRequest;
  flow: Flow;
  /** `accepted`: an INVITE that was answered by 2xx, which the call repeats and not the transaction (RFC 6026). */
  phase: 'proceeding' | 'completed' | 'confirmed' | 'accepted';
  /** The newest answer, for those who ask again. */
  answer: Buffer | undefined;
  readonly toTag: string;
  repeatAt: Millis | undefined;
  repeatMs: Millis;
  /** When it is forgotten, or gives up. */
  endsAt: Millis | undefined;
}

export interface ClientTransaction {
  readonly branch: string;
  readonly method: string;
  readonly request: Buffer;
  readonly flow: Flow;
  /** Undefined: a CANCEL, of which nobody waits for the answer. */
  readonly asked: InDialogRequest | undefined;
  /** Of an INVITE that was answered, for answers that come again. */
  ack: Buffer | undefined;
  repeatAt: Millis | undefined;
  repeatMs: Millis;
  endsAt: Millis;
}

/** A request within a call, as it is written again where the peer wants it signed. */
export interface InDialogRequest {
  readonly call: SipCall;
  readonly method: string;
  readonly headers: readonly HeaderPair[];
  readonly body?: MessageBody | undefined;
  readonly isProved: boolean;
}

/** How this side signs in at the peer of a call. */
export interface SipAccount {
  readonly user: string;
  readonly password: string;
}

/** A call of this side that nobody has answered yet. */
export interface Dialing {
  /** Names it to the part that asked for it. */
  readonly dial: string;
  /** Who is called. */
  readonly target: string;
  /** This side's address, without tag. */
  readonly from: string;
  readonly callId: string;
  readonly localTag: string;
  readonly flow: Flow;
  /** What is said of the caller beside From. */
  readonly headers: readonly HeaderPair[];
  readonly account: SipAccount | undefined;
  readonly local: { readonly address: string; readonly port: number };
  readonly sessionId: number;
  readonly sdp: string;
  /** Undefined: the audio is offered in the clear. */
  readonly key: { readonly suite: SrtpSuite; readonly local: string } | undefined;
  readonly ringUntil: Millis;
  cseq: number;
  /** How often this side has signed in for it. */
  proofs: number;
  /** The session timer that the peer has asked for. */
  timerS: number | undefined;
  /** The party that asked has been told what came of it. */
  isOver: boolean;
}

/** An INVITE of this side (RFC 3261, 17.1.1; RFC 6026). */
export interface InviteTransaction {
  readonly branch: string;
  readonly dialing: Dialing;
  readonly cseq: number;
  readonly request: Buffer;
  /** `refused`, `answered`: what comes again is acknowledged again. */
  phase: 'calling' | 'proceeding' | 'refused' | 'answered';
  repeatAt: Millis | undefined;
  repeatMs: Millis;
  endsAt: Millis;
  ack: Buffer | undefined;
  /** The newest session of a provisional answer, and its To tag. */
  early: { readonly tag: string; readonly sdp: string } | undefined;
  /** To tag of the 2xx that made the call. */
  answeredBy: string;
  isCancelled: boolean;
}

/** What this side has asked of a peer beside the call itself, one of each kind at a time. */
export interface AskedOfPeer {
  /** REFER: `until` then the peer may say what comes of it, which it does by NOTIFY. */
  refer: { readonly since: Millis; until: Millis; isFollowed: boolean } | undefined;
  /** Keys that go as INFO, one behind the other's answer. */
  keys: { left: string; nextAt: Millis | undefined } | undefined;
}

export type PeerOutcome = 'ok' | 'rejected' | 'unsupported' | 'unavailable' | 'unknown';

export interface SessionTimer {
  readonly intervalS: number;
  /** This side refreshes at half of the time, by UPDATE or by INVITE. */
  readonly isOurs: boolean;
  at: Millis;
}

export interface SipCall {
  readonly id: number;
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  /** Our address and the peer's as they stand in To and From of the first request, without tags. */
  readonly localAddress: string;
  readonly remoteAddress: string;
  /** Where requests to the peer are addressed, and through whom. */
  target: string;
  readonly routes: readonly string[];
  flow: Flow;
  localCSeq: number;
  remoteCSeq: number;
  /** `answered`: 2xx is out, and repeated until ACK. */
  phase: 'offered' | 'answered' | 'confirmed';
  readonly invite: SipRequest;
  readonly inviteKey: string;
  readonly allowsUpdate: boolean;
  /** What the peer does not rule out: INFO, REFER. */
  readonly mayAsk: { readonly info: boolean; readonly refer: boolean };
  readonly account: SipAccount | undefined;
  readonly asked: AskedOfPeer;
  /** Undefined until the peer has said what it can, where it lets this side offer first. */
  agreed: Agreed | undefined;
  /** The peer's last word on media. */
  session: SessionOffer | undefined;
  local: { readonly address: string; readonly port: number } | undefined;
  readonly sessionId: number;
  version: number;
  /** This side has made the newest offer, and the peer has not answered it. */
  ownOffer: boolean;
  /** SDP of this side as it was sent last. */
  sdp: string;
  /** The 2xx that waits for its ACK. */
  ok:
    | { readonly bytes: Buffer; readonly cseq: number; at: Millis; everyMs: Millis; readonly until: Millis }
    | undefined;
  timer: SessionTimer | undefined;
}

export interface Gate {
  /** How a request is refused: who sends it may not, or has to prove who it is. */
  readonly judge: (
    request: SipRequest,
    flow: Flow,
    now: Millis,
  ) => (Refused & { readonly headers?: readonly HeaderPair[] }) | undefined;
  /** Whether this side was told of the address: its answers need not be kept short. */
  readonly knows: (address: string) => boolean;
}

export interface AgentSettings {
  readonly gate: Gate;
  readonly rules: Pick<AgreeRules, 'srtp' | 'codecs'>;
  /** How this side signs in at whoever calls from there; nobody else is shown a proof of its passwords. */
  readonly accountAt: (address: string) => SipAccount | undefined;
  /** Letters and digits that nobody can guess. */
  readonly newToken: () => string;
  readonly newKey: (bytes: number) => string;
  readonly newSessionId: () => number;
  /** No new calls; probes are told so. */
  readonly isClosed: () => boolean;
  readonly mostTransactions: number;
}

export interface AgentState {
  readonly settings: AgentSettings;
  readonly transactions: Map<string, ServerTransaction>;
  readonly clients: Map<string, ClientTransaction>;
  /** INVITEs of this side by branch. */
  readonly invites: Map<string, InviteTransaction>;
  readonly calls: Map<number, SipCall>;
  /** Calls by Call-ID and both tags. */
  readonly dialogs: Map<string, SipCall>;
  /** First requests by what is the same in all copies of one. */
  readonly merged: Map<string, string>;
  readonly surplus: Surplus;
  lastCall: number;
}

export const newAgent = (settings: AgentSettings): AgentState => ({
  settings,
  transactions: new Map(),
  clients: new Map(),
  invites: new Map(),
  calls: new Map(),
  dialogs: new Map(),
  merged: new Map(),
  surplus: newSurplus(),
  lastCall: 0,
});

export type AgentEvent =
  | {
      readonly type: 'message.received';
      readonly message: SipMessage;
      readonly fault: string | undefined;
      readonly flow: Flow;
      /** Bytes of the datagram or message. */
      readonly size: number;
    }
  | { readonly type: 'call.rings'; readonly call: number }
  | {
      readonly type: 'call.accepted';
      readonly call: number;
      readonly local: { readonly address: string; readonly port: number };
    }
  | {
      readonly type: 'call.refused';
      readonly call: number;
      readonly status: number;
      readonly retryAfterS?: number | undefined;
    }
  | { readonly type: 'call.hung-up'; readonly call: number }
  /** This side calls somebody. */
  | ({ readonly type: 'call.dialed'; readonly ringMs: Millis } & Pick<
      Dialing,
      'dial' | 'target' | 'from' | 'callId' | 'flow' | 'headers' | 'account' | 'local'
    >)
  /** And wants to no more. */
  | { readonly type: 'dial.given-up'; readonly dial: string }
  /** The peer is to call somebody else in place of this side. */
  | { readonly type: 'call.refer'; readonly call: number; readonly user: string }
  /** Keys, with `w` and `W` as pauses, for a peer that takes none with the audio. */
  | { readonly type: 'call.press'; readonly call: number; readonly keys: string }
  | { readonly type: 'flow.failed'; readonly connection: number }
  | { readonly type: 'time.passed' };

export type AgentAction =
  | {
      readonly type: 'send';
      readonly flow: Flow;
      readonly to: Source;
      readonly bytes: Buffer;
      /** Where a connection may be made for it, should the flow's be gone. */
      readonly orAt?: Source;
    }
  /** A request outside calls was answered by a refusal, which was cut where its source has had too many long ones. */
  | {
      readonly type: 'request.refused';
      readonly address: string;
      readonly method: string;
      readonly status: number;
      readonly isCut: boolean;
    }
  /** As many requests are under way as there may be: this one was refused. */
  | { readonly type: 'agent.full' }
  /** A peer wants a call. */
  | {
      readonly type: 'call.offered';
      readonly call: number;
      readonly invite: SipRequest;
      readonly flow: Flow;
      /** Undefined where the peer wants to be offered something. */
      readonly media: SipMedia | undefined;
    }
  /** The offer of a peer that may call has nothing that both sides can do; `offers` says what it has. */
  | { readonly type: 'call.unmet'; readonly callId: string; readonly offers: string }
  | { readonly type: 'call.opened'; readonly call: number }
  | { readonly type: 'call.agreed'; readonly call: number; readonly media: SipMedia }
  | { readonly type: 'call.digit'; readonly call: number; readonly digit: string }
  /** Somebody has answered, and the call is one. */
  | {
      readonly type: 'dial.answered';
      readonly dial: string;
      readonly call: number;
      readonly media: SipMedia;
      readonly mayRefer: boolean;
    }
  /** Nobody has, for this status of the peer's: 0 where it said nothing; or in the time to ring, or this side gave up. */
  | { readonly type: 'dial.ended'; readonly dial: string; readonly why: number | 'rang' | 'ours' }
  | { readonly type: 'call.referred'; readonly call: number; readonly outcome: PeerOutcome }
  | { readonly type: 'call.pressed'; readonly call: number; readonly outcome: PeerOutcome }
  /** It is over and forgotten. */
  | {
      readonly type: 'call.ended';
      readonly call: number;
      readonly reason: 'hangup' | 'cancelled' | 'lost' | 'refused' | 'ours';
    };

/** One step: the state, the time, and the orders so far. */
export interface Step {
  readonly state: AgentState;
  readonly now: Millis;
  readonly actions: AgentAction[];
}

export const dialogKey = (callId: string, localTag: string, remoteTag: string): string =>
  `${localTag}\n${remoteTag}\n${callId}`;

/** Forgets a call, and tells why it is over. */
export function endCall(
  step: Step,
  call: SipCall,
  reason: Extract<AgentAction, { type: 'call.ended' }>['reason'],
): void {
  const { state } = step;
  if (!state.calls.delete(call.id)) return;
  state.dialogs.delete(dialogKey(call.callId, call.localTag, call.remoteTag));
  step.actions.push({ type: 'call.ended', call: call.id, reason });
}

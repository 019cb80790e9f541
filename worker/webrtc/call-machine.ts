/**
 * One WebRTC call as a pure machine: from the answered offer over the established connection to its end. The client hangs up by
 * signaling, by closing its connection, or by sending nothing any more. Pure.
 *
 * Invariant: `ended` is told once and last; after it nothing is sent.
 */
import { assert } from '../../shared/base/assert.ts';
import { flag, maybe, number, opaque, record, text, versionOf } from '../../shared/base/codec.ts';
import { ENGINE_RATE, type Millis } from '../../shared/base/units.ts';

/** Why the call is over: as in the contract of transports. */
export type PeerCallEnd = 'hangup' | 'disconnected' | 'fault' | 'engine';

/** What the call was agreed to be. */
export interface PeerCallStart {
  readonly callId: string;
  /** Clients of WebRTC choose none. */
  readonly isOwnId?: boolean;
  /** Hz of what is spoken to the client. */
  readonly sampleRate: number;
  /** Hz of what is heard of it. */
  readonly inputRate: number;
  readonly encoding: 'pcm16';
  readonly metadata: Readonly<Record<string, string>>;
}

type Phase =
  /** The answer is on its way; ICE and DTLS have not finished. */
  | { readonly name: 'connecting'; readonly connectBy: Millis }
  /** The engine has neither accepted nor refused. */
  | { readonly name: 'starting' }
  | { readonly name: 'open' }
  | { readonly name: 'over' };

export interface PeerCallState {
  readonly start: PeerCallStart;
  /** Another worker had the call before; the engine goes on with it. */
  readonly isResumed: boolean;
  phase: Phase;
  /** When the client was last heard. */
  heardAt: Millis;
  /** The client is about to make another connection for the call: that this one closes is no end. */
  isMoving: boolean;
}

export type PeerCallEvent =
  | { readonly type: 'peer.connected' }
  /** The client has closed its connection. */
  | { readonly type: 'peer.left' }
  /** It broke. */
  | { readonly type: 'peer.closed' }
  /** The client has offered another connection for the call. */
  | { readonly type: 'peer.awaited' }
  /** Nothing came of it. */
  | { readonly type: 'peer.missed' }
  /** It is established, and the one before it is of no interest any more. */
  | { readonly type: 'peer.moved' }
  /** A packet of the client that proves that it is there. */
  | { readonly type: 'media.arrived' }
  /** The client hung up by its session URL. */
  | { readonly type: 'signaling.ended' }
  | { readonly type: 'call.accepted' }
  | { readonly type: 'call.refused' }
  | { readonly type: 'call.ended' }
  | { readonly type: 'call.failed' }
  | { readonly type: 'time.passed' };

export type PeerCallAction =
  | { readonly type: 'notify.connected' }
  | { readonly type: 'notify.started' }
  | { readonly type: 'notify.ended'; readonly reason: PeerCallEnd }
  | { readonly type: 'close' };

/** The codec gives what is heard as the engine wants it. */
export const heardRate = ENGINE_RATE;

/** A connection that is not established by then is given up (docs/webrtc.md, Limits). */
export const connectTimeoutMs = 15_000;
/** A client sends something at least every 7.5 s, a report where there is no audio. */
export const mediaTimeoutMs = 8_000;

const startCodec = record<PeerCallStart>({
  callId: text(),
  isOwnId: maybe(flag),
  sampleRate: number,
  inputRate: number,
  encoding: text(),
  metadata: opaque(),
});
const kind = `webrtc ${versionOf(startCodec)}`;

export const savedPeerCall = ({ start }: PeerCallState): { kind: string; json: string } => ({
  kind,
  json: startCodec.write(start),
});

/** The start of a call that another worker had. */
export function savedStart(saved: { readonly kind: string; readonly json: unknown }): PeerCallStart {
  assert(saved.kind === kind, 'a WebRTC call of this version was saved');
  return startCodec.read(saved.json, 0);
}

export const newPeerCall = (
  start: PeerCallStart,
  { now, isResumed }: { readonly now: Millis; readonly isResumed: boolean },
): PeerCallState => ({
  start,
  isResumed,
  phase: { name: 'connecting', connectBy: now + connectTimeoutMs },
  heardAt: now,
  isMoving: false,
});

/** The engine knows the call: what the caller says is heard. */
export const isHeard = ({ phase }: PeerCallState): boolean =>
  phase.name === 'starting' || phase.name === 'open';
export const isOpen = ({ phase }: PeerCallState): boolean => phase.name === 'open';
export const isOver = ({ phase }: PeerCallState): boolean => phase.name === 'over';

/** Takes one fact and returns what is to be done, in order. */
export function step(state: PeerCallState, event: PeerCallEvent, now: Millis): readonly PeerCallAction[] {
  if (state.phase.name === 'over') return [];
  switch (event.type) {
    case 'peer.connected':
      return connected(state, now);
    case 'peer.awaited':
      state.isMoving = true;
      return [];
    case 'peer.missed':
      state.isMoving = false;
      return [];
    case 'peer.moved':
      state.isMoving = false;
      state.heardAt = now;
      return connected(state, now);
    case 'media.arrived':
      state.heardAt = now;
      return [];
    case 'call.accepted':
      if (state.phase.name === 'starting') state.phase = { name: 'open' };
      return [];
    case 'peer.left':
      // Clients close with their DELETE, or before it: which of the two is heard of first is chance.
      return state.isMoving ? [] : end(state, 'hangup');
    case 'peer.closed':
      return state.isMoving ? [] : end(state, 'disconnected');
    case 'signaling.ended':
      return end(state, 'hangup');
    case 'call.refused':
    case 'call.ended':
      return end(state, 'engine');
    case 'call.failed':
      return end(state, 'fault');
    case 'time.passed':
      return isTimeOver(state, now) ? end(state, 'disconnected') : [];
  }
}

function connected(state: PeerCallState, now: Millis): readonly PeerCallAction[] {
  if (state.phase.name !== 'connecting') return [];
  state.heardAt = now;
  // A call that goes on is open at once: the engine has it already.
  state.phase = { name: state.isResumed ? 'open' : 'starting' };
  return [{ type: 'notify.connected' }, ...(state.isResumed ? [] : [{ type: 'notify.started' } as const])];
}

function isTimeOver({ phase, heardAt }: PeerCallState, now: Millis): boolean {
  if (phase.name === 'connecting') return now >= phase.connectBy;
  return now - heardAt >= mediaTimeoutMs;
}

function end(state: PeerCallState, reason: PeerCallEnd): readonly PeerCallAction[] {
  state.phase = { name: 'over' };
  return [{ type: 'close' }, { type: 'notify.ended', reason }];
}

/**
 * What the machine of protocol.ts is made of: the state of one WebSocket call, the facts that change it, and the orders that
 * come out, with the questions about a state that change nothing but its notes of time. Pure.
 *
 * Invariant: the state is plain data, so that another process can go on with it. Nothing here decides what a fact leads to.
 */
import { assert } from '../../../shared/base/assert.ts';
import {
  flag,
  list,
  maybe,
  number,
  opaque,
  record,
  text,
  time,
  union,
  versionOf,
} from '../../../shared/base/codec.ts';
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';
import type {
  CallErrorCode,
  CallRefusal,
  ClientMessage,
  ServerMessage,
  TypedText,
  WsCallLimits,
} from '../../../shared/protocol/call.ts';
import type { ConversationMessage, ConversationMessageType } from '../../../shared/protocol/conversation.ts';
import { afterSilence, newAllowance, type Allowance } from './allowance.ts';

export interface WsCallSettings extends WsCallLimits {
  /** Metadata of the verified token and the listener; wins over the client's (docs/call-protocol.md, A call). */
  readonly signedMetadata: Readonly<Record<string, string>>;
  /** The id of the call when the client chose none. */
  readonly spareCallId: string;
  /** Monotonic time at which the connection was upgraded. */
  readonly openedAt: Millis;
}

/** The call as it was agreed on by `start`. */
export interface WsCallStart {
  readonly callId: string;
  /** The client has chosen none. */
  readonly isOwnId?: boolean;
  readonly sampleRate: number;
  readonly encoding: 'pcm16' | 'mulaw';
  readonly metadata: Readonly<Record<string, string>>;
  /** What the client follows of the conversation. */
  readonly events: readonly ConversationMessageType[];
  /** Rate of the caller's audio in Hz where it has another one. */
  readonly inputRate?: number;
}

export type WsEnd = 'hangup' | 'disconnected' | 'closed' | 'fault' | 'engine';

type WsPhase =
  | { readonly name: 'awaiting-start'; readonly startBy: Millis }
  /** A valid `start` came; the engine has neither accepted nor refused. */
  | { readonly name: 'starting'; readonly start: WsCallStart }
  | { readonly name: 'open'; readonly start: WsCallStart; readonly rateReported: boolean }
  /** The close frame is on its way; the call is over for the engine. */
  | { readonly name: 'closing'; readonly closeBy: Millis }
  | { readonly name: 'closed' };

export interface WsCallState {
  readonly settings: WsCallSettings;
  phase: WsPhase;
  /** Faults so far, of both sides. */
  faults: number;
  pingAt: Millis;
  frameAt: Millis;
  /** Since when the engine has taken no audio; undefined while it keeps up. */
  inputRefusedAt: Millis | undefined;
  /** What the client may still send at once. */
  allowance: Allowance;
  /** Since when the client has sent more than its allowance and is not read; undefined while it is read. */
  outranAt: Millis | undefined;
  /** Since when the kernel has taken no byte of a backlog; undefined without backlog. */
  outputStuckAt: Millis | undefined;
}

export type WsEvent =
  | { readonly type: 'message.received'; readonly message: ClientMessage }
  | { readonly type: 'frame.faulted'; readonly code: CallErrorCode }
  /** The WebSocket framing itself is broken; nothing more is read. */
  | { readonly type: 'framing.broken' }
  | { readonly type: 'close.received' }
  | { readonly type: 'socket.closed' }
  | { readonly type: 'call.accepted' }
  | { readonly type: 'call.refused'; readonly code: CallRefusal }
  | { readonly type: 'call.ended'; readonly reason: 'ended' | 'shutdown' }
  | { readonly type: 'call.failed' }
  | { readonly type: 'output.cleared'; readonly epoch: number }
  | { readonly type: 'output.marked'; readonly id: string }
  | { readonly type: 'output.mismatched' }
  | { readonly type: 'conversation.told'; readonly message: ConversationMessage }
  /** A backlog was seen, or was still there; `moved` says that the kernel took some of it since. */
  | { readonly type: 'output.backlogged'; readonly moved: boolean }
  | { readonly type: 'output.drained' }
  /** The engine did not take audio; `moved` says that it took some before. */
  | { readonly type: 'input.refused'; readonly moved: boolean }
  /** More refused audio than fits. */
  | { readonly type: 'input.overflowed' }
  | { readonly type: 'input.drained' }
  /** The client sent more than its allowance; messages over it wait with the shell. */
  | { readonly type: 'allowance.spent' }
  /** The client has credit again, and nothing of it waits. */
  | { readonly type: 'allowance.filled' }
  | { readonly type: 'time.passed' };

export type WsAction =
  | { readonly type: 'send'; readonly message: ServerMessage | ConversationMessage }
  | { readonly type: 'close'; readonly code: number }
  | { readonly type: 'terminate' }
  | { readonly type: 'ping' }
  | { readonly type: 'reading.pause' }
  | { readonly type: 'reading.resume' }
  | { readonly type: 'notify.started'; readonly start: WsCallStart }
  | { readonly type: 'notify.dtmf'; readonly digit: string }
  | { readonly type: 'notify.mark'; readonly id: string }
  | { readonly type: 'notify.typed'; readonly typed: TypedText }
  | { readonly type: 'notify.ended'; readonly reason: WsEnd };

const startCodec = record<WsCallStart>({
  callId: text(),
  isOwnId: maybe(flag),
  sampleRate: number,
  encoding: text(),
  metadata: opaque(),
  events: list(text<ConversationMessageType>()),
  inputRate: maybe(number),
});

/** What another process needs of the state; the settings it has itself. Metadata is the client's. */
const wsCallCodec = record<Omit<WsCallState, 'settings'>>({
  phase: union<WsPhase, 'name'>('name', {
    'awaiting-start': { startBy: time },
    starting: { start: startCodec },
    open: { start: startCodec, rateReported: flag },
    closing: { closeBy: time },
    closed: {},
  }),
  faults: number,
  pingAt: time,
  frameAt: time,
  inputRefusedAt: maybe(time),
  allowance: record<Allowance>({ credit: number, filledAt: time }),
  outranAt: maybe(time),
  outputStuckAt: maybe(time),
});

/** Names the dialect, and the shape of the state, in what is saved of a call. */
const kindOf = (dialect: string): string => `${dialect} ${versionOf(wsCallCodec)}`;

export const savedWsCall = (
  state: WsCallState,
  dialect: { readonly kind: string; save(): string },
): { kind: string; json: string } => ({
  kind: kindOf(dialect.kind),
  json: `{"call":${wsCallCodec.write(state)},"dialect":${dialect.save()}}`,
});

/** The two parts of what was saved. */
export const savedParts = (json: unknown): { readonly call: unknown; readonly dialect: unknown } =>
  record<{ call: unknown; dialect: unknown }>({ call: opaque(), dialect: opaque() }).read(json, 0);

export function newWsCall(settings: WsCallSettings): WsCallState {
  return {
    settings,
    phase: { name: 'awaiting-start', startBy: settings.openedAt + settings.startTimeoutMs },
    faults: 0,
    pingAt: settings.openedAt + settings.pingIntervalMs,
    frameAt: settings.openedAt,
    inputRefusedAt: undefined,
    allowance: newAllowance(settings.openedAt),
    outranAt: undefined,
    outputStuckAt: undefined,
  };
}

/** The state of a call that another worker served until now. Nobody has read from the client meanwhile, so it lives. */
export function resumedWsCall(
  { kind, json, shiftMs }: { readonly kind: string; readonly json: unknown; readonly shiftMs: Millis },
  options: { readonly settings: WsCallSettings; readonly now: Millis; readonly dialect: string },
): WsCallState {
  const { settings, now, dialect } = options;
  assert(kind === kindOf(dialect), 'a call of this dialect and version was saved');
  const saved = wsCallCodec.read(savedParts(json).call, shiftMs);
  return {
    ...saved,
    settings,
    allowance: afterSilence(saved.allowance, now),
    frameAt: now,
    inputRefusedAt: undefined,
    outranAt: undefined,
    outputStuckAt: undefined,
  };
}

/** What is wrong with a binary frame; undefined when it is fine, empty, or comes too late to matter. */
export function audioFault(state: WsCallState, byteLength: number): CallErrorCode | undefined {
  switch (state.phase.name) {
    case 'closing':
    case 'closed':
      return undefined;
    case 'awaiting-start':
      return byteLength > state.settings.maxAudioBytes ? 'frame_too_large' : 'audio_before_start';
    case 'starting':
    case 'open':
      if (byteLength > state.settings.maxAudioBytes) return 'frame_too_large';
      return state.phase.start.encoding === 'pcm16' && byteLength % 2 !== 0 ? 'bad_audio' : undefined;
  }
}

/** The client's audio of 20 ms, in bytes; 0 where none is agreed on. */
export function frameBytes({ phase }: WsCallState): number {
  if (phase.name !== 'starting' && phase.name !== 'open') return 0;
  const { sampleRate, inputRate = sampleRate } = phase.start;
  const samples = Math.floor((inputRate * FRAME_MS) / 1000);
  return phase.start.encoding === 'pcm16' ? samples * 2 : samples;
}

/** Notes any frame of the client, pongs included: it is alive (`ping_timeout` in docs/call-protocol.md, Errors). */
export function frameArrived(state: WsCallState, now: Millis): void {
  state.frameAt = now;
}

/** Whether the client is not read at present. */
export const isPaused = (state: WsCallState): boolean =>
  state.inputRefusedAt !== undefined || state.outranAt !== undefined;

/** The earliest time at which `time.passed` may do something; undefined when nothing is waited for. */
export function nextDeadline(state: WsCallState): Millis | undefined {
  const { phase, settings } = state;
  switch (phase.name) {
    case 'closed':
      return undefined;
    case 'closing':
      return phase.closeBy;
    case 'awaiting-start':
    case 'starting':
    case 'open': {
      let deadline = state.pingAt;
      if (phase.name === 'awaiting-start') deadline = Math.min(deadline, phase.startBy);
      else if (state.inputRefusedAt !== undefined) {
        deadline = Math.min(deadline, state.inputRefusedAt + settings.sendTimeoutMs);
      } else if (!isPaused(state)) deadline = Math.min(deadline, state.frameAt + settings.pingTimeoutMs);
      if (state.outputStuckAt !== undefined) {
        deadline = Math.min(deadline, state.outputStuckAt + settings.writeTimeoutMs);
      }
      return deadline;
    }
  }
}

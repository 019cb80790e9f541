/**
 * The server's side of one WebSocket call as a pure machine: which message is allowed when, what each fault costs, and
 * every deadline (docs/call-protocol.md). Pure.
 *
 * Invariant: exactly one `notify.ended` leaves the machine, and nothing but the end of the socket is reported or sent
 * after it. Audio never enters `step`. The machine must not touch sockets, clocks or timers. Its state and its unions
 * stand in call-state.ts.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type {
  CallFault,
  CallRefusal,
  ClientMessage,
  ServerMessage,
  StartMessage,
} from '../../../shared/protocol/call.ts';
import {
  CALL_PROTOCOL_VERSION,
  callErrors,
  callFieldLimits,
  callMetadata,
  utf8Bytes,
  violation,
} from '../../../shared/protocol/call.ts';
import { isPaused } from './call-state.ts';
import type { WsAction, WsCallStart, WsCallState, WsEnd, WsEvent } from './call-state.ts';

const NOTHING: readonly WsAction[] = [];

/** What a client is told whose call is not taken. */
const refusals: Readonly<Record<CallRefusal, CallFault>> = {
  server_busy: { code: 'server_busy' },
  unknown_agent: violation('start.metadata.agent names an agent that is not there'),
  unsigned_route: violation('start.metadata.agent_route names a route that only a session token may name'),
};

/**
 * Of the two codes that close with 1002 (docs/call-protocol.md, Errors) the one for a malformed message: `invalid_json` would
 * say that a text frame was read and held no JSON, while here no frame could be read.
 */
const brokenFraming: CallFault = {
  code: 'invalid_message',
  message: 'the bytes must be frames as RFC 6455 and the protocol of this listener define them',
};

/** Takes one event and says what to do. Changes `state`; the actions are to be done in order. */
export function step(state: WsCallState, event: WsEvent, now: Millis): readonly WsAction[] {
  if (state.phase.name === 'closed') return NOTHING;
  if (event.type === 'socket.closed') return socketClosed(state);
  // A flood does not end with the call.
  if (event.type === 'allowance.spent') return allowanceSpent(state, now);
  if (event.type === 'allowance.filled') return allowanceFilled(state, now);
  if (state.phase.name === 'closing') return stepClosing(state.phase, event, now);
  switch (event.type) {
    case 'message.received':
      return receive(state, event.message, now);
    case 'frame.faulted':
      return fault(state, { code: event.code }, now);
    case 'framing.broken':
      return fatal(state, brokenFraming, now);
    case 'close.received':
      return over(state, 'closed', { now });
    case 'call.accepted':
    case 'call.refused':
    case 'call.ended':
    case 'call.failed':
      return command(state, event, now);
    case 'output.cleared':
    case 'output.marked':
    case 'output.mismatched':
    case 'conversation.told':
      return output(state, event, now);
    case 'output.backlogged':
      if (event.moved || state.outputStuckAt === undefined) state.outputStuckAt = now;
      return NOTHING;
    case 'output.drained':
      state.outputStuckAt = undefined;
      return NOTHING;
    case 'input.refused':
      return inputRefused(state, event.moved, now);
    case 'input.overflowed':
      return fault(state, { code: 'overloaded' }, now);
    case 'input.drained':
      return inputDrained(state, now);
    case 'time.passed':
      return timePassed(state, now);
  }
}

function stepClosing(phase: { readonly closeBy: Millis }, event: WsEvent, now: Millis): readonly WsAction[] {
  if (event.type === 'time.passed' && now >= phase.closeBy) return [{ type: 'terminate' }];
  return NOTHING;
}

function socketClosed(state: WsCallState): readonly WsAction[] {
  const known = state.phase.name === 'closing';
  state.phase = { name: 'closed' };
  return known ? NOTHING : [{ type: 'notify.ended', reason: 'disconnected' }];
}

// ---- Messages of the client ------------------------------------------------------------------------------------------

function receive(state: WsCallState, message: ClientMessage, now: Millis): readonly WsAction[] {
  if (message.type === 'not-json') return fault(state, { code: 'invalid_json' }, now);
  if (state.phase.name === 'awaiting-start') {
    if (message.type === 'unknown') return fatal(state, { code: 'unknown_message' }, now);
    if (message.type !== 'start') return fault(state, violation('start must be the first message'), now);
    if (!message.fields.ok) return fault(state, message.fields.error, now);
    return started(state, message.fields.value);
  }
  switch (message.type) {
    case 'start':
      return fault(state, { code: 'unexpected_start' }, now);
    case 'unknown':
      return fault(state, { code: 'unknown_message' }, now);
    case 'dtmf':
      if (!message.digit.ok) return fault(state, message.digit.error, now);
      return [{ type: 'notify.dtmf', digit: message.digit.value }];
    case 'mark':
      if (!message.id.ok) return fault(state, message.id.error, now);
      return [{ type: 'notify.mark', id: message.id.value }];
    case 'text':
      if (!message.typed.ok) return fault(state, message.typed.error, now);
      return [{ type: 'notify.typed', typed: message.typed.value }];
    case 'stop':
      return stop(state, { reason: 'ended', end: 'hangup', now });
  }
}

function started(state: WsCallState, message: StartMessage): readonly WsAction[] {
  const start: WsCallStart = {
    ...(message.callId === undefined
      ? { callId: state.settings.spareCallId, isOwnId: true }
      : { callId: message.callId }),
    sampleRate: message.sampleRate,
    encoding: message.encoding,
    metadata: callMetadata(message, state.settings.signedMetadata),
    events: message.events,
    ...(message.inputRate !== undefined && { inputRate: message.inputRate }),
  };
  state.phase = { name: 'starting', start };
  return [{ type: 'notify.started', start }];
}

// ---- Orders of the engine --------------------------------------------------------------------------------------------

type CommandEvent = Extract<
  WsEvent,
  { type: 'call.accepted' | 'call.refused' | 'call.ended' | 'call.failed' }
>;

function command(state: WsCallState, event: CommandEvent, now: Millis): readonly WsAction[] {
  switch (event.type) {
    case 'call.accepted': {
      if (state.phase.name !== 'starting') return NOTHING;
      const { start } = state.phase;
      state.phase = { name: 'open', start, rateReported: false };
      return [{ type: 'send', message: startedMessage(start) }];
    }
    case 'call.refused':
      return fatal(state, refusals[event.code], now, 'engine');
    case 'call.ended':
      return stop(state, { reason: event.reason, end: 'engine', now });
    case 'call.failed':
      return over(state, 'engine', { now, closeCode: 1011 });
  }
}

function startedMessage(start: WsCallStart): ServerMessage {
  return {
    type: 'started',
    version: CALL_PROTOCOL_VERSION,
    call_id: start.callId,
    sample_rate: start.sampleRate,
    encoding: start.encoding,
  };
}

type OutputEvent = Extract<
  WsEvent,
  { type: 'output.cleared' | 'output.marked' | 'output.mismatched' | 'conversation.told' }
>;

/** Agent output belongs to an open call; before and after it there is nobody to hear it. */
function output(state: WsCallState, event: OutputEvent, now: Millis): readonly WsAction[] {
  if (state.phase.name !== 'open') return NOTHING;
  switch (event.type) {
    case 'output.cleared':
      return [{ type: 'send', message: { type: 'clear', epoch: event.epoch } }];
    case 'output.marked':
      if (!markFits(event.id)) return fault(state, { code: 'mark_id_too_long' }, now);
      return [{ type: 'send', message: { type: 'mark', id: event.id } }];
    case 'output.mismatched':
      if (state.phase.rateReported) return NOTHING;
      state.phase = { ...state.phase, rateReported: true };
      return fault(state, { code: 'output_rate_mismatch' }, now);
    case 'conversation.told':
      if (!state.phase.start.events.includes(event.message.type)) return NOTHING;
      return [{ type: 'send', message: event.message }];
  }
}

/** Whether a mark id may be sent (`mark_id_too_long` in docs/call-protocol.md, Errors). */
export function markFits(id: string): boolean {
  return utf8Bytes(id) <= callFieldLimits.markIdBytes;
}

// ---- Backpressure and time -------------------------------------------------------------------------------------------

function inputRefused(state: WsCallState, moved: boolean, now: Millis): readonly WsAction[] {
  const wasPaused = isPaused(state);
  if (state.inputRefusedAt === undefined || moved) state.inputRefusedAt = now;
  return wasPaused ? NOTHING : [{ type: 'reading.pause' }];
}

function inputDrained(state: WsCallState, now: Millis): readonly WsAction[] {
  if (state.inputRefusedAt === undefined) return NOTHING;
  state.inputRefusedAt = undefined;
  return readAgain(state, now);
}

/** Other calls are paced while the client waits; what it has sent stays in the network. */
function allowanceSpent(state: WsCallState, now: Millis): readonly WsAction[] {
  const wasPaused = isPaused(state);
  state.outranAt ??= now;
  return wasPaused ? NOTHING : [{ type: 'reading.pause' }];
}

function allowanceFilled(state: WsCallState, now: Millis): readonly WsAction[] {
  if (state.outranAt === undefined) return NOTHING;
  state.outranAt = undefined;
  return readAgain(state, now);
}

/** While nothing is read the client cannot prove that it lives, so its time starts again. */
function readAgain(state: WsCallState, now: Millis): readonly WsAction[] {
  if (isPaused(state)) return NOTHING;
  state.frameAt = now;
  return [{ type: 'reading.resume' }];
}

function timePassed(state: WsCallState, now: Millis): readonly WsAction[] {
  const { phase, settings } = state;
  if (phase.name === 'awaiting-start' && now >= phase.startBy) {
    return fault(state, { code: 'start_timeout' }, now);
  }
  if (state.outputStuckAt !== undefined && now >= state.outputStuckAt + settings.writeTimeoutMs) {
    return [...over(state, 'fault', { now }), { type: 'terminate' }];
  }
  if (state.inputRefusedAt !== undefined) {
    if (now >= state.inputRefusedAt + settings.sendTimeoutMs)
      return fault(state, { code: 'overloaded' }, now);
  } else if (!isPaused(state) && phase.name !== 'awaiting-start') {
    if (now >= state.frameAt + settings.pingTimeoutMs) return fault(state, { code: 'ping_timeout' }, now);
  }
  if (now < state.pingAt) return NOTHING;
  const pingAt = state.pingAt + settings.pingIntervalMs;
  state.pingAt = pingAt > now ? pingAt : now + settings.pingIntervalMs;
  return [{ type: 'ping' }];
}

// ---- Ends ------------------------------------------------------------------------------------------------------------

/** A fault as its row says; one more than the limit ends the call (`too_many_errors` in docs/call-protocol.md, Errors). */
function fault(state: WsCallState, what: CallFault, now: Millis): readonly WsAction[] {
  if (callErrors[what.code].fatal) return fatal(state, what, now);
  state.faults += 1;
  if (state.faults > callFieldLimits.faultsPerCall) return fatal(state, { code: 'too_many_errors' }, now);
  return [errorAction(what, false)];
}

function fatal(state: WsCallState, what: CallFault, now: Millis, end: WsEnd = 'fault'): readonly WsAction[] {
  const closeCode = what.closeCode ?? callErrors[what.code].closeCode;
  return [errorAction(what, true), ...over(state, end, { now, closeCode })];
}

function errorAction(what: CallFault, isFatal: boolean): WsAction {
  const message = what.message ?? callErrors[what.code].message;
  return { type: 'send', message: { type: 'error', code: what.code, message, fatal: isFatal } };
}

function stop(
  state: WsCallState,
  how: { readonly reason: 'ended' | 'shutdown'; readonly end: WsEnd; readonly now: Millis },
): readonly WsAction[] {
  const closeCode = how.reason === 'shutdown' ? 1001 : 1000;
  return [
    { type: 'send', message: { type: 'stop', reason: how.reason } },
    ...over(state, how.end, { now: how.now, closeCode }),
  ];
}

/** Ends the call for the engine. Without a close code the close frame is somebody else's business. */
function over(
  state: WsCallState,
  reason: WsEnd,
  how: { readonly now: Millis; readonly closeCode?: number },
): readonly WsAction[] {
  const actions: WsAction[] = [];
  if (how.closeCode !== undefined) actions.push({ type: 'close', code: how.closeCode });
  // The client's close frame can only be seen when the socket is read again.
  if (isPaused(state)) actions.push({ type: 'reading.resume' });
  state.phase = { name: 'closing', closeBy: how.now + state.settings.closeGraceMs };
  state.inputRefusedAt = undefined;
  state.outranAt = undefined;
  state.outputStuckAt = undefined;
  actions.push({ type: 'notify.ended', reason });
  return actions;
}

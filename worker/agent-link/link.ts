/**
 * The link of one call to its agent as a pure state machine (docs/reference/agent-link.md, How a call goes): takes one input, returns the
 * actions that follow. Time is an argument, deadlines are data. It decides nothing of the conversation: commands go to the core, which
 * answers them. Pure.
 *
 * Invariant: the agent is never waited for longer than connectMs + handshakeMs, no tool call is left without an outcome, and whatever an
 * agent does, the call goes on.
 */
import { present } from '../../shared/base/present.ts';
import type { Millis } from '../../shared/base/units.ts';
import { invalid, readFrame } from '../../shared/agent-link/decode.ts';
import { readAnswer, type ReadAccept } from '../../shared/agent-link/handshake.ts';
import { agentLinkCloseCodes as closeCodes, faultText } from '../../shared/agent-link/errors.ts';
import {
  AGENT_LINK_PROTOCOL,
  agentLinkBacklog,
  agentLinkLimits as limits,
  agentLinkTimes as times,
  agentLinkVersions,
  closeReasonBytes,
} from '../../shared/agent-link/limits.ts';
import { cutTo, lineOf } from '../../shared/agent-link/fields.ts';
import type { AgentLinkFault } from '../../shared/agent-link/errors.ts';
import type { ServiceMessageOf } from '../../shared/agent-link/service-messages.ts';
import { mayRead, mayReadAgain, mayTake, nextArrived, type Arrived } from './intake.ts';
import { answerCommand, onCommandText } from './link-commands.ts';
import { onClientSaid } from './link-client.ts';
import { report, say, wants, type LinkStep } from './link-say.ts';
import { giveUpCalls, onToolAbandoned, onToolRun } from './link-tools.ts';
import { brokenLink, type LinkInput, type LinkAction, type LinkState } from './link-state.ts';
import { messageOf } from './messages.ts';
import { oldestKept, reopen, replay, write } from './outbox.ts';

/** Takes one input. `bufferedBytes` are those that the agent's connection has not taken. */
export function stepLink(
  state: LinkState,
  input: LinkInput,
  { now, bufferedBytes }: { readonly now: Millis; readonly bufferedBytes: number },
): LinkAction[] {
  const actions: LinkAction[] = [];
  const send = (text: string): void => void actions.push({ type: 'send', text });
  if (state.phase.type === 'over') return actions;
  const step = { state, now, bufferedBytes, actions, send };
  take(step, input);
  if (state.phase.type === 'active' && bufferedBytes > agentLinkBacklog.closeBytes)
    leave(step, { code: 'too_slow' }, closeCodes.tooSlow);
  return actions;
}

function take(step: LinkStep, input: LinkInput): void {
  switch (input.type) {
    case 'call.began':
      connect(step);
      return;
    case 'socket.opened':
      onOpened(step);
      return;
    case 'socket.closed':
      onClosed(step, input.why);
      return;
    case 'text.received':
      onArrived(step, input.text);
      return;
    case 'binary.received':
      onArrived(step, undefined);
      return;
    case 'ping.received':
      onPing(step, input.data);
      return;
    case 'pong.received':
      heard(step);
      if (!mayRead(step.state.intake, step.now)) hold(step);
      return;
    case 'told':
      onTold(step, input.event);
      return;
    case 'client.said':
      onClientSaid(step, input.message);
      return;
    case 'tools.known':
      step.state.isTool = input.isTool;
      for (const rule of input.refused.slice(0, limits.handshakeProblems))
        report(step, { code: 'tool_refused', message: rule });
      return;
    case 'parts.refused':
      for (const rule of input.rules.slice(0, limits.handshakeProblems)) report(step, invalid(rule));
      return;
    case 'tool.run':
      onToolRun(step, input.call);
      return;
    case 'tool.abandoned':
      onToolAbandoned(step, input);
      return;
    case 'call.ended':
      onCallEnded(step, input.reason);
      return;
    case 'time.passed':
      onTime(step);
      return;
  }
}

// ---- what is written -----------------------------------------------------------------------------------------------

function onTold(step: LinkStep, event: Extract<LinkInput, { type: 'told' }>['event']): void {
  const { state } = step;
  if (event.type === 'command.answered') {
    answerCommand(step, event);
    return;
  }
  const message = messageOf(event);
  if (message !== undefined && wants(state, message.type)) say(step, message);
}

// ---- the handshake -------------------------------------------------------------------------------------------------

function connect(step: LinkStep): void {
  if (step.state.broken !== undefined) step.state.broken.attempts += 1;
  step.state.intake.isHeld = false;
  step.state.intake.ping = undefined;
  step.state.phase = { type: 'connecting', by: step.now + times.connectMs };
  step.actions.push({ type: 'connect' });
}

function onOpened(step: LinkStep): void {
  const { state, now } = step;
  if (state.phase.type !== 'connecting') return;
  state.phase = { type: 'handshaking', by: now + times.handshakeMs };
  const { outbox, broken } = state;
  if (broken !== undefined) reopen(outbox, now);
  // The message itself says which events are lost; the event follows the accept.
  const { metadata, ...message } = startOf(step);
  const { lost } = outbox;
  outbox.lost = 0;
  const isWhole = write(outbox, { ...message, ...(metadata && { metadata }) }, step) === 'written';
  // A client must not keep a call from its agent by what it says.
  if (!isWhole) write(outbox, message, step);
  outbox.lost = lost;
}

function startOf({ state, now }: LinkStep): ServiceMessageOf<'session.start'> {
  const { settings, outbox, broken } = state;
  const { sessionId, agent, capabilities, route, session, metadata, caller: call } = settings;
  const resume = broken && {
    attempt: broken.attempts,
    previous_seq: broken.upTo,
    down_ms: Math.max(0, Math.round(now - broken.since)),
    replay_from: oldestKept(outbox, broken.upTo),
    lost: outbox.lost,
    pending: [...state.calls.keys()],
  };
  return {
    type: 'session.start',
    protocol: AGENT_LINK_PROTOCOL,
    versions: [...agentLinkVersions],
    session_id: sessionId,
    agent,
    capabilities,
    ...present({ route, session, metadata, call, resume }),
  };
}

function onArrived(step: LinkStep, arrived: Arrived): void {
  const { state, now } = step;
  if (state.phase.type === 'handshaking') {
    if (arrived !== undefined) onAnswer(step, arrived);
    else failHandshake(step, faultText({ code: 'binary_frame' }), closeCodes.violation);
    return;
  }
  if (state.phase.type !== 'active') return;
  if (mayTake(state.intake, arrived, now)) takeIn(step, arrived);
  else hold(step);
}

function takeIn(step: LinkStep, arrived: Arrived): void {
  heard(step);
  if (arrived === undefined) {
    report(step, { code: 'binary_frame' });
    return;
  }
  const read = readFrame(arrived);
  if (read.ok) onCommandText(step, read.value);
  else report(step, read.error);
}

function onAnswer(step: LinkStep, text: string): void {
  const frame = readFrame(text);
  const answer = frame.ok
    ? readAnswer(frame.value, agentLinkVersions)
    : ({ kind: 'fault', fault: frame.error } as const);
  switch (answer.kind) {
    case 'accept':
      onAccept(step, answer.accept);
      return;
    case 'reject':
      onReject(step, answer);
      return;
    case 'fault':
      failHandshake(step, faultText(answer.fault), closeCodes.violation);
  }
}

function onAccept(step: LinkStep, accept: ReadAccept): void {
  const { state, now, actions } = step;
  const { broken, outbox } = state;
  state.phase = { type: 'active', heardAt: now, pingAt: now + times.pingIntervalMs };
  if (broken !== undefined) {
    state.broken = undefined;
    for (const pending of state.calls.values()) pending.isWritten = true;
    replay(outbox, { seen: accept.lastSeq, upTo: broken.upTo }, step);
    actions.push({ type: 'news', news: 'resumed', why: '' });
    return;
  }
  state.terms = { resume: accept.resume, ...(accept.events !== undefined && { events: accept.events }) };
  outbox.keeps = accept.resume;
  actions.push({ type: 'news', news: 'active', why: '' }, { type: 'call.prepared', accept });
  const { problems } = accept;
  for (const fault of problems.slice(0, limits.handshakeProblems)) report(step, fault);
  const more = problems.length - limits.handshakeProblems;
  if (more > 0) report(step, { code: 'too_many', message: `${more} more problems of the handshake` });
}

function onReject(step: LinkStep, { code, message }: { code: string; message: string }): void {
  const why = `rejected: ${lineOf(code, 64)} ${lineOf(message, 256)}`.trim();
  if (step.state.broken === undefined) failHandshake(step, why, closeCodes.normal);
  else {
    step.actions.push({ type: 'close', code: closeCodes.normal, reason: '' });
    goAlone(step, why);
  }
}

/** No agent answers as it should: a call that begins starts without it, a broken link is tried again. */
function failHandshake(step: LinkStep, why: string, code: number): void {
  step.actions.push({ type: 'close', code, reason: cutTo(why, closeReasonBytes) });
  if (step.state.broken === undefined) fallBack(step, why);
  else tryLater(step, why);
}

function fallBack(step: LinkStep, why: string): void {
  step.state.phase = { type: 'gone' };
  step.actions.push({ type: 'news', news: 'fallback', why }, { type: 'call.prepared', accept: undefined });
}

// ---- the link while the call runs ----------------------------------------------------------------------------------

function heard({ state, now }: LinkStep): void {
  if (state.phase.type === 'active') state.phase.heardAt = now;
}

/** An agent that sends more than is taken in at once is read more slowly, and told so once. */
function hold(step: LinkStep): void {
  const { intake } = step.state;
  if (intake.isHeld) return;
  intake.isHeld = true;
  step.actions.push({ type: 'read', isOn: false });
  if (intake.isTold) return;
  intake.isTold = true;
  step.actions.push({ type: 'news', news: 'slowed', why: faultText({ code: 'too_fast' }) });
  report(step, { code: 'too_fast' });
}

/** Of pings that come faster than they are answered only the newest counts. */
function onPing(step: LinkStep, data: Uint8Array): void {
  const { intake } = step.state;
  heard(step);
  if (mayRead(intake, step.now)) step.actions.push({ type: 'pong', data });
  else {
    intake.ping = data;
    hold(step);
  }
}

/** What was held back goes on as the allowance fills. */
function takeWaiting(step: LinkStep): void {
  const { state, now, actions } = step;
  const { intake } = state;
  if (!intake.isHeld && intake.waiting.length === 0) return;
  for (let next = nextArrived(intake, now); next !== undefined; next = nextArrived(intake, now))
    takeIn(step, next.arrived);
  if (!mayReadAgain(intake, now)) return;
  intake.isHeld = false;
  const { ping } = intake;
  intake.ping = undefined;
  if (ping !== undefined) actions.push({ type: 'pong', data: ping });
  actions.push({ type: 'read', isOn: true });
}

function onClosed(step: LinkStep, why: string): void {
  const { phase, broken } = step.state;
  if (phase.type === 'active') onBroken(step, why);
  else if (phase.type !== 'connecting' && phase.type !== 'handshaking') return;
  else if (broken === undefined) fallBack(step, why);
  else tryLater(step, why);
}

/** The connection of a call that runs is no more. */
function onBroken(step: LinkStep, why: string): void {
  const { state, now, actions } = step;
  if (state.terms?.resume !== true) {
    goAlone(step, why);
    return;
  }
  state.broken = brokenLink(now, state.outbox.seq);
  state.phase = { type: 'away', retryAt: now };
  actions.push({ type: 'news', news: 'broken', why });
}

function tryLater(step: LinkStep, why: string): void {
  const { state, now } = step;
  const { broken } = state;
  if (broken === undefined) return;
  const { pauseMs } = broken;
  broken.pauseMs = Math.min(pauseMs * 2, times.resumeLongestPauseMs);
  if (now + pauseMs >= broken.since + times.resumeLimitMs) goAlone(step, why);
  else state.phase = { type: 'away', retryAt: now + pauseMs };
}

/** The call goes on without its agent, for good. */
function goAlone(step: LinkStep, why: string): void {
  const { state, actions } = step;
  state.phase = { type: 'gone' };
  state.broken = undefined;
  state.outbox.waiting.length = 0;
  state.intake.waiting.length = 0;
  actions.push({ type: 'news', news: 'gone', why });
  giveUpCalls(step);
}

/** This side ends the link of a call that runs. */
function leave(step: LinkStep, fault: AgentLinkFault, code: number): void {
  step.actions.push({ type: 'close', code, reason: fault.code });
  goAlone(step, faultText(fault));
}

function onTime(step: LinkStep): void {
  const { state, now, actions } = step;
  takeWaiting(step);
  const { phase } = state;
  switch (phase.type) {
    case 'connecting':
      if (now >= phase.by) failHandshake(step, 'no connection in time', closeCodes.violation);
      return;
    case 'handshaking':
      if (now >= phase.by) failHandshake(step, 'no answer to the handshake in time', closeCodes.violation);
      return;
    case 'active':
      if (now >= phase.heardAt + times.downAfterMs) {
        actions.push({ type: 'close', code: closeCodes.violation, reason: 'agent_down' });
        onBroken(step, faultText({ code: 'agent_down' }));
      } else if (now >= phase.pingAt) {
        phase.pingAt = now + times.pingIntervalMs;
        actions.push({ type: 'ping' });
      }
      return;
    case 'away':
      if (now >= phase.retryAt) connect(step);
      return;
    default:
  }
}

function onCallEnded(step: LinkStep, reason: Extract<LinkInput, { type: 'call.ended' }>['reason']): void {
  const { state, actions } = step;
  const { phase } = state;
  if (phase.type === 'active' || phase.type === 'handshaking')
    write(
      state.outbox,
      {
        type: 'session.end',
        reason: state.ends > 0 && reason === 'call_ended' ? 'ended_by_agent' : reason,
      },
      step,
    );
  if (phase.type !== 'gone' && phase.type !== 'away' && phase.type !== 'idle')
    actions.push({ type: 'close', code: closeCodes.normal, reason: '' });
  state.phase = { type: 'over' };
  state.calls.clear();
}

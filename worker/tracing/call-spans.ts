/**
 * The spans of one call, read from what its core is told and orders: the call, its turns, requests to stages, runs of tools. It changes nothing. A
 * span is kept when it is over. A span that a dead worker had open is not, but for the call's own: the worker that takes the call up ends it.
 *
 * Invariant: at any time at most one turn is open, and what is asked for meanwhile is its child.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { TracedModels } from '../../shared/tracing/gen-ai.ts';
import type { CallObserver, CallStep, ObservedCall } from '../call/observer.ts';
import type { CallTrace } from '../call/trace.ts';
import type { ProviderNote } from '../stages/provider-note.ts';
import type { CallAction } from '../core/actions.ts';
import type { CallEvent } from '../core/events.ts';
import type { CallState } from '../core/state.ts';
import type { ConversationEvent } from '../core/told.ts';
import type { TransportEnd } from '../transports/transport.ts';
import { OpenSpan, type SpanSite, type SpanStart } from './open-span.ts';
import { StageSpans } from './stage-spans.ts';
import { newSpanId, turnSpanId } from './trace-ids.ts';

export interface CallSpansOptions {
  readonly trace: CallTrace;
  readonly start: ObservedCall['start'];
  readonly agent: string;
  readonly startedAt: Millis;
  readonly isResumed: boolean;
  readonly site: SpanSite;
  readonly models: TracedModels;
}

/** The key of a call's metadata under which the server says how it came. */
const transportKey = 'session.transport';
/** Of what an LLM made up as the name of a call; beyond that it is no id. */
const longestId = 128;

export class CallSpans implements CallObserver {
  readonly #options: CallSpansOptions;
  readonly #call: OpenSpan;
  readonly #stages: StageSpans;
  readonly #tools = new Map<number, { readonly span: OpenSpan; readonly parent: string }>();
  #turn: { readonly epoch: number; readonly span: OpenSpan } | undefined;
  /** Epochs up to this one may have a turn whose id is taken. */
  #lastEpoch = -1;
  #turns = 0;
  #interruptions = 0;

  constructor(options: CallSpansOptions) {
    this.#options = options;
    const { trace, start, agent, startedAt, isResumed } = options;
    this.#call = this.#open({
      spanId: trace.spanId,
      name: 'call',
      kind: 'server',
      startedAt,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': agent,
        'gen_ai.conversation.id': start.callId,
        'voice.call.id': start.callId,
        'voice.call.session_id': start.sessionId,
        'voice.call.route': start.route,
        'voice.call.transport': start.metadata[transportKey] ?? 'websocket',
        'voice.call.sample_rate': start.sampleRate,
        'voice.call.taken_up': isResumed ? true : undefined,
      },
    });
    this.#stages = new StageSpans({
      conversation: start.callId,
      models: options.models,
      open: (span) => this.#open(span),
      parent: () => this.#turn?.span.spanId ?? trace.spanId,
    });
  }

  begins({ state, now }: { readonly state: CallState; readonly now: Millis }): void {
    const { epoch } = state.numbers;
    if (!this.#options.isResumed) return;
    // The turn that the other worker had open goes on under its id, so that what is exported of it has a parent.
    if (state.delivery.response !== undefined) this.#openTurn(epoch, now, 'caller');
    this.#lastEpoch = epoch;
  }

  stepped({ fact, orders, now }: CallStep): void {
    this.#hear(fact, now);
    for (const order of orders) {
      if (order.type === 'told') this.#follow(order.event, now);
      else this.#perform(order, now);
    }
  }

  /** What a provider was asked, or has answered, for this call. */
  note(note: ProviderNote, now: Millis): void {
    this.#stages.note(note, now);
  }

  ended(end: TransportEnd, now: Millis): void {
    this.#stages.end(now);
    for (const key of [...this.#tools.keys()])
      this.#endTool(key, now, { 'voice.tool.abandoned': 'call_over' });
    this.#endTurn(now, 'call_over');
    this.#call.set({
      'voice.call.end': end,
      'voice.call.turns': this.#turns,
      'voice.call.interruptions': this.#interruptions,
    });
    if (end === 'fault') this.#call.fail('fault');
    this.#call.end(now, this.#options.trace.parentSpanId);
  }

  #open(span: SpanStart): OpenSpan {
    return new OpenSpan(span, this.#options.site);
  }

  #hear(fact: CallEvent, now: Millis): void {
    if (fact.type === 'tool.settled') {
      const { outcome } = fact;
      const span = this.#tools.get(fact.key)?.span;
      if (outcome.kind === 'failed') span?.fail(outcome.transport ? 'unreachable' : 'tool_error');
      this.#endTool(fact.key, now);
      return;
    }
    this.#stages.hear(fact, now);
  }

  #perform(order: Exclude<CallAction, { type: 'told' }>, now: Millis): void {
    switch (order.type) {
      case 'tool.run':
        this.#runTool(order, now);
        return;
      case 'tool.abandon':
        this.#endTool(order.key, now, { 'voice.tool.abandoned': order.reason });
        return;
      default:
        this.#stages.perform(order, now);
    }
  }

  #runTool({ key, attempt, call }: Extract<CallAction, { type: 'tool.run' }>, now: Millis): void {
    this.#endTool(key, now);
    const span = this.#open({
      spanId: this.#options.trace.toolSpanId({ key, attempt }),
      name: `execute_tool ${call.name}`,
      kind: 'internal',
      startedAt: now,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': call.name,
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': call.id.slice(0, longestId),
        'gen_ai.conversation.id': this.#options.start.callId,
        'voice.tool.attempt': attempt,
      },
    });
    this.#tools.set(key, { span, parent: this.#turn?.span.spanId ?? this.#call.spanId });
  }

  #endTool(key: number, now: Millis, attributes: Record<string, string> = {}): void {
    const run = this.#tools.get(key);
    if (run === undefined) return;
    this.#tools.delete(key);
    run.span.set(attributes);
    run.span.end(now, run.parent);
  }

  #follow(event: ConversationEvent, now: Millis): void {
    switch (event.type) {
      case 'turn.user_started':
        this.#openTurn(event.epoch, now, 'caller');
        return;
      case 'turn.user_ended':
        this.#turn?.span.add('user_ended', now);
        return;
      case 'turn.bot_started':
        if (this.#turn === undefined) this.#openTurn(event.epoch, now, 'agent');
        this.#turn?.span.add('bot_started', now);
        return;
      case 'turn.bot_ended':
        if (this.#turn !== undefined && this.#turn.epoch <= event.epoch) this.#endTurn(now, 'answered');
        return;
      case 'turn.interrupted':
        this.#interruptions += 1;
        if (this.#turn !== undefined && this.#turn.epoch < event.epoch) this.#endTurn(now, 'interrupted');
        return;
      case 'turn.measured':
        this.#turns += 1;
        this.#measured(event);
        return;
      case 'fault.noticed':
        (this.#turn?.span ?? this.#call).add('fault', now, { stage: event.stage, what: event.what });
        if (event.stage !== 'call') this.#stages.failed(event.stage, event.what);
        return;
      case 'agent.changed':
        this.#call.add('agent', now, { 'voice.agent': event.agent });
        return;
      case 'node.entered':
        this.#call.add('node', now, { 'voice.flow.node': event.node });
        return;
      default:
    }
  }

  #measured({ times }: Extract<ConversationEvent, { type: 'turn.measured' }>): void {
    this.#turn?.span.set({
      'voice.turn.end_of_turn_ms': Math.round(times.endOfTurnMs),
      'voice.turn.stt_final_ms': Math.round(times.sttFinalMs),
      'voice.turn.llm_ttft_ms': Math.round(times.llmTtftMs),
      'voice.turn.tts_ttfb_ms': Math.round(times.ttsTtfbMs),
      'voice.turn.wire_ms': Math.round(times.wireMs),
      'voice.turn.response_ms': Math.round(times.responseMs),
      'voice.turn.filled': times.filled,
    });
  }

  #openTurn(epoch: number, now: Millis, by: 'caller' | 'agent'): void {
    this.#endTurn(now, 'left');
    const isFirst = epoch > this.#lastEpoch;
    this.#lastEpoch = Math.max(this.#lastEpoch, epoch);
    const span = this.#open({
      spanId: isFirst ? turnSpanId(this.#options.start.callId, epoch) : newSpanId(),
      name: 'turn',
      kind: 'internal',
      startedAt: now,
      attributes: {
        'voice.turn.epoch': epoch,
        'voice.turn.by': by,
        'gen_ai.conversation.id': this.#options.start.callId,
      },
    });
    this.#turn = { epoch, span };
  }

  #endTurn(now: Millis, outcome: 'answered' | 'interrupted' | 'left' | 'call_over'): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    // A child is told its parent when it is over, and those that were asked for in this turn are its children.
    this.#stages.settleParents();
    turn.span.set({ 'voice.turn.outcome': outcome });
    turn.span.end(now, this.#call.spanId);
    this.#turn = undefined;
  }
}

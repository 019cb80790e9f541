/**
 * Requests to STT, LLM and TTS as spans. A request that is no longer wanted ends as `cancelled`; the caller's words, the prompt and the answer
 * are in none of them.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { StageName } from '../../shared/config/stages/declaration.ts';
import type { ProviderNote } from '../stages/provider-note.ts';
import type { AttributeValue } from '../../shared/runtime/otlp/otlp-json.ts';
import { realtimeSpan, usageNames, type TracedModels } from '../../shared/tracing/gen-ai.ts';
import type { CallAction } from '../core/actions.ts';
import type { CallEvent } from '../core/events.ts';
import type { FaultKind } from '../core/told.ts';
import type { OpenSpan, SpanStart } from './open-span.ts';
import { newSpanId } from './trace-ids.ts';

export interface StageSpansOptions {
  readonly conversation: string;
  readonly models: TracedModels;
  readonly open: (span: SpanStart) => OpenSpan;
  /** The span that a request belongs to that is made, or ends, now. */
  readonly parent: () => string;
}

interface Request {
  readonly span: OpenSpan;
  /** Absent while no turn was open since it was made. */
  parent?: string;
}

const chatSpan = (
  model: string | undefined,
  conversation: string,
): { readonly name: string; readonly attributes: Readonly<Record<string, AttributeValue | undefined>> } => ({
  name: model === undefined ? 'chat' : `chat ${model}`,
  attributes: {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': model,
    'gen_ai.request.stream': true,
    'gen_ai.output.type': 'text',
    'gen_ai.conversation.id': conversation,
  },
});

/** Names of the conventions for what a provider counted. */
const usage: Readonly<Record<string, string>> = usageNames;

export class StageSpans {
  readonly #options: StageSpansOptions;
  readonly #open = new Map<StageName, Request>();
  /** Who served a stage last: a session may be opened long before its first request. */
  readonly #providers = new Map<StageName, Readonly<Record<string, AttributeValue>>>();
  #round = -1;
  #context = -1;
  #finalizeAt: Millis | undefined;

  constructor(options: StageSpansOptions) {
    this.#options = options;
  }

  note(note: ProviderNote, now: Millis): void {
    const { stage, role, provider } = note;
    // A model that speaks by itself answers in the place of the LLM.
    const request = stage === 'realtime' ? 'llm' : stage;
    const span = this.#open.get(request)?.span;
    if (note.what === 'failed') span?.add('provider_failed', now, { role, provider, kind: note.kind });
    else if (note.what === 'replaced') span?.add('provider_replaced', now, { role, provider, by: note.by });
    else if (note.what === 'spent') {
      const name = usage[note.unit];
      if (name !== undefined && note.isLate !== true) span?.set({ [name]: note.amount });
    } else {
      const attributes = { 'gen_ai.provider.name': provider, 'voice.provider.role': role };
      this.#providers.set(request, attributes);
      if (span === undefined) return;
      span.set(attributes);
      if (request === 'llm') this.#nameAnswer(span, note);
    }
  }

  /** The provider that answers is known when one is asked, and may change within one request. */
  #nameAnswer(span: OpenSpan, { stage, session }: Extract<ProviderNote, { what: 'requested' }>): void {
    const { conversation, models } = this.#options;
    const isSpeaking = stage === 'realtime' && models.realtime !== undefined;
    const { name, attributes } = isSpeaking
      ? realtimeSpan({ ...models.realtime, conversation, session })
      : chatSpan(models.llm, conversation);
    span.rename(name);
    span.set(attributes);
  }

  /** The core has noticed that a stage did not do what it owed. */
  failed(stage: StageName, what: FaultKind): void {
    this.#open.get(stage)?.span.fail(what);
  }

  perform(order: CallAction, now: Millis): void {
    switch (order.type) {
      case 'stt.listen':
        if (order.fresh) this.#end('stt', now, { 'voice.cancelled': true });
        if (!this.#open.has('stt')) this.#begin('stt', now, { name: 'stt', attributes: {} });
        return;
      case 'stt.finalize':
        this.#finalizeAt = now;
        return;
      case 'llm.start':
        this.#askLlm(order, now);
        return;
      case 'llm.cancel':
        this.#end('llm', now, { 'voice.cancelled': true });
        return;
      case 'tts.speak':
        this.#speak(order, now);
        return;
      case 'tts.cancel':
        if (order.context === this.#context) this.#end('tts', now, { 'voice.cancelled': true });
        return;
      default:
    }
  }

  hear(fact: CallEvent, now: Millis): void {
    switch (fact.type) {
      case 'stt.finalized':
        this.#end('stt', now, {
          'voice.stt.final_ms':
            this.#finalizeAt === undefined ? undefined : Math.round(now - this.#finalizeAt),
        });
        this.#finalizeAt = undefined;
        return;
      case 'stt.failed':
        this.#fail('stt', now);
        return;
      case 'llm.text':
        if (fact.round === this.#round) this.#first('llm', 'gen_ai.response.time_to_first_chunk', now);
        return;
      case 'llm.done':
        if (fact.round === this.#round)
          this.#end('llm', now, { 'gen_ai.response.finish_reasons': [fact.finish] });
        return;
      case 'llm.failed':
        if (fact.round === this.#round) this.#fail('llm', now);
        return;
      case 'playout.started':
        if (fact.context === this.#context)
          this.#first('tts', 'voice.tts.time_to_first_audio', Math.min(now, fact.audioAt));
        return;
      case 'tts.flushed':
        if (fact.context === this.#context)
          this.#end('tts', now, { 'voice.tts.audio_ms': Math.round(fact.audioMs) });
        return;
      case 'tts.failed':
        this.#fail('tts', now);
        return;
      default:
    }
  }

  /** The turn ends: what was asked for in it keeps it as its parent. */
  settleParents(): void {
    const parent = this.#options.parent();
    for (const request of this.#open.values()) request.parent ??= parent;
  }

  end(now: Millis): void {
    for (const stage of [...this.#open.keys()]) this.#end(stage, now, { 'voice.cancelled': true });
  }

  #askLlm({ round, epoch, tools }: Extract<CallAction, { type: 'llm.start' }>, now: Millis): void {
    const { models, conversation } = this.#options;
    const { name, attributes } = chatSpan(models.llm, conversation);
    this.#end('llm', now, { 'voice.cancelled': true });
    this.#round = round;
    this.#begin('llm', now, {
      name,
      attributes: { ...attributes, 'voice.turn.epoch': epoch, 'voice.llm.tools_offered': tools.length },
    });
  }

  #speak({ context, text, recorded }: Extract<CallAction, { type: 'tts.speak' }>, now: Millis): void {
    // The announcement is played, and nobody is asked for it.
    if (recorded === true) return;
    if (context !== this.#context || !this.#open.has('tts')) {
      this.#end('tts', now, { 'voice.cancelled': true });
      this.#context = context;
      this.#begin('tts', now, { name: 'tts', attributes: { 'gen_ai.output.type': 'speech' } });
    }
    this.#open.get('tts')?.span.add('piece', now, { 'voice.tts.characters': text.length });
  }

  #begin(stage: StageName, now: Millis, span: Pick<SpanStart, 'name' | 'attributes'>): void {
    const opened = this.#options.open({
      spanId: newSpanId(),
      kind: 'client',
      startedAt: now,
      name: span.name,
      attributes: { 'voice.stage': stage, ...this.#providers.get(stage), ...span.attributes },
    });
    this.#open.set(stage, { span: opened });
  }

  #first(stage: StageName, key: string, at: Millis): void {
    const span = this.#open.get(stage)?.span;
    if (span === undefined) return;
    const seconds = Math.max(0, Math.round(at - span.startedAt)) / 1000;
    span.setFirst(key, { double: seconds });
  }

  #fail(stage: StageName, now: Millis): void {
    this.#open.get(stage)?.span.fail('failed');
    this.#end(stage, now);
  }

  #end(
    stage: StageName,
    now: Millis,
    attributes: Readonly<Record<string, AttributeValue | undefined>> = {},
  ): void {
    const request = this.#open.get(stage);
    if (request === undefined) return;
    this.#open.delete(stage);
    request.span.set(attributes);
    request.span.end(now, request.parent ?? this.#options.parent());
  }
}

/** What becomes of a call's spans where it does not go as planned: cut answers, failures, tools that are given up, another worker. */
import { describe, expect, it } from 'vitest';
import type { Span } from '../../../shared/runtime/otlp/otlp-json.ts';
import type { CallAction } from '../../../worker/core/actions.ts';
import type { CallEvent } from '../../../worker/core/events.ts';
import { newCall } from '../../../worker/core/state.ts';
import type { ConversationEvent } from '../../../worker/core/told.ts';
import { CallSpans } from '../../../worker/tracing/call-spans.ts';
import { newTraceOf } from '../../../worker/tracing/trace-ids.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';

const start = {
  callId: 'a call',
  sessionId: 's',
  at: 0,
  sampleRate: 16_000,
  encoding: 'pcm16',
  metadata: {},
} as const;
const told = (event: ConversationEvent): CallAction => ({ type: 'told', event });
const nothing: CallEvent = { type: 'deadline.reached' };

function newSpans({ isResumed = false } = {}) {
  const kept: Span[] = [];
  const trace = newTraceOf({ followsParent: true, ratio: 1 })(start);
  const spans = new CallSpans({
    ...{
      trace,
      start,
      agent: 'desk',
      models: { llm: 'm', realtime: { model: 'r', output: 'audio' } },
      startedAt: 0,
      isResumed,
    },
    site: { traceId: trace.traceId, toWallMs: (now) => now, keep: (span) => kept.push(span) },
  });
  const state = newCall(scriptSettings);
  let now = 0;
  const step = (orders: readonly CallAction[], fact: CallEvent = nothing): void => {
    now += 100;
    spans.stepped({ fact, orders, now, state });
  };
  const named = (name: string): Span[] => kept.filter((span) => span.name === name);
  return { spans, state, step, kept, named, end: () => spans.ended('hangup', now + 100) };
}

const ask: CallAction = { type: 'llm.start', epoch: 1, round: 1, messages: [], tools: [] };
const begun = told({ type: 'turn.user_started', epoch: 1 });

describe('spans', () => {
  it('of an answer that was cut say so, and belong to its turn', () => {
    const { step, named, end } = newSpans();
    step([begun]);
    step([ask, { type: 'tts.speak', context: 1, text: 'One.' }]);
    step([told({ type: 'turn.bot_started', epoch: 1 })]);
    step([
      told({ type: 'turn.interrupted', epoch: 2 }),
      { type: 'llm.cancel' },
      { type: 'tts.cancel', context: 1 },
      told({ type: 'turn.user_started', epoch: 2 }),
    ]);
    end();
    const [cut, next] = named('turn');
    expect(cut!.attributes).toMatchObject({ 'voice.turn.epoch': 1, 'voice.turn.outcome': 'interrupted' });
    expect(next!.attributes).toMatchObject({ 'voice.turn.epoch': 2, 'voice.turn.outcome': 'call_over' });
    for (const name of ['chat m', 'tts'])
      expect(named(name)[0]).toMatchObject({
        ...{ parentSpanId: cut!.spanId, isError: false, attributes: { 'voice.cancelled': true } },
      });
    expect(named('call')[0]!.attributes).toMatchObject({ 'voice.call.interruptions': 1 });
  });

  it('of a failed request are errors, with the providers that failed on the way', () => {
    const { spans, step, named, end } = newSpans();
    step([begun, ask]);
    const of = { stage: 'llm', role: 'primary', provider: 'chat_compatible' } as const;
    spans.note({ ...of, what: 'requested' }, 250);
    spans.note({ ...of, what: 'failed', kind: 'rejected' }, 260);
    step([], { type: 'llm.failed', round: 1 });
    end();
    const [chat] = named('chat m');
    expect(chat).toMatchObject({
      ...{ isError: true, attributes: { 'error.type': 'failed', 'gen_ai.provider.name': 'chat_compatible' } },
      events: [{ name: 'provider_failed', at: 260 }],
    });
  });

  it('of answers of a model that speaks are named so, and by the LLM where that answers', () => {
    const { spans, step, named, end } = newSpans();
    const model = { stage: 'realtime', role: 'primary', provider: 'gemini_live' } as const;
    step([begun, ask]);
    spans.note({ ...model, what: 'requested', session: 's1' }, 110);
    // That of an answer that was cut before is not this one's.
    spans.note({ ...model, what: 'spent', unit: 'output_tokens', amount: 99, isLate: true }, 115);
    spans.note({ ...model, what: 'spent', unit: 'audio_input_tokens', amount: 7 }, 120);
    step([], { type: 'llm.done', round: 1, finish: 'stop', toolCalls: [], reasoning: undefined });
    step([{ ...ask, round: 2 }]);
    spans.note({ ...model, what: 'requested', session: 's2' }, 310);
    spans.note({ ...model, what: 'failed', kind: 'timeout' }, 320);
    spans.note({ ...model, what: 'replaced', by: 'chat_compatible' }, 320);
    spans.note({ ...model, stage: 'llm', provider: 'chat_compatible', what: 'requested' }, 321);
    end();
    const [answer] = named('realtime_inference r');
    expect(answer!.attributes).toMatchObject({
      'gen_ai.operation.name': 'realtime_inference',
      'gen_ai.provider.name': 'gemini_live',
      'gen_ai.realtime_session.id': 's1',
      'gen_ai.output.type': 'speech',
      'gen_ai.usage.audio.input_tokens': 7,
    });
    expect(answer!.attributes).not.toHaveProperty(['gen_ai.usage.output_tokens']);
    expect(named('chat m')[0]).toMatchObject({
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'chat_compatible' },
      events: [{ name: 'provider_failed' }, { name: 'provider_replaced' }],
    });
  });

  it('of tools end with what came of them', () => {
    const { step, named, end } = newSpans();
    const run = (key: number): CallAction => ({
      ...{ type: 'tool.run', key, attempt: 1, epoch: 1, idempotencyKey: '0'.repeat(16), timeoutMs: 1 },
      call: { id: `c${key}`, name: 'look', arguments: '{"secret":1}' },
    });
    step([begun, run(1), run(2), run(3)]);
    const failed = { kind: 'failed', message: 'secret', transport: true } as const;
    step([{ type: 'tool.abandon', key: 2, reason: 'timeout' }], {
      ...{ type: 'tool.settled', key: 1, attempt: 1, outcome: failed },
    });
    end();
    const tools = named('execute_tool look');
    expect(tools.map(({ isError, attributes }) => [isError, attributes['voice.tool.abandoned']])).toEqual([
      [true, undefined],
      [false, 'timeout'],
      [false, 'call_over'],
    ]);
    expect(JSON.stringify(tools)).not.toContain('secret');
  });

  it('of a call that was taken up go on under the ids that it had', () => {
    const [first, second] = [newSpans(), newSpans({ isResumed: true })];
    first.step([begun, ask]);
    first.step([told({ type: 'turn.bot_ended', epoch: 1 })]);
    second.spans.begins({ state: second.state, now: 0 });
    second.end();
    expect(second.named('call')[0]!.attributes).toMatchObject({ 'voice.call.taken_up': true });
    first.end();
    expect(second.named('call')[0]!.spanId).toBe(first.named('call')[0]!.spanId);
    expect(new Set(first.kept.map(({ spanId }) => spanId)).size).toBe(first.kept.length);
  });
});

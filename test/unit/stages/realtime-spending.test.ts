/** What answers of speaking models cost, on its way into metrics and traces. */
import { describe, expect, it } from 'vitest';
import { newWorkerMetrics } from '../../../shared/runtime/metrics.ts';
import { realtimeSpan, usageNames } from '../../../shared/tracing/gen-ai.ts';
import { newProviderMeter } from '../../../worker/stages/failover/metering.ts';
import type { ProviderNote } from '../../../worker/stages/provider-note.ts';
import type { RealtimeUsage } from '../../../worker/stages/realtime/contract.ts';
import { spendAnswer } from '../../../worker/stages/realtime/spending.ts';

const usage: RealtimeUsage = {
  inputTokens: 132,
  outputTokens: 121,
  cachedTokens: 64,
  inputAudioTokens: 13,
  outputAudioTokens: 91,
  cachedAudioTokens: 12,
  reasoningTokens: 7,
};

const amounts = {
  input_tokens: 132,
  output_tokens: 121,
  cached_tokens: 64,
  reasoning_tokens: 7,
  text_input_tokens: 119,
  audio_input_tokens: 13,
  text_output_tokens: 30,
  audio_output_tokens: 91,
  text_cached_tokens: 52,
  audio_cached_tokens: 12,
};

function spent(usages: readonly RealtimeUsage[]) {
  const metrics = newWorkerMetrics();
  const notes: ProviderNote[] = [];
  const place = { stage: 'realtime', role: 'primary', provider: 'gemini_live' } as const;
  const meter = newProviderMeter({
    ...place,
    metrics,
    requested: () => undefined,
    failed: () => undefined,
    noted: (note) => notes.push(note),
  });
  for (const one of usages) spendAnswer(meter, one);
  return { metrics, notes };
}

describe('what an answer of a speaking model cost', () => {
  it('is counted by what it is made of, with parts that add up to their totals', async () => {
    const { metrics } = spent([usage, usage]);
    const { values } = await metrics.providerUnits.get();
    expect(Object.fromEntries(values.map(({ labels, value }) => [labels.unit, value]))).toEqual(
      Object.fromEntries(Object.entries(amounts).map(([unit, amount]) => [unit, 2 * amount])),
    );
    expect(
      values.every(({ labels }) => labels.stage === 'realtime' && labels.provider === 'gemini_live'),
    ).toBe(true);
  });

  it('has a name in traces for every unit', () => {
    const { notes } = spent([usage]);
    const units = notes.flatMap((note) => (note.what === 'spent' ? [note.unit] : []));
    expect(Object.keys(usageNames).toSorted()).toEqual(units.toSorted());
    expect(new Set(Object.values(usageNames)).size).toBe(units.length);
  });

  it('is never less than nothing, whatever a provider counts', () => {
    const { notes } = spent([{ ...usage, inputTokens: 5, inputAudioTokens: 9 }]);
    expect(notes.some((note) => note.what === 'spent' && note.amount < 0)).toBe(false);
  });
});

describe('the span of an answer', () => {
  it('is named after the model and says in which session it was made', () => {
    expect(
      realtimeSpan({ model: 'gemini-3.8-live', conversation: 'c', session: 's', output: 'audio' }),
    ).toEqual({
      name: 'realtime_inference gemini-3.8-live',
      attributes: {
        'gen_ai.operation.name': 'realtime_inference',
        'gen_ai.request.model': 'gemini-3.8-live',
        'gen_ai.output.type': 'speech',
        'gen_ai.conversation.id': 'c',
        'gen_ai.realtime_session.id': 's',
      },
    });
    const nameless = realtimeSpan({
      model: undefined,
      conversation: 'c',
      session: undefined,
      output: 'text',
    });
    expect(nameless.name).toBe('realtime_inference');
    expect(nameless.attributes['gen_ai.output.type']).toBe('text');
  });
});

import { describe, expect, it } from 'vitest';
import { newSupervisorMetrics } from '../../../shared/runtime/metrics.ts';
import { ProviderWatch } from '../../../supervisor/service/provider-watch.ts';
import { newMailboxes } from '../../support/audio/mailboxes.ts';

const names = {
  stt: { primary: 'stt_cloud_a' },
  llm: { primary: 'llm_responses', secondary: 'llm_messages' },
  tts: { primary: 'tts_cloud_a', secondary: 'speech_compatible' },
};

describe('what the supervisor knows of providers', () => {
  it('is which of them were asked, primary and secondary apart, since the last time', () => {
    const boxes = newMailboxes({ workers: 2, slotsPerWorker: 1, ringFrames: 16, threads: 1 });
    const watch = new ProviderWatch(names, boxes);
    const taken = (): string[] => {
      const found: string[] = [];
      watch.countRequests((provider, count) => void found.push(`${provider} ${count}`));
      return found;
    };
    boxes.countRequest(0, 'llm', 'primary');
    boxes.countRequest(1, 'llm', 'primary');
    boxes.countRequest(1, 'llm', 'secondary');
    boxes.countRequest(0, 'tts', 'secondary');
    expect(taken()).toEqual(['llm_responses 2', 'llm_messages 1', 'speech_compatible 1']);
    boxes.countRequest(0, 'stt', 'primary');
    expect(taken()).toEqual(['stt_cloud_a 1']);
    expect(taken()).toEqual([]);
  });

  it('is which of them a new call would use: a secondary where the primary is left alone', () => {
    const boxes = newMailboxes();
    const watch = new ProviderWatch(names, boxes);
    expect(watch.inUse(1_000)).toEqual(['stt_cloud_a', 'llm_responses', 'tts_cloud_a']);
    for (const stage of ['stt', 'llm'] as const) {
      const breaker = boxes.breakers.of(stage, 'primary');
      breaker.failed(breaker.ask(1_000)!, 1_000, { pauseMs: 5_000 });
    }
    // A stage without a secondary keeps its provider.
    expect(watch.inUse(2_000)).toEqual(['stt_cloud_a', 'llm_messages', 'tts_cloud_a']);
    expect(watch.inUse(6_000)).toEqual(['stt_cloud_a', 'llm_responses', 'tts_cloud_a']);
  });

  it('shows the breakers as gauges', async () => {
    const boxes = newMailboxes();
    const breaker = boxes.breakers.of('tts', 'secondary');
    breaker.failed(breaker.ask(1_000)!, 1_000, { pauseMs: 5_000 });
    const metrics = newSupervisorMetrics();
    new ProviderWatch(names, boxes).readGauges(metrics, 2_000);
    const text = await metrics.registry.metrics();
    const labels = 'stage="tts",role="secondary",provider="speech_compatible"';
    expect(text).toContain(`svc_provider_breaker_state{${labels}} 2`);
    expect(text).toContain(`svc_provider_breaker_opened{${labels}} 1`);
    expect(text.match(/^svc_provider_breaker_state\{/gm)).toHaveLength(5);
  });

  it('shows that of a model that speaks as well, which is asked in no budget', async () => {
    const boxes = newMailboxes();
    const breaker = boxes.breakers.of('realtime', 'primary');
    breaker.failed(breaker.ask(1_000)!, 1_000, { pauseMs: 5_000 });
    const watch = new ProviderWatch({ realtime: { primary: 'openai_realtime' } }, boxes);
    const metrics = newSupervisorMetrics();
    watch.readGauges(metrics, 2_000);
    const labels = 'stage="realtime",role="primary",provider="openai_realtime"';
    expect(await metrics.registry.metrics()).toContain(`svc_provider_breaker_state{${labels}} 2`);
    expect(watch.rows(2_000)).toMatchObject([{ stage: 'realtime', breaker: 'open' }]);
    expect(watch.inUse(2_000)).toEqual([]);
  });
});

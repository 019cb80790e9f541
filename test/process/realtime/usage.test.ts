/** What calls of a speaking model cost and how long they take, in the record of the call and in metrics. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import type { CallRecord } from '../../../shared/calls/record.ts';
import { KeptRecords } from '../../support/calls/kept.ts';
import { FakeOpenAiRealtime, usage } from '../../support/fakes/fake-openai-realtime.ts';
import { TestService } from '../../support/process/service.ts';

const asked = 'could you tell me what time it is please';
const kept = new KeptRecords();
let vendor: FakeOpenAiRealtime;
let service: TestService;
let question: Int16Array;

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite(asked, { voice: 'slt', speed: 1 });
});
afterAll(() => kept.remove());
beforeEach(async () => {
  vendor = new FakeOpenAiRealtime();
  await vendor.start();
  service = await TestService.start({
    workers: 1,
    tables: `
[realtime]
provider = "openai_realtime"
api_key_env = "MODEL_KEY"
[realtime.openai_realtime]
base_url = "${vendor.baseUrl}"
`,
    env: { MODEL_KEY: 'k', ...kept.env },
  });
});
afterEach(async () => {
  await service.stop();
  await vendor.close();
});

async function ask(call: CallClient): Promise<void> {
  service.providers.stt.utterances.push(asked);
  await call.say(question);
  await call.next((event) => event.type === 'mark-played');
}

const recordOf = async (call: CallClient): Promise<CallRecord> => {
  await call.hangUp();
  return kept.of(call.callId);
};

describe('the record of a call', () => {
  it('has what its model was given and made, by what it is made of', async () => {
    vendor.replies.push({ items: [{ speech: 'It is noon.' }] }, { items: [{ speech: 'Still noon.' }] });
    const call = await service.call();
    await ask(call);
    await ask(call);
    const record = await recordOf(call);
    const { seconds, ...units } = record.usage.by_stage.realtime!;
    expect(units).toEqual({
      input_tokens: 2 * usage.input_tokens!,
      output_tokens: 2 * usage.output_tokens!,
      ...{ cached_tokens: 128, text_input_tokens: 238, audio_input_tokens: 26 },
      ...{ text_output_tokens: 60, audio_output_tokens: 182 },
      ...{ text_cached_tokens: 104, audio_cached_tokens: 24 },
    });
    // What was said, twice, with what goes before and behind it.
    expect(seconds).toBeGreaterThan((2 * question.length * 0.8) / 16_000);
    expect(record.usage.by_provider.find(({ stage }) => stage === 'realtime')).toMatchObject({
      provider: 'openai_realtime',
      model: 'gpt-realtime-2.1',
    });
    expect(record.usage.by_stage.llm).toBeUndefined();
    expect(record).toMatchObject({ mode: 'realtime', failovers: [] });
    const series = 'stage="realtime",role="primary",provider="openai_realtime",unit="audio_output_tokens"';
    expect(await service.metric(`svc_provider_units_total{${series}}`)).toBe(182);
  });

  it('has times of turns that add up, and what was heard', async () => {
    vendor.replies.push({ items: [{ speech: 'It is noon.', ms: 1_000 }] });
    const call = await service.call();
    await ask(call);
    const { turns, transcript } = await recordOf(call);
    const [turn] = turns.filter(({ latency }) => latency !== undefined);
    const { response_ms, ...parts } = turn!.latency!;
    expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBe(response_ms);
    expect(transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      `caller: ${asked}`,
      'agent: It is noon.',
    ]);
  });

  it('says that others answered where the model did not', async () => {
    vendor.refuseWith = 401;
    const call = await service.call();
    await ask(call);
    const record = await recordOf(call);
    expect(record.failovers).toMatchObject([{ stage: 'realtime', to: 'chat_compatible' }]);
    expect(record.mode).toBe('cascade');
  });
});

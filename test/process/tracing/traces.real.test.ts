/** Traces of real calls as a collector gets them: one tree for each call, whatever happens to its worker, and nothing that anybody said. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { answer, toolCall } from '../../support/fakes/fake-chat.ts';
import { deployTools, toolsMissing } from '../../support/chart.ts';
import {
  complaintsOfOtlp,
  FakeCollector,
  type CollectedSpan,
} from '../../support/telemetry/fake-collector.ts';
import { FakeHttpServer, reply, silence } from '../../support/fakes/fake-http.ts';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';

let service: TestService;
let collector: FakeCollector;
let shop: FakeHttpServer;
let question: Int16Array;

const greeting = 'Good morning.';

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 });
});

async function open(): Promise<void> {
  collector = new FakeCollector();
  shop = new FakeHttpServer(
    reply({ headers: { 'content-type': 'application/json' }, chunks: ['{"open":true}'] }),
  );
  await Promise.all([collector.start(), shop.start()]);
}

async function close(): Promise<void> {
  await service.stop();
  await Promise.all([collector.close(), shop.close()]);
}

async function start(options: TestServiceOptions = {}): Promise<void> {
  service = await TestService.start({
    greeting,
    agent: `[[tools]]
name = "opening"
description = "Whether the shop is open"
[tools.parameters]
type = "object"
properties = { day = { type = "string" } }
[tools.http]
method = "POST"
url = "${shop.baseUrl}/opening"
allow_private = true`,
    ...options,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=s3cret-key',
      OTEL_SERVICE_NAME: 'harbour',
      ...options.env,
    },
  });
}

/** One question, answered with the help of a tool. */
async function ask(metadata: Record<string, string> = {}): Promise<CallClient> {
  const { stt, llm } = service.providers;
  llm.script.push(toolCall('opening', { day: 'monday' }), answer('It is open.'));
  stt.utterances.push('my card is 4111 1111 1111 1111');
  const call = await service.call({ metadata });
  await call.next(({ type }) => type === 'mark-played');
  await call.say(question);
  await call.next(({ type }) => type === 'mark-played');
  return call;
}

/** A call that is over as soon as it was greeted. */
async function hungUp(): Promise<CallClient> {
  const call = await service.call();
  await call.next(({ type }) => type === 'mark-played');
  await call.hangUp();
  return call;
}

/** Waits for the span that is the call, which is the last of its trace. */
async function traceOf(call: CallClient): Promise<readonly CollectedSpan[]> {
  const isOf = (span: CollectedSpan): boolean => span.attributes['voice.call.id'] === call.callId;
  await collector.until(() => collector.spans.some(isOf));
  const { traceId } = collector.spans.find(isOf)!;
  return collector.spans.filter((span) => span.traceId === traceId);
}

const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan[] =>
  spans.filter((span) => span.name === name);

describe('the trace of a call', () => {
  beforeAll(async () => {
    await open();
    await start({ workers: 2, env: { OTEL_METRIC_EXPORT_INTERVAL: '1000' } });
  });
  afterAll(close);

  it('is a tree of call, turns, requests and tools, under the digits of the call id', async () => {
    const call = await ask();
    await call.hangUp();
    const spans = await traceOf(call);
    const [root] = named(spans, 'call');
    expect(root!.traceId).toBe(call.callId.replaceAll('-', ''));
    expect(root!.attributes).toMatchObject({ 'gen_ai.agent.name': 'test', 'voice.call.end': 'hangup' });
    expect(root!.resource).toMatchObject({ 'service.name': 'harbour' });
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(ids.size).toBe(spans.length);
    for (const { parentSpanId } of spans.filter((span) => span !== root)) expect(ids).toContain(parentSpanId);
    const turn = named(spans, 'turn').find(({ attributes }) => attributes['voice.turn.by'] === 'caller')!;
    expect(turn.attributes).toMatchObject({ 'voice.turn.outcome': 'answered' });
    expect(Number(turn.attributes['voice.turn.response_ms'])).toBeGreaterThan(0);
    const chats = named(spans, 'chat fake');
    expect(chats.map(({ attributes }) => attributes['gen_ai.response.finish_reasons'])).toHaveLength(2);
    expect(chats[1]!.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'chat_compatible',
      'gen_ai.request.model': 'fake',
      'gen_ai.usage.output_tokens': '3',
    });
    const [tool] = named(spans, 'execute_tool opening');
    expect([tool!.parentSpanId, tool!.isError]).toEqual([turn.spanId, false]);
    expect(shop.requests[0]!.headers['traceparent']).toBe(`00-${root!.traceId}-${tool!.spanId}-01`);
    expect(named(spans, 'stt').length + named(spans, 'tts').length).toBeGreaterThanOrEqual(2);
    const line = await service.says('call ended', ({ call: id }) => id === call.callId);
    expect(line).toMatchObject({ trace_id: root!.traceId, span_id: root!.spanId });
    const exported = JSON.stringify(collector.requests.map(({ body }) => body));
    expect(
      /4111 1111|my card|It is open|monday|Good morning|under test|s3cret/.exec(exported)?.[0],
    ).toBeUndefined();
    expect(collector.requests[0]!.headers['x-key']).toBe('s3cret-key');
  });

  it('and its metrics are OTLP to the official definitions, which see a wrong name', async (context) => {
    context.skip(deployTools === undefined, toolsMissing);
    await traceOf(await hungUp());
    await collector.until(() => collector.metrics.length > 0);
    const paths = new Set(collector.sent.map(([path]) => path));
    expect([...paths].toSorted()).toEqual(['/v1/metrics', '/v1/traces']);
    expect(complaintsOfOtlp(collector.sent)).toEqual([]);
    expect(complaintsOfOtlp([['/v1/traces', { resourceSpan: [] }]])).toHaveLength(1);
  });

  it('goes on in another worker, and under the trace that the call came with', async () => {
    const parent = 'ab'.repeat(16);
    const call = await ask({ traceparent: `00-${parent}-${'cd'.repeat(8)}-01` });
    process.kill(await service.workerOf(call), 'SIGKILL');
    await service.says('call taken up');
    await call.hangUp();
    const spans = await traceOf(call);
    const roots = named(spans, 'call');
    expect(roots).toHaveLength(1);
    expect(roots[0]).toMatchObject({ traceId: parent, parentSpanId: 'cd'.repeat(8) });
    expect(roots[0]!.attributes['voice.call.taken_up']).toBe(true);
    const [began, ended] = [roots[0]!.startTimeUnixNano, roots[0]!.endTimeUnixNano].map(Number);
    expect((ended! - began!) / 1e9).toBeGreaterThan(1);
  });

  it('is not exported where the call came with one that nobody follows', async () => {
    const traceId = 'ef'.repeat(16);
    const call = await ask({ traceparent: `00-${traceId}-${'cd'.repeat(8)}-00` });
    await call.hangUp();
    const line = await service.says('call ended', ({ call: id }) => id === call.callId);
    expect(line).toMatchObject({ trace_id: traceId, trace_flags: '00' });
    expect(shop.requests.at(-1)!.headers['traceparent']).toMatch(/-00$/);
    await traceOf(await hungUp());
    expect(collector.spans.filter((span) => span.traceId === traceId)).toEqual([]);
  });

  it('stands beside the metrics, which are those of the page, again and again', async () => {
    const before = await service.metric('svc_calls_total{end="hangup"}');
    await hungUp();
    const isThere = (): boolean =>
      collector.metrics.some(
        ({ name, sum }) =>
          name === 'svc_calls_total' && sum!.dataPoints.some(({ asDouble }) => asDouble > before),
      );
    await collector.until(isThere);
    const parts = collector.metrics.filter(({ name }) => name === 'svc_turn_part_seconds');
    expect(parts.at(-1)).toMatchObject({ unit: 's' });
  });
});

describe('a collector that never answers', () => {
  beforeAll(open);
  afterAll(close);

  it('costs a call nothing, and the service still ends', async () => {
    collector.script.push(...Array.from({ length: 50 }, () => silence));
    await start();
    const call = await ask();
    expect(service.providers.llm.requests).toHaveLength(2);
    await call.hangUp();
    await service.says('call ended');
    expect((await service.stop()).code).toBe(0);
  });
});

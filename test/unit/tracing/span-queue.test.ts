/** The way of spans out of a worker: bounded, in small bodies, tried again where it helps, and over when the worker ends. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newLog } from '../../../shared/runtime/log.ts';
import { newWorkerMetrics } from '../../../shared/runtime/metrics.ts';
import { systemClock, type Clock } from '../../../shared/runtime/clock.ts';
import type { Span } from '../../../shared/runtime/otlp/otlp-json.ts';
import { SpanQueue } from '../../../worker/tracing/span-queue.ts';
import { FakeCollector } from '../../support/telemetry/fake-collector.ts';
import { reply, silence } from '../../support/fakes/fake-http.ts';

let collector: FakeCollector;

beforeEach(async () => {
  collector = new FakeCollector();
  await collector.start();
});

afterEach(() => collector.close());

const span: Span = {
  traceId: 'ab'.repeat(16),
  spanId: 'cd'.repeat(8),
  name: 'turn',
  kind: 'internal',
  startMs: 1_700_000_000_000.5,
  endMs: 1_700_000_000_001,
  attributes: { text: 'a "b"', whole: 7, part: 0.5, is: true, list: ['x'] },
  events: [],
  isError: true,
};

/** Pauses pass at once; the limits of requests stay as they are. */
const hasty: Clock = {
  ...systemClock,
  after: (delayMs, callback) => systemClock.after(delayMs === 10_000 ? delayMs : 0, callback),
};

function newQueue(url = `${collector.endpoint}/v1/traces`, clock = hasty) {
  const metrics = newWorkerMetrics();
  const lines: string[] = [];
  const log = newLog({ role: 'test', level: 'warn', to: { write: (line) => lines.push(line) } });
  const setup = {
    target: { url, headers: { 'x-key': 'secret' }, timeoutMs: 10_000 },
    resource: { 'service.name': 'test' },
    sampling: { followsParent: true, ratio: 1 },
  };
  const queue = new SpanQueue({ setup, clock, log, metrics });
  const counted = async (what: string): Promise<number> =>
    (await metrics.spans.get()).values.find(({ labels }) => labels.what === what)?.value ?? 0;
  return { queue, counted, lines };
}

describe('spans on their way out', () => {
  it('arrive as OTLP writes them', async () => {
    const { queue, counted } = newQueue();
    queue.push(span);
    await queue.close();
    expect(collector.spans).toEqual([
      expect.objectContaining({
        ...{ name: 'turn', kind: 1, isError: true, resource: { 'service.name': 'test' } },
        startTimeUnixNano: '1700000000000500000',
        endTimeUnixNano: '1700000000001000000',
        attributes: {
          ...{ text: 'a "b"', whole: '7', part: 0.5, is: true, list: { values: [{ stringValue: 'x' }] } },
        },
      }),
    ]);
    expect(collector.requests[0]!.headers).toMatchObject({
      ...{ 'x-key': 'secret', 'content-type': 'application/json' },
    });
    expect(await counted('sent')).toBe(1);
  });

  it('are lost beyond what may wait, and the others leave in small bodies', async () => {
    const { queue, counted } = newQueue();
    for (let at = 0; at < 2_100; at += 1) queue.push(span);
    await queue.close();
    expect(await counted('no_room')).toBe(52);
    expect(collector.requests).toHaveLength(16);
    expect(collector.spans).toHaveLength(2_048);
  });

  it.each([429, 503])('are sent again after %d', async (status) => {
    collector.script.push(reply({ status }), reply({ status }));
    const { queue, counted } = newQueue();
    queue.push(span);
    await collector.until(() => collector.requests.length === 3);
    await queue.close();
    expect([await counted('sent'), await counted('not_taken')]).toEqual([1, 0]);
  });

  it.each([400, 401, 500])('are given up after %d, which another try would get as well', async (status) => {
    collector.script.push(reply({ status }));
    const { queue, counted, lines } = newQueue();
    queue.push(span);
    await queue.close();
    expect([collector.requests.length, await counted('not_taken')]).toEqual([1, 1]);
    expect(lines.join()).toContain('spans could not be exported');
    expect(lines.join()).not.toContain('secret');
  });

  it('that a collector takes and throws away are counted as lost, and told', async () => {
    collector.script.push(
      reply({ chunks: ['{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}'] }),
    );
    const { queue, counted, lines } = newQueue();
    queue.push(span);
    queue.push(span);
    await queue.close();
    expect([await counted('sent'), await counted('not_taken')]).toEqual([1, 1]);
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { outcome: 'rejected', spans: 1 },
    ]);
  });

  it('that a collector refuses for hours are told once for each cause, and then every ten minutes with all of them', async () => {
    let [at, lost] = [0, 0];
    const { queue, counted, lines } = newQueue(undefined, { ...hasty, now: () => at });
    for (const [minute, status] of [
      [0, 401],
      [1, 401],
      [2, 404],
      [9, 404],
      [12, 404],
    ] as const) {
      at = minute * 60_000;
      collector.script.push(reply({ status }));
      queue.push(span);
      lost += 1;
      await expect.poll(() => counted('not_taken'), { interval: 2 }).toBe(lost);
    }
    await queue.close();
    const { host } = new URL(collector.endpoint);
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { outcome: 401, spans: 1, host },
      { outcome: 404, spans: 2, host },
      { outcome: 404, spans: 2, host },
    ]);
  });

  it('are given up where nobody listens, and new ones are tried again', async () => {
    const { queue, counted } = newQueue('http://127.0.0.1:1/v1/traces');
    queue.push(span);
    await queue.close();
    expect(await counted('not_taken')).toBe(1);
  });

  it('wait behind a request that is not answered, and hold up nobody', async () => {
    collector.script.push(silence);
    const { queue } = newQueue();
    queue.push(span);
    await collector.until(() => collector.requests.length === 1);
    for (let at = 0; at < 3_000; at += 1) queue.push(span);
    expect(collector.requests).toHaveLength(1);
  });
});

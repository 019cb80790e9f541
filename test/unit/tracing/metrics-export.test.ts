/** Metrics as OTLP has them, made of those that `/metrics` shows. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { readMetrics } from '../../../supervisor/tracing/metrics-export.ts';

describe('metrics by OTLP', () => {
  it('are counts since the start, values of now, and buckets between two bounds', async () => {
    const registers = [new Registry()];
    const about = { help: 'h', registers, labelNames: ['end'] };
    new Counter({ ...about, name: 'svc_calls_total' }).inc({ end: 'hangup' }, 3);
    new Gauge({ ...about, name: 'svc_memory_bytes' }).set({ end: 'x' }, 7);
    const times = new Histogram({ ...about, name: 'svc_turn_seconds', buckets: [1, 2] });
    for (const value of [0.5, 1.5, 1.6, 9]) times.observe({ end: 'a' }, value);
    times.observe({ end: 'b' }, 0.1);
    const read = readMetrics(await registers[0]!.getMetricsAsJSON(), { startedAt: 1, now: 2 });
    const end = (stringValue: string) => [{ key: 'end', value: { stringValue } }];
    const since = { startTimeUnixNano: '1000000', timeUnixNano: '2000000' };
    expect(read).toEqual([
      {
        ...{ name: 'svc_calls_total', description: 'h', unit: '1' },
        sum: {
          ...{ aggregationTemporality: 2, isMonotonic: true },
          dataPoints: [{ ...since, asDouble: 3, attributes: end('hangup') }],
        },
      },
      {
        ...{ name: 'svc_memory_bytes', description: 'h', unit: 'By' },
        gauge: { dataPoints: [{ timeUnixNano: '2000000', asDouble: 7, attributes: end('x') }] },
      },
      {
        ...{ name: 'svc_turn_seconds', description: 'h', unit: 's' },
        histogram: {
          aggregationTemporality: 2,
          dataPoints: [
            {
              ...{ ...since, count: '4', sum: 12.6, explicitBounds: [1, 2], bucketCounts: ['1', '2', '1'] },
              attributes: end('a'),
            },
            {
              ...{ ...since, count: '1', sum: 0.1, explicitBounds: [1, 2], bucketCounts: ['1', '0', '0'] },
              attributes: end('b'),
            },
          ],
        },
      },
    ]);
  });
});

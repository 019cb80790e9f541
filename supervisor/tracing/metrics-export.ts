/**
 * The metrics of the service by OTLP, beside `/metrics`: the same names, labels and numbers, added up since the service began. An export that fails is
 * not repeated, because the next one says the same and more.
 */
import type { Registry } from 'prom-client';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import { attributeList, metricsBody, nanoseconds } from '../../shared/runtime/otlp/otlp-json.ts';
import { Outage } from '../../shared/runtime/otlp/outage.ts';
import { OtlpSender } from '../../shared/runtime/otlp/otlp-sender.ts';
import { resourceOf } from './resource.ts';

const cumulative = 2;

interface Site {
  readonly settings: ServerSettings;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly log: Log;
}

/** Exports again and again, as long as the process lives. Does nothing where no metrics are to be exported. */
export function exportMetrics(
  { settings: { telemetry }, clock, wallClock, log }: Site,
  gather: () => Promise<Registry>,
): void {
  if (telemetry?.metrics === undefined) return;
  const { target, everyMs } = telemetry.metrics;
  const resource = resourceOf(telemetry.resource);
  const sender = new OtlpSender({ target: target.reveal(), clock });
  const { host } = new URL(target.reveal().url);
  const outage = new Outage();
  const startedAt = wallClock.now();
  const exportOnce = async (): Promise<void> => {
    const metrics = readMetrics(await (await gather()).getMetricsAsJSON(), {
      startedAt,
      now: wallClock.now(),
    });
    const { outcome: answer, rejected } = await sender.send(metricsBody(resource, 'voice-agent', metrics));
    if (answer === 'sent' && rejected === 0) return;
    const outcome = answer === 'sent' ? 'rejected' : answer;
    const times = outage.lose(outcome, 1, clock.now());
    if (times !== undefined) log.warn({ outcome, host, times }, 'metrics could not be exported');
  };
  const again = (): void =>
    void clock.after(everyMs, () => {
      exportOnce()
        .catch((error: unknown) => log.warn(errorFields(error), 'metrics could not be exported'))
        .finally(again);
    });
  again();
}

interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

interface MetricJson {
  readonly name: string;
  readonly help: string;
  readonly type: unknown;
  readonly values: readonly Sample[];
}

/** Metrics in the JSON of `prom-client` as those of OTLP. Pure. Times are milliseconds since 1970. */
export function readMetrics(
  metrics: readonly object[],
  { startedAt, now }: { readonly startedAt: number; readonly now: number },
): object[] {
  const times = { startTimeUnixNano: nanoseconds(startedAt), timeUnixNano: nanoseconds(now) };
  // The type that the library declares for `type` is a number, and the value is a word.
  return (metrics as readonly MetricJson[]).flatMap<object>(({ name, help, type, values }) => {
    const points = values.map(({ value, labels }) => ({
      ...times,
      asDouble: value,
      attributes: attributeList(textsOf(labels)),
    }));
    const about = { name, description: help, unit: unitOf(name) };
    if (values.length === 0) return [];
    if (type === 'counter')
      return [
        { ...about, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints: points } },
      ];
    if (type === 'gauge')
      return [{ ...about, gauge: { dataPoints: points.map(({ startTimeUnixNano: _, ...point }) => point) } }];
    if (type !== 'histogram') return [];
    return [
      {
        ...about,
        histogram: { aggregationTemporality: cumulative, dataPoints: histogramsOf(name, values, times) },
      },
    ];
  });
}

/** One point for each set of labels. Buckets of Prometheus count all below them, those of OTLP what lies between two bounds. */
function histogramsOf(name: string, values: readonly Sample[], times: object): object[] {
  const groups = new Map<
    string,
    { labels: Sample['labels']; below: Map<number, number>; sum: number; count: number }
  >();
  for (const { metricName, labels: all, value } of values) {
    const { le, ...labels } = all;
    const key = JSON.stringify(Object.entries(labels).toSorted());
    const group = groups.get(key) ?? { labels, below: new Map<number, number>(), sum: 0, count: 0 };
    groups.set(key, group);
    if (metricName === `${name}_sum`) group.sum = value;
    else if (metricName === `${name}_count`) group.count = value;
    else if (le !== undefined && le !== '+Inf') group.below.set(Number(le), value);
  }
  return [...groups.values()].map(({ labels, below, sum, count }) => {
    const bounds = [...below.keys()].toSorted((a, b) => a - b);
    const upTo = [...bounds.map((bound) => below.get(bound) ?? 0), count];
    const counts = upTo.map((value, index) => String(value - (index === 0 ? 0 : (upTo[index - 1] ?? 0))));
    return {
      ...times,
      count: String(count),
      sum,
      bucketCounts: counts,
      explicitBounds: bounds,
      attributes: attributeList(textsOf(labels)),
    };
  });
}

const textsOf = (labels: Sample['labels']): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));

/** By the unit that stands in each name. */
function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's';
  if (/_bytes(_total)?$/.test(name)) return 'By';
  return '1';
}

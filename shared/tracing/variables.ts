/**
 * The variables of OpenTelemetry that the service obeys, under the names that the OpenTelemetry specification gives them. Part of the
 * list in `server.ts`. One that is empty counts as unset, as that specification wants it.
 */
import { fail, ok, type Result } from '../base/result.ts';
import type { OtlpTarget, Resource, Sampling } from './setup.ts';
import { Sensitive } from '../config/sensitive.ts';
import type { Reader } from '../config/server/environment.ts';
import { choiceVariable, countVariable, readVariable, textLike } from '../config/server/variables.ts';

export interface TelemetrySettings {
  /** Absent: nothing is exported and no call is traced. */
  readonly telemetry?: {
    readonly resource: Resource;
    /** Absent: no traces. */
    readonly traces?: { readonly target: Sensitive<OtlpTarget>; readonly sampling: Sampling };
    /** Absent: no metrics but those of /metrics. */
    readonly metrics?: { readonly target: Sensitive<OtlpTarget>; readonly everyMs: number };
  };
}

const urlForm = 'an address such as http://127.0.0.1:4318, http or https';

function readUrl(value: string): Result<string, string> {
  if (value.length > 2048 || !URL.canParse(value)) return fail(`must be ${urlForm}`);
  const { protocol, username, password, hash } = new URL(value);
  if (username !== '' || password !== '') return fail('must hold neither a user nor a password');
  return /^https?:$/.test(protocol) && hash === '' ? ok(value) : fail(`must be ${urlForm}`);
}

const pairsForm = 'pairs of name=value separated by commas, values percent-encoded, at most 64';
type Pairs = Readonly<Record<string, string>>;

/** The form of a W3C Baggage header, as the specification has it for both lists. */
function readPairs(value: string, name: RegExp): Result<Pairs, string> {
  const pairs: Record<string, string> = {};
  const items = value.split(',').filter((item) => item.trim() !== '');
  if (value.length > 8192 || items.length > 64) return fail(`must be ${pairsForm}`);
  for (const item of items) {
    const [, key = '', text = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(item) ?? [];
    const decoded = decode(text);
    if (!name.test(key) || decoded === undefined) return fail(`must be ${pairsForm}`);
    pairs[key] = decoded;
  }
  return ok(pairs);
}

/** Undefined for what is no text, or would break the line that carries it. */
function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return /^[^\p{Cc}]*$/u.test(decoded) ? decoded : undefined;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const attributeName = /^[\w./-]{1,255}$/;
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const endpoint = (name: `OTEL_${string}`, text: string) =>
  readVariable<string | undefined>(name, text, { form: urlForm, read: readUrl, fallback: undefined });

export const telemetryVariables = {
  otelDisabled: choiceVariable('OTEL_SDK_DISABLED', 'true switches all of OpenTelemetry off.', {
    of: ['false', 'true'],
    fallback: 'false',
  }),
  otelEndpoint: endpoint(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'Collector that takes OTLP over HTTP; /v1/traces and /v1/metrics are added. Unset, with the two below: no OpenTelemetry.',
  ),
  otelTracesEndpoint: endpoint('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'Full address for traces instead.'),
  otelMetricsEndpoint: endpoint('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'Full address for metrics instead.'),
  otelTraces: choiceVariable('OTEL_TRACES_EXPORTER', 'Whether traces are exported.', {
    of: ['otlp', 'none'],
    fallback: 'otlp',
  }),
  otelMetrics: choiceVariable('OTEL_METRICS_EXPORTER', 'Whether metrics are exported, beside /metrics.', {
    of: ['otlp', 'none'],
    fallback: 'otlp',
  }),
  otelProtocol: choiceVariable(
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'Protocol of the export. A collector that takes http/protobuf takes http/json at the same address.',
    { of: ['http/json'], fallback: 'http/json' },
  ),
  otelHeaders: readVariable<Sensitive<Pairs>>(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'Headers of every export, such as a key of the collector.',
    {
      form: pairsForm,
      defaultText: 'none',
      read: (value) => {
        const pairs = readPairs(value, headerName);
        if (!pairs.ok) return pairs;
        const isHeader = Object.values(pairs.value).every((text) => /^[\x20-\x7e]*$/.test(text));
        return isHeader ? ok(new Sensitive(pairs.value)) : fail('must hold ASCII characters alone');
      },
      fallback: new Sensitive({}),
      isSecret: true,
    },
  ),
  otelTimeout: countVariable('OTEL_EXPORTER_OTLP_TIMEOUT', 'Milliseconds that one export may take.', {
    least: 100,
    most: 60_000,
    fallback: 10_000,
  }),
  otelSampler: choiceVariable('OTEL_TRACES_SAMPLER', 'Sampler that chooses the calls to trace.', {
    of: samplers,
    fallback: 'parentbased_always_on',
  }),
  otelSamplerRatio: readVariable<number>(
    'OTEL_TRACES_SAMPLER_ARG',
    'Part of the calls that is traced, for the samplers with a ratio.',
    {
      form: 'number from 0 to 1',
      defaultText: '1',
      read: (value) =>
        /^(0|1|0?\.\d{1,9}|1\.0*)$/.test(value) ? ok(Number(value)) : fail('must be a number from 0 to 1'),
      fallback: 1,
    },
  ),
  otelServiceName: readVariable<string | undefined>(
    'OTEL_SERVICE_NAME',
    'Name of the service in traces and metrics.',
    {
      form: 'text without control characters, at most 255',
      defaultText: 'voice-agent',
      read: textLike('a text without control characters, at most 255', (value) =>
        /^[^\p{Cc}]{1,255}$/u.test(value),
      ),
      fallback: undefined,
    },
  ),
  otelResource: readVariable<Pairs>(
    'OTEL_RESOURCE_ATTRIBUTES',
    'Attributes of the service in traces and metrics, such as deployment.environment.name=production.',
    {
      form: pairsForm,
      defaultText: 'none',
      read: (value) => readPairs(value, attributeName),
      fallback: {},
    },
  ),
  otelMetricInterval: countVariable(
    'OTEL_METRIC_EXPORT_INTERVAL',
    'Milliseconds from one export of metrics to the next.',
    { least: 1000, most: 3_600_000, fallback: 60_000 },
  ),
} as const;

export function takeTelemetry(reader: Reader): TelemetrySettings {
  const taken = reader.takeAll(telemetryVariables);
  const isOff = taken.otelDisabled === 'true';
  const base = taken.otelEndpoint;
  const traces = taken.otelTracesEndpoint ?? withPath(base, 'v1/traces');
  const metrics = taken.otelMetricsEndpoint ?? withPath(base, 'v1/metrics');
  const headers = taken.otelHeaders.reveal();
  const { otelTimeout: timeoutMs, otelServiceName: name, otelMetricInterval: everyMs } = taken;
  const sampling = samplingOf(taken.otelSampler, taken.otelSamplerRatio);
  const targetOf = (url: string | undefined, isWithout: boolean): Sensitive<OtlpTarget> | undefined =>
    url === undefined || isWithout || isOff ? undefined : new Sensitive({ url, headers, timeoutMs });
  const [toTraces, toMetrics] = [
    targetOf(traces, taken.otelTraces === 'none'),
    targetOf(metrics, taken.otelMetrics === 'none'),
  ];
  if (toTraces === undefined && toMetrics === undefined) return {};
  return {
    telemetry: {
      resource: {
        'service.name': 'voice-agent',
        ...taken.otelResource,
        ...(name !== undefined && { 'service.name': name }),
      },
      ...(toTraces !== undefined && { traces: { target: toTraces, sampling } }),
      ...(toMetrics !== undefined && { metrics: { target: toMetrics, everyMs } }),
    },
  };
}

function withPath(base: string | undefined, path: string): string | undefined {
  if (base === undefined) return undefined;
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  return url.href;
}

function samplingOf(sampler: (typeof samplers)[number], ratio: number): Sampling {
  const followsParent = sampler.startsWith('parentbased_');
  if (sampler.endsWith('always_off')) return { followsParent, ratio: 0 };
  return { followsParent, ratio: sampler.endsWith('always_on') ? 1 : ratio };
}

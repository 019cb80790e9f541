/** The variables of OpenTelemetry, under its own names and by its own rules where it has them. */
import { describe, expect, it } from 'vitest';
import { parseServerSettings } from '../../../shared/config/server/server.ts';

const parse = (env: Record<string, string>) =>
  parseServerSettings({ SVC_AGENT_FILE: 'agent.toml', ...env }, { cores: 2 });

function telemetryOf(env: Record<string, string>) {
  const parsed = parse(env);
  if (!parsed.ok) throw new Error(parsed.error.map(({ message }) => message).join());
  return parsed.value.settings.telemetry;
}

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('telemetry', () => {
  it.each([
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { ...endpoint, OTEL_SDK_DISABLED: 'true' },
    { ...endpoint, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
    { OTEL_SERVICE_NAME: 'alone' },
  ])('is off with %j', (env) => expect(telemetryOf(env)).toBeUndefined());

  it.each([
    [endpoint, 'http://collector:4318/v1/traces', 'http://collector:4318/v1/metrics'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://vendor.example/otlp/' },
      'https://vendor.example/otlp/v1/traces',
      'https://vendor.example/otlp/v1/metrics',
    ],
    [
      { ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://other:1/x' },
      'http://other:1/x',
      'http://collector:4318/v1/metrics',
    ],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://other:1/x' }, 'http://other:1/x', undefined],
    [{ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, undefined, 'http://collector:4318/v1/metrics'],
  ])('goes with %j to its addresses', (env, traces, metrics) => {
    const found = telemetryOf(env);
    expect(found?.traces?.target.reveal().url).toBe(traces);
    expect(found?.metrics?.target.reveal().url).toBe(metrics);
  });

  it.each([
    [{}, true, 1],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, false, 1],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, false, 0],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }, false, 0.25],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '.1' }, true, 0.1],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, true, 0],
  ])('samples with %j', (env, followsParent, ratio) => {
    expect(telemetryOf({ ...endpoint, ...env })?.traces?.sampling).toEqual({ followsParent, ratio });
  });

  it('names the service, and sends headers that are shown nowhere', () => {
    const found = telemetryOf({
      ...endpoint,
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=a,deployment.environment.name=test%20one',
      OTEL_SERVICE_NAME: 'b',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20abc=, x-tenant = 7',
    });
    expect(found?.resource).toEqual({ 'service.name': 'b', 'deployment.environment.name': 'test one' });
    const { headers } = found!.traces!.target.reveal();
    expect(headers).toEqual({ Authorization: 'Basic abc=', 'x-tenant': '7' });
    expect(JSON.stringify(found)).not.toContain('abc');
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:s3cret@collector'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 's3cret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%0d%0ax: s3cret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%e0%a4%a'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_METRIC_EXPORT_INTERVAL', '1'],
  ])('refuses %s=%s by name and rule', (name, value) => {
    const parsed = parse({ ...endpoint, [name]: value });
    if (parsed.ok) throw new Error('it was taken');
    expect(parsed.error.map(({ variable }) => variable)).toEqual([name]);
    expect(parsed.error[0]!.message).toMatch(/must/);
    expect(parsed.error[0]!.message).not.toContain('s3cret');
  });
});

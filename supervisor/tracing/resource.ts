/** What the service exports by OpenTelemetry (decision 0066): what workers are told about traces, and who this process is. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { Resource, TracingSetup } from '../../shared/tracing/setup.ts';

/** Set by the bundler; absent when the sources run as they are. */
declare const BUILD_VERSION: string | undefined;

const instanceId = randomUUID();

/** The attributes of everything that is exported; what the operator sets comes first. */
export const resourceOf = (given: Resource): Resource => ({
  ...(typeof BUILD_VERSION === 'string' && { 'service.version': BUILD_VERSION }),
  'service.instance.id': instanceId,
  'host.name': hostname(),
  ...given,
});

export function tracingSetup({ telemetry }: ServerSettings): { readonly tracing?: TracingSetup } {
  if (telemetry?.traces === undefined) return {};
  const { target, sampling } = telemetry.traces;
  return { tracing: { target: target.reveal(), resource: resourceOf(telemetry.resource), sampling } };
}

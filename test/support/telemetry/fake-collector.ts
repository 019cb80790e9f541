/** A collector for OTLP over HTTP that keeps what it is sent, read back into plain spans and metrics. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { deployTools } from '../chart.ts';
import { FakeHttpServer, reply } from '../fakes/fake-http.ts';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

export interface CollectedMetric {
  readonly name: string;
  readonly unit: string;
  readonly sum?: { readonly dataPoints: readonly { readonly asDouble: number }[] };
  readonly gauge?: { readonly dataPoints: readonly { readonly asDouble: number }[] };
  readonly histogram?: { readonly dataPoints: readonly { readonly count: string }[] };
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface RawSpan extends Omit<CollectedSpan, 'attributes' | 'isError' | 'resource'> {
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code?: number };
}

interface Body {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly CollectedMetric[] }[];
  }[];
}

const read = (list: readonly KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));

/** What the official definitions of OTLP say against these bodies, by `scripts/deploy/read_otlp.py`. */
export function complaintsOfOtlp(
  bodies: readonly (readonly [path: string, body: unknown])[],
): readonly string[] {
  const script = fileURLToPath(new URL('../../../scripts/deploy/read_otlp.py', import.meta.url));
  const { stdout, stderr, status } = spawnSync(`${deployTools ?? ''}/bin/python`, [script], {
    input: JSON.stringify(bodies),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`read_otlp.py failed: ${stderr}`);
  return JSON.parse(stdout) as readonly string[];
}

export class FakeCollector extends FakeHttpServer {
  constructor() {
    super(reply({ headers: { 'content-type': 'application/json' }, chunks: ['{}'] }));
  }

  /** As it stands in OTEL_EXPORTER_OTLP_ENDPOINT. */
  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get spans(): CollectedSpan[] {
    return this.#bodies('/v1/traces').flatMap(({ resourceSpans = [] }) =>
      resourceSpans.flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) =>
          spans.map(({ attributes, status, ...span }) => ({
            ...span,
            attributes: read(attributes),
            resource: read(resource.attributes),
            isError: status.code === 2,
          })),
        ),
      ),
    );
  }

  get metrics(): CollectedMetric[] {
    return this.#bodies('/v1/metrics').flatMap(({ resourceMetrics = [] }) =>
      resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => [...metrics])),
    );
  }

  /** Everything that came, as it came. */
  get sent(): (readonly [path: string, body: unknown])[] {
    return this.requests.map(({ path, body }) => [path, body]);
  }

  #bodies(path: string): Body[] {
    return this.requests.filter((request) => request.path === path).map(({ body }) => body as Body);
  }
}

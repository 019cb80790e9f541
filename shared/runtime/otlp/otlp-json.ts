/**
 * Spans and metrics as OTLP writes them in JSON (opentelemetry-proto, OTLP/HTTP): ids in hex, times in nanoseconds as text, whole numbers
 * as text. Pure; every value becomes a text exactly once.
 */
/** `double` is a number that stays one with a fraction when it happens to be whole. */
export type AttributeValue = string | number | boolean | readonly string[] | { readonly double: number };
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface SpanEvent {
  readonly name: string;
  /** Milliseconds since 1970, as in {@link Span}. */
  readonly at: number;
  readonly attributes: Attributes;
}

const spanKinds = { internal: 1, server: 2, client: 3 } as const;

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind: keyof typeof spanKinds;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  readonly isError: boolean;
}

/** Microseconds are exact in a number until the year 2255, nanoseconds are not. */
export const nanoseconds = (ms: number): string => `${Math.round(ms * 1000)}000`;

function valueOf(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if ('double' in value) return { doubleValue: value.double };
  return { arrayValue: { values: value.map((text) => ({ stringValue: text })) } };
}

export const attributeList = (attributes: Attributes): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));

export function spanJson(span: Span): string {
  const { traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, events, isError } = span;
  return JSON.stringify({
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    flags: 1,
    name,
    kind: spanKinds[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: attributeList(attributes),
    ...(events.length > 0 && {
      events: events.map((event) => ({
        timeUnixNano: nanoseconds(event.at),
        name: event.name,
        attributes: attributeList(event.attributes),
      })),
    }),
    status: isError ? { code: 2 } : {},
  });
}

/** The body of one export; `spans` are texts of {@link spanJson}. */
export const tracesBody = (resource: Attributes, scope: string, spans: readonly string[]): string =>
  `{"resourceSpans":[{"resource":${resourceJson(resource)},"scopeSpans":[{"scope":{"name":${JSON.stringify(scope)}},"spans":[${spans.join(',')}]}]}]}`;

export const metricsBody = (resource: Attributes, scope: string, metrics: readonly object[]): string =>
  JSON.stringify({
    resourceMetrics: [
      {
        resource: { attributes: attributeList(resource) },
        scopeMetrics: [{ scope: { name: scope }, metrics }],
      },
    ],
  });

const resourceJson = (resource: Attributes): string =>
  JSON.stringify({ attributes: attributeList(resource) });

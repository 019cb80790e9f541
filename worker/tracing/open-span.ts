/** A span that has begun. Texts in it are names and numbers of the service and of the agent file: nothing that a caller, a model or a tool said. */
import type { Millis } from '../../shared/base/units.ts';
import type { AttributeValue, Span, SpanEvent } from '../../shared/runtime/otlp/otlp-json.ts';

/** Of one span; a call of hours must not grow one without end. */
const mostEvents = 64;

export interface SpanStart {
  readonly spanId: string;
  readonly name: string;
  readonly kind: Span['kind'];
  readonly startedAt: Millis;
  readonly attributes?: Readonly<Record<string, AttributeValue | undefined>>;
}

/** Where a span ends up. `toWallMs` turns the time of the process into milliseconds since 1970. */
export interface SpanSite {
  readonly traceId: string;
  readonly toWallMs: (now: Millis) => number;
  readonly keep: (span: Span) => void;
}

export class OpenSpan {
  readonly spanId: string;
  readonly startedAt: Millis;
  readonly #start: SpanStart;
  readonly #site: SpanSite;
  readonly #attributes: Record<string, AttributeValue> = {};
  readonly #events: SpanEvent[] = [];
  #name: string;
  #isError = false;

  constructor(start: SpanStart, site: SpanSite) {
    this.#start = start;
    this.#site = site;
    this.spanId = start.spanId;
    this.#name = start.name;
    this.startedAt = start.startedAt;
    this.set(start.attributes ?? {});
  }

  rename(name: string): void {
    this.#name = name;
  }

  set(attributes: Readonly<Record<string, AttributeValue | undefined>>): void {
    for (const [key, value] of Object.entries(attributes))
      if (value !== undefined) this.#attributes[key] = value;
  }

  /** Sets what is not set yet. */
  setFirst(key: string, value: AttributeValue): void {
    this.#attributes[key] ??= value;
  }

  add(name: string, at: Millis, attributes: SpanEvent['attributes'] = {}): void {
    if (this.#events.length < mostEvents)
      this.#events.push({ name, at: this.#site.toWallMs(at), attributes });
  }

  /** `type` is one of a few words. */
  fail(type: string): void {
    this.#isError = true;
    this.setFirst('error.type', type);
  }

  end(now: Millis, parentSpanId: string | undefined): void {
    const { traceId, toWallMs, keep } = this.#site;
    const { kind } = this.#start;
    keep({
      traceId,
      spanId: this.spanId,
      parentSpanId,
      name: this.#name,
      kind,
      startMs: toWallMs(this.startedAt),
      endMs: toWallMs(now),
      attributes: this.#attributes,
      events: this.#events,
      isError: this.#isError,
    });
  }
}

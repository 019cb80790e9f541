/** What a process is told about OpenTelemetry: where spans and metrics go, and which calls are traced. Plain data, because it travels to workers. */

/** An address that takes OTLP over HTTP, as JSON. */
export interface OtlpTarget {
  readonly url: string;
  /** Sent with every request; their values may be secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** A request has this long. */
  readonly timeoutMs: number;
}

/** Who sends: attributes of the resource, `service.name` among them. */
export type Resource = Readonly<Record<string, string>>;

export interface Sampling {
  /** A call that comes with a trace is traced where that is. */
  readonly followsParent: boolean;
  /** Part of the other calls, from 0 to 1. */
  readonly ratio: number;
}

export interface TracingSetup {
  readonly target: OtlpTarget;
  readonly resource: Resource;
  readonly sampling: Sampling;
}

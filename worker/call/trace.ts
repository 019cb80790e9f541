/**
 * The trace of a call, as the parts of the call know it: what its log lines carry, and what is said to those whom the call asks for something. All of it
 * follows from what the call was started with, so another worker that takes the call up goes on with the same trace.
 */
import type { Log } from '../../shared/runtime/log.ts';
import type { CallStart } from '../transports/transport.ts';
import type { AdmittedStart } from './admission.ts';

export interface CallTrace {
  /** 32 hex digits. */
  readonly traceId: string;
  /** Of the span that is the call itself; 16 hex digits. */
  readonly spanId: string;
  /** The span of the program that started the call, where it came with one. */
  readonly parentSpanId?: string | undefined;
  /** Spans of the call are exported. */
  readonly isSampled: boolean;
  /** The id of the span of one run of a tool, which the tool is told before there is one. */
  readonly toolSpanId: (run: ToolAttempt) => string;
}

/** Gives the trace of a call. */
export type TraceOf = (start: Pick<CallStart, 'callId' | 'metadata'>) => CallTrace;

/** What names a run of a tool. */
export interface ToolAttempt {
  readonly key: number;
  readonly attempt: number;
}

/** The log of a call: every line names it, its agent and route, and its trace where it has one. */
export const callLog = (
  {
    log,
    agent,
    traceOf,
  }: { readonly log: Log; readonly agent: string; readonly traceOf?: TraceOf | undefined },
  { callId: call, route, metadata }: Pick<AdmittedStart, 'callId' | 'route' | 'metadata'>,
): Log =>
  log.child({
    call,
    agent,
    ...(route !== undefined && { route }),
    ...(traceOf !== undefined && traceFields(traceOf({ callId: call, metadata }))),
  });

/** What log lines of the call carry beside its id, by the names that OpenTelemetry gives them. */
const traceFields = ({ traceId, spanId, isSampled }: CallTrace): Readonly<Record<string, string>> => ({
  trace_id: traceId,
  span_id: spanId,
  trace_flags: flagsOf(isSampled),
});

/** The header `traceparent` of W3C Trace Context. */
export const traceparentOf = (
  { traceId, isSampled }: Pick<CallTrace, 'traceId' | 'isSampled'>,
  spanId: string,
): string => `00-${traceId}-${spanId}-${flagsOf(isSampled)}`;

const flagsOf = (isSampled: boolean): string => (isSampled ? '01' : '00');

/** What each run of a tool is to say of its trace. */
export const traceparentOfTools = (
  trace: CallTrace | undefined,
): ((run: ToolAttempt) => string | undefined) =>
  trace === undefined ? () => undefined : (run) => traceparentOf(trace, trace.toolSpanId(run));

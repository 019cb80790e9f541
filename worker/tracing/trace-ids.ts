/**
 * Ids of traces and spans. Those that more than one process has to know, or that must be known before their span is there, are made of the id of the call.
 * The trace of a call whose id is a UUID has the digits of that UUID, so that either of them finds the other.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Sampling } from '../../shared/tracing/setup.ts';
import type { CallTrace, ToolAttempt, TraceOf } from '../call/trace.ts';

/** The key of a call's metadata that holds the header of the program that started it. */
const traceparentKey = 'traceparent';

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const header = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

const digest = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);

const isZero = (id: string): boolean => /^0+$/.test(id);

export const newSpanId = (): string => randomBytes(8).toString('hex');

export const turnSpanId = (callId: string, epoch: number): string => digest(`turn ${epoch} ${callId}`, 16);

const toolSpanId = (callId: string, { key, attempt }: ToolAttempt): string =>
  digest(`tool ${key} ${attempt} ${callId}`, 16);

export const newTraceOf =
  ({ followsParent, ratio }: Sampling): TraceOf =>
  ({ callId, metadata }): CallTrace => {
    const own = {
      spanId: digest(`call ${callId}`, 16),
      toolSpanId: (run: ToolAttempt) => toolSpanId(callId, run),
    };
    const parent = readTraceparent(metadata[traceparentKey]);
    const traceId =
      parent?.traceId ?? (uuid.test(callId) ? callId.replaceAll('-', '').toLowerCase() : digest(callId, 32));
    if (parent !== undefined && followsParent)
      return { ...own, traceId, parentSpanId: parent.spanId, isSampled: parent.isSampled };
    // The last 56 bits are those that the specification wants random, and all participants judge by them alike.
    const isSampled = Number.parseInt(traceId.slice(18), 16) / 2 ** 56 >= 1 - ratio;
    return { ...own, traceId, parentSpanId: parent?.spanId, isSampled };
  };

/** Undefined for what W3C Trace Context calls invalid. */
function readTraceparent(
  text: string | undefined,
): { traceId: string; spanId: string; isSampled: boolean } | undefined {
  const [, traceId, spanId, flags] = header.exec(text?.trim() ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || isZero(traceId) || isZero(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags ?? '0', 16) & 1) === 1 };
}

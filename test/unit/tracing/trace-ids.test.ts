/** Which trace a call has: the same in every worker, that of the program that started it, and sampled as often as was asked for. */
import { describe, expect, it } from 'vitest';
import { newTraceOf } from '../../../worker/tracing/trace-ids.ts';

const callId = '24558f35-add2-4e94-b797-1613ce5eca68';
const all = newTraceOf({ followsParent: true, ratio: 1 });
const none = newTraceOf({ followsParent: true, ratio: 0 });
const start = (traceparent?: string) => ({
  callId,
  metadata: traceparent === undefined ? {} : { traceparent },
});
const [trace, span] = ['ab'.repeat(16), 'cd'.repeat(8)];

describe('the trace of a call', () => {
  it('has the digits of a call id that is a UUID, and a digest of any other', () => {
    expect(all(start()).traceId).toBe('24558f35add24e94b7971613ce5eca68');
    expect(all({ callId: 'c', metadata: {} }).traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(all({ callId: 'c', metadata: {} }).traceId).not.toBe(all({ callId: 'd', metadata: {} }).traceId);
  });

  it('is the same in every worker, with an id of its own for each run of a tool', () => {
    expect(all(start()).spanId).toBe(newTraceOf({ followsParent: true, ratio: 1 })(start()).spanId);
    const { toolSpanId } = all(start());
    const ids = [
      [1, 1],
      [1, 2],
      [2, 1],
    ].map(([key = 0, attempt = 0]) => toolSpanId({ key, attempt }));
    expect(new Set([...ids, all(start()).spanId]).size).toBe(4);
    expect(toolSpanId({ key: 1, attempt: 1 })).toBe(ids[0]);
  });

  it('is that of whoever started the call, who says whether it is sampled', () => {
    expect(none(start(`00-${trace}-${span}-01`))).toMatchObject({
      ...{ traceId: trace, parentSpanId: span, isSampled: true },
    });
    expect(all(start(`00-${trace}-${span}-00`)).isSampled).toBe(false);
    const own = newTraceOf({ followsParent: false, ratio: 1 });
    expect(own(start(`00-${trace}-${span}-00`))).toMatchObject({ traceId: trace, isSampled: true });
  });

  it.each([
    'x',
    `ff-${trace}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${trace}-${span}`,
  ])('is its own where the header is invalid: %s', (header) => {
    expect(all(start(header))).toMatchObject({ parentSpanId: undefined, isSampled: true });
    expect(all(start(header)).traceId).not.toBe(trace);
  });

  it.each([0, 0.1, 0.5, 1])('is sampled for a part of %d of the calls', (ratio) => {
    const traceOf = newTraceOf({ followsParent: true, ratio });
    const sampled = Array.from({ length: 2000 }, (_, at) =>
      traceOf({ callId: `call ${at}`, metadata: {} }),
    ).filter(({ isSampled }) => isSampled);
    expect(Math.abs(sampled.length / 2000 - ratio)).toBeLessThan(0.04);
  });
});

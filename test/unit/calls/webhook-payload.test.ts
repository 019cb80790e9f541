import { describe, expect, it } from 'vitest';
import { callEvents, type CallEventName } from '../../../shared/calls/webhooks/events.ts';
import { mostBodyBytes, recordBody } from '../../../shared/calls/webhooks/payload.ts';
import { callEndCodes, isFailedEnd } from '../../../shared/calls/ends.ts';
import { callRecordSchema } from '../../../shared/calls/record.ts';
import type { CallFact } from '../../../shared/calls/facts.ts';
import { WebhookHooks } from '../../../records/webhooks/webhook-hooks.ts';
import type { ToldEvent } from '../../../records/webhooks/webhooks.ts';
import { recordOf, startedMs } from '../../support/calls/records.ts';

const said = (epoch: number, text: string): CallFact => ({
  t: 'said',
  at: epoch,
  role: 'caller',
  epoch,
  from: 0,
  text,
});
const at = startedMs + 10_000;

describe('the body of an event', () => {
  it('says what happened, when, and all that the record says', () => {
    const record = recordOf({}, [said(1, 'Hello')]);
    const body: unknown = JSON.parse(recordBody(record, { type: 'call.ended', at }));
    expect(body).toEqual({ type: 'call.ended', timestamp: '2026-11-28T08:00:10.000Z', data: record });
  });

  it('leaves out what is long, says so, and where the rest is', () => {
    const record = recordOf(
      {},
      Array.from({ length: 300 }, (_, epoch) => said(epoch, 'ä'.repeat(100))),
    );
    const text = recordBody(record, { type: 'call.ended', at, recordUrl: 'https://example.com/calls/{id}' });
    const { data } = JSON.parse(text) as { data: Record<string, unknown> };
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(mostBodyBytes);
    expect(data).toMatchObject({
      id: record.id,
      end: record.end,
      record_url: 'https://example.com/calls/record-1',
      left_out: ['turns', 'transcript'],
    });
    expect(data).not.toHaveProperty('transcript');
  });

  it('is small whatever the record holds', () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 500 }, (_, key) => [`key${key}`, 'v'.repeat(100)]),
    );
    const record = { ...recordOf({ client: metadata }), analysis: { summary: 's'.repeat(30_000) } };
    const text = recordBody(record, { type: 'call.analyzed', at });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(mostBodyBytes);
    expect(JSON.parse(text)).toMatchObject({ data: { id: record.id, duration_ms: 10_000 } });
  });

  it('has an id in its address that leads nowhere else', () => {
    const record = recordOf({ id: '../a b?c' });
    const text = recordBody(record, { type: 'call.ended', at, recordUrl: 'https://example.com/{id}' });
    expect(JSON.parse(text)).toMatchObject({ data: { record_url: 'https://example.com/..%2Fa%20b%3Fc' } });
  });
});

describe('what webhooks are told of a call', () => {
  async function eventsOf(code: (typeof callEndCodes)[number]): Promise<ToldEvent[]> {
    const told: ToldEvent[] = [];
    const hooks = new WebhookHooks({ tell: (event) => void told.push(event) }, () => undefined);
    await hooks.started({
      id: 'record-1',
      callId: 'call-1',
      agent: { name: 'receptionist' },
      direction: 'inbound',
      transport: 'sip',
      from: '+15550100',
      startedAtMs: startedMs,
    });
    await hooks.within(recordOf({}, [], { code }));
    hooks.analyzed(recordOf({}, [], { code }));
    return told;
  }

  it.each(callEndCodes)('is its beginning, its end, and whether it failed: %s', async (code) => {
    const told = await eventsOf(code);
    const failed: CallEventName[] = isFailedEnd(code) ? ['call.failed'] : [];
    expect(told.map(({ type }) => type)).toEqual(['call.started', 'call.ended', ...failed, 'call.analyzed']);
    for (const { type, body, agent, call } of told) {
      expect({ agent, call }).toEqual({ agent: { name: 'receptionist' }, call: 'record-1' });
      expect(JSON.parse(body)).toMatchObject({ type, data: { id: 'record-1', call_id: 'call-1' } });
    }
    const [, ended] = told;
    expect(
      callRecordSchema.safeParse((JSON.parse(ended?.body ?? '') as { data: unknown }).data).success,
    ).toBe(true);
  });

  it('has every event among its names', () => expect(callEvents).toHaveLength(4));
});

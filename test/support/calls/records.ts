/** Records of calls for tests. */
import { CallFold } from '../../../shared/calls/fold.ts';
import type { CallFact, FactOf } from '../../../shared/calls/facts.ts';
import type { CallRecord } from '../../../shared/calls/record.ts';

export const startedMs = Date.parse('2026-11-28T08:00:00.000Z');

export const headFact = (more: Partial<FactOf<'call'>> = {}): FactOf<'call'> => ({
  t: 'call',
  at: 0,
  v: 1,
  id: 'record-1',
  call: 'call-1',
  session: 'session-1',
  agent: 'receptionist',
  direction: 'inbound',
  transport: 'websocket',
  token: {},
  client: {},
  started: startedMs,
  ...more,
});

/** The record of these facts, a head before them and an end behind them. */
export function recordOf(
  head: Partial<FactOf<'call'>> = {},
  facts: readonly CallFact[] = [],
  end: Partial<FactOf<'end'>> = {},
): CallRecord {
  const fold = new CallFold();
  fold.take(headFact(head));
  for (const fact of facts) fold.take(fact);
  fold.take({ t: 'end', at: 10_000, code: 'caller_hung_up', ...end });
  const record = fold.record();
  if (record === undefined) throw new Error('there is a record of a call that ended');
  return record;
}

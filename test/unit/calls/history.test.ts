/** What the history page asks, and what it writes. */
import { describe, expect, it } from 'vitest';
import { readQuery } from '../../../supervisor/calls/history/query.ts';
import type { CallRow } from '../../../web/calls/wire.ts';
import { csvOf, happenedIn, partyOf, saidText } from '../../../web/calls/words.ts';
import { recordOf } from '../../support/calls/records.ts';

const row: CallRow = {
  ...{
    id: 'r',
    callId: 'c',
    agent: 'a',
    transport: 'websocket',
    direction: 'inbound',
    code: 'caller_hung_up',
  },
  ...{
    startedAtMs: Date.parse('2026-11-28T08:00:00.000Z'),
    durationMs: 5,
    turns: 1,
    faults: 0,
    interruptions: 0,
  },
};

describe('a question of the history page', () => {
  it('is what its address says', () => {
    const query = readQuery(
      new URLSearchParams(
        'since=1&before=2&agent=a&code=silence&min_cost=0.25&slower_ms=900&faulty=1&text=t+u&limit=5',
      ),
    );
    expect(query).toEqual({
      ok: true,
      value: {
        ...{ since: 1, before: 2, agent: 'a', code: 'silence', minCost: 0.25, slowerThanMs: 900 },
        ...{ isFaulty: true, text: 't u', limit: 5 },
      },
    });
  });

  it.each([
    ['since=yesterday', 'since must be a whole number, at most 9007199254740991'],
    ['before=-1', 'before must be a whole number, at most 9007199254740991'],
    ['limit=501', 'limit must be a whole number, at most 500'],
    ['limit=1.5', 'limit must be a whole number, at most 500'],
    ['min_cost=1e9', 'min_cost must be an amount such as 0.25'],
    ['faulty=0', 'faulty must be 1'],
    [`text=${'a'.repeat(201)}`, 'text has at most 200 characters'],
  ])('is refused by the name of a parameter and its rule: %s', (search, error) => {
    expect(readQuery(new URLSearchParams(search))).toEqual({ ok: false, error });
  });

  it('knows no other parameters and no other ends, and repeats none', () => {
    for (const search of ['color=secret', 'code=secret', 'toString=secret', '__proto__=secret']) {
      const read = readQuery(new URLSearchParams(search));
      expect(read.ok).toBe(false);
      expect(JSON.stringify(read)).not.toContain('secret');
    }
  });
});

describe('a list for other programs', () => {
  it('has a line for each call, in which nothing is a formula or ends a cell', () => {
    const lines = csvOf([{ ...row, agent: '=1+1', callId: 'a"b,c\nd', from: '+15550100' }]).split('\r\n');
    expect(lines[0]).toContain('id,call_id,started_at');
    expect(lines[1]).toContain(`"'=1+1"`);
    expect(lines[1]).toContain('"a""b,c\nd"');
    expect(lines[1]).toContain(`"'+15550100"`);
    expect(lines[2]).toBe('');
  });
});

describe('one call in words', () => {
  it('has everything that happened, in its order', () => {
    const record = recordOf({}, [
      { t: 'heard', at: 2_000, epoch: 1, from: 1_000, text: 'Well', how: 'interrupted', complete: false },
      { t: 'tool', at: 500, key: 'k', id: 'i', name: 'book', ms: 40, outcome: 'failed', detail: 'timeout' },
      { t: 'operator', at: 3_000, id: 'o', role: 'take_over', name: 'Maria', until: 65_000 },
      { t: 'fault', at: 2_500, stage: 'llm', what: 'first_token_timeout' },
      { t: 'tally', at: 4_000, keys: 2 },
    ]);
    expect(happenedIn(record)).toEqual([
      { at: 500, what: 'Tool book: failed after 40 ms (timeout).', isBad: true },
      { at: 2_000, what: 'The caller interrupted the agent.' },
      { at: 2_500, what: 'Fault of llm: first token timeout.', isBad: true },
      { at: 3_000, what: 'Maria spoke in place of the agent, until 1:05.' },
      { at: 4_000, what: 'The caller pressed 2 keys.' },
    ]);
    expect(saidText(record)).toBe('[0:01] Agent: Well\n');
  });

  it('names who called, or was called', () => {
    expect(partyOf(row)).toBe('websocket');
    expect(partyOf({ ...row, from: '+1', to: '+2' })).toBe('+1');
    expect(partyOf({ ...row, from: '+1', to: '+2', direction: 'outbound' })).toBe('to +2');
  });
});

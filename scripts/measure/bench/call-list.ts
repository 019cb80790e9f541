/** How fast a database with many calls lists them: each filter on a database that is filled for the purpose. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newPrng } from '../../../shared/base/prng.ts';
import { CallFold } from '../../../shared/calls/fold.ts';
import type { CallFact } from '../../../shared/calls/facts.ts';
import { withCost } from '../../../shared/calls/prices.ts';
import type { CallQuery } from '../../../shared/calls/query.ts';
import { openDatabase } from '../../../records/database.ts';
import { SqlCallStore } from '../../../records/sql-call-store.ts';
import { ms, table } from './report/report.ts';
import { Distribution, type FloorRow, type Summary } from './report/statistics.ts';

export interface CallListOptions {
  readonly count: number;
  /** The address of an empty PostgreSQL database; absent: an SQLite file. */
  readonly database: string | undefined;
}

interface Row {
  readonly name: string;
  readonly found: number;
  readonly times: Summary;
}

export interface CallListResult {
  readonly count: number;
  readonly dialect: string;
  /** Of one record, put into the database. */
  readonly insertMs: Summary;
  readonly rows: readonly Row[];
}

const rounds = 20;
const mostMs = 100;
const dayMs = 86_400_000;
const begin = Date.parse('2026-11-01T00:00:00Z');

const words = ['table', 'invoice', 'delivery', 'appointment', 'tomorrow', 'please', 'number', 'address'];
const ends = ['caller_hung_up', 'agent_ended', 'connection_lost', 'transferred', 'fault'] as const;

/** Calls of 30 days and 20 agents, each with eight turns. */
function* factsOfCalls(count: number): Generator<readonly CallFact[]> {
  const prng = newPrng(1);
  for (let n = 0; n < count; n += 1) {
    const facts: CallFact[] = [
      {
        ...{ t: 'call', v: 1, at: 0, id: `record-${n}`, call: `call-${n}`, session: `session-${n}` },
        ...{ agent: `agent-${n % 20}`, direction: 'inbound', transport: 'sip' },
        ...{ token: { customer: String(n % 5_000) }, client: {}, from: `+1555${n % 10_000}` },
        started: begin + Math.floor((n / count) * 30 * dayMs),
      },
    ];
    for (let turn = 1; turn <= 8; turn += 1) {
      const at = turn * 5_000;
      const text = `${prng.pick(words)} ${prng.pick(words)} ${n % 1_000} ${prng.pick(words)}`;
      facts.push(
        { t: 'said', role: 'caller', epoch: turn, from: at, at: at + 1_000, text },
        { t: 'times', at: at + 1_000, epoch: turn, ms: [300, 50, 200 + prng.below(2_000), 150, 20] },
        { t: 'heard', epoch: turn, from: at, at: at + 2_000, text, how: 'finished', complete: true },
        {
          ...{ t: 'used', at, stage: 'llm', provider: 'llm_chat' },
          units: { input_tokens: prng.below(20_000), output_tokens: 100 },
        },
      );
    }
    if (n % 50 === 0) facts.push({ t: 'fault', at: 9_000, stage: 'llm', what: 'failed' });
    facts.push({ t: 'end', at: 50_000, code: prng.pick(ends) });
    yield facts;
  }
}

const prices = {
  ...{ currency: 'USD', as_of: '2026-11-28', source: 'made up for the bench' },
  price: [
    { stage: 'llm' as const, provider: 'llm_chat', per_million: { input_tokens: 2, output_tokens: 8 } },
  ],
};

const queries: readonly (readonly [string, CallQuery])[] = [
  ['the newest', {}],
  ['one day', { since: begin + 14 * dayMs, before: begin + 15 * dayMs }],
  ['one agent', { agent: 'agent-7' }],
  ['one end', { code: 'fault' }],
  ['faulty', { isFaulty: true }],
  ['slow answers', { slowerThanMs: 2_700 }],
  ['costly', { minCost: 0.25 }],
  ['one number', { number: '+1555123' }],
  ['metadata', { metadata: { key: 'customer', value: '123' } }],
  ['a rare word', { text: '777' }],
  ['a common word', { text: 'table' }],
  ['a word and an agent', { text: 'invoice', agent: 'agent-3' }],
  ['words that nobody said', { text: 'zanzibar' }],
  ['slow of one agent, no such', { slowerThanMs: 100_000, agent: 'agent-3' }],
];

export async function callList(
  { count, database }: CallListOptions,
  log: (text: string) => void,
): Promise<CallListResult> {
  const folder = mkdtempSync(join(tmpdir(), 'voice-call-list-'));
  try {
    const opened = await openDatabase(database ?? join(folder, 'calls.db'));
    const store = new SqlCallStore(opened);
    const inserts = new Distribution();
    let done = 0;
    for (const facts of factsOfCalls(count)) {
      const fold = new CallFold();
      for (const fact of facts) fold.take(fact);
      const record = fold.record();
      if (record === undefined) throw new Error('a call of the bench has no record');
      const from = performance.now();
      await store.insert(withCost(record, prices));
      inserts.add(performance.now() - from);
      done += 1;
      if (done % 10_000 === 0) log(`${done} of ${count} calls are in the database\n`);
    }
    const rows: Row[] = [];
    for (const [name, query] of queries) {
      const times = new Distribution();
      let found = 0;
      for (let round = 0; round < rounds; round += 1) {
        const from = performance.now();
        found = (await store.list(query)).rows.length;
        times.add(performance.now() - from);
      }
      rows.push({ name, found, times: times.summary() });
    }
    await store.close();
    return { count, dialect: opened.dialect, insertMs: inserts.summary(), rows };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function judgeCallList({ count, rows }: CallListResult): FloorRow[] {
  const slowest = rows.toSorted((a, b) => b.times.p50Ms - a.times.p50Ms)[0];
  return [
    {
      rule: `a page of ${count} calls by any filter in at most ${mostMs} ms, p50`,
      found: `${ms(slowest?.times.p50Ms ?? 0)} ms (${slowest?.name ?? ''})`,
      passed: (slowest?.times.p50Ms ?? 0) <= mostMs,
    },
  ];
}

export function describeCallList(result: CallListResult): string {
  const { count, dialect, insertMs, rows } = result;
  return [
    `${count} calls in ${dialect}; one record is put in within ${ms(insertMs.p50Ms)} ms, p99 ${ms(insertMs.p99Ms)} ms`,
    '',
    ...table([
      ['a page of 50, ms', 'rows', 'p50', 'p99', 'max'],
      ...rows.map(({ name, found, times: { p50Ms, p99Ms, maxMs } }) => [
        ...[name, String(found), ms(p50Ms), ms(p99Ms), ms(maxMs)],
      ]),
    ]),
    '',
    ...judgeCallList(result).map(
      ({ rule, found, passed }) => `  ${rule}: ${found}  ${passed ? 'PASS' : 'FAIL'}`,
    ),
  ].join('\n');
}

/** Calls that wait to be analysed: none is forgotten, none is analysed for ever. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fail, ok } from '../../../shared/base/result.ts';
import { shownRecord } from '../../../cli/commands/calls/shown-calls.ts';
import { parseJson, writeJson } from '../../../shared/base/exact-json.ts';
import { nothingUsed } from '../../../shared/calls/analysis/analyse.ts';
import { recordBody } from '../../../shared/calls/webhooks/payload.ts';
import type { AnalystOutcome } from '../../../shared/calls/messages.ts';
import type { PriceTable } from '../../../shared/calls/prices.ts';
import type { CallRecord } from '../../../shared/calls/record.ts';
import { Analyses, type AnalysisNews } from '../../../records/analysis/analyses.ts';
import { openDatabase } from '../../../records/database.ts';
import { SqlCallStore } from '../../../records/sql-call-store.ts';
import { newVirtualClock, type VirtualClock } from '../../support/core/virtual-clock.ts';
import { recordOf } from '../../support/calls/records.ts';

type Outcome = AnalystOutcome;

let dir: string;
let clock: VirtualClock;
let store: SqlCallStore;
let isStoreGone: boolean;
let outcomes: (Outcome | Promise<Outcome>)[];
let asked: string[];
let analyzed: CallRecord[];
let news: AnalysisNews[];
let open: Analyses[];
let prices: PriceTable | undefined;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'svc-analyses-'));
  clock = newVirtualClock();
  store = new SqlCallStore(await openDatabase(join(dir, 'calls.db')));
  isStoreGone = false;
  outcomes = [];
  asked = [];
  analyzed = [];
  news = [];
  open = [];
  prices = undefined;
});

afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

const jobs = (): string[] => readdirSync(join(dir, 'jobs')).filter((name) => name.endsWith('.json'));

function newAnalyses(): Analyses {
  const made = new Analyses({
    dir: join(dir, 'jobs'),
    isAsked: ({ name }) => name !== 'another',
    store: () => (isStoreGone ? Promise.reject(new Error('gone')) : Promise.resolve(store)),
    analyse: (record) => {
      asked.push(record.id);
      return Promise.resolve(outcomes.shift() ?? good);
    },
    analyzed: (record) => void analyzed.push(record),
    prices,
    clock,
    wallClock: { now: () => 1_000_000 + clock.now() },
    told: (one) => void news.push(one),
  });
  open.push(made);
  return made;
}

const made: Extract<Outcome, { readonly ok: true }>['value'] = {
  result: { summary: 'A table.', success: { booked: { answer: 'yes', quote: 'a table' } } },
  usage: { input_tokens: 1, cached_tokens: 0, output_tokens: 2 },
  ...{ provider: 'chat_compatible', model: 'small' },
};
const good: Outcome = ok(made);
const pricesIn = (currency: string): PriceTable => ({
  ...{ currency, as_of: '2026-11-28', source: 'a contract' },
  price: [
    {
      ...{ stage: 'analysis', provider: 'chat_compatible', model: 'small' },
      per_million: { input_tokens: 2, cached_tokens: 1, output_tokens: 10 },
    },
  ],
});

const unreachable: Outcome = fail({ reason: 'unreachable', isFinal: false });

const spoken = (id: string): CallRecord =>
  recordOf({ id }, [{ t: 'said', at: 1, role: 'caller', epoch: 1, from: 0, text: 'a table' }]);

async function keep(analyses: Analyses, record: CallRecord): Promise<void> {
  await store.insert(record, analyses.within);
  analyses.kept();
}

async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await Promise.all(open.map((one) => one.settled()));
}

describe('the analysis of a call', () => {
  it('keeps every digit in its record, in what is told and in what is shown', async () => {
    const { result } = made;
    const data = parseJson('{"order":9007199254740993,"price":10.00,"guests":4}') as Record<string, unknown>;
    outcomes = [ok({ ...made, result: { ...result, data } })];
    const analyses = newAnalyses();
    await keep(analyses, spoken('a'));
    await pass(0);
    const record = await store.get('a');
    const [told] = analyzed;
    if (record === undefined || told === undefined) throw new Error('the call was analysed');
    const shown = shownRecord(record).find((line) => line.includes('analysis'));
    const sent = recordBody(told, { type: 'call.analyzed', at: 0 });
    for (const text of [writeJson(record), sent, shown])
      expect(text).toContain('"data":{"order":9007199254740993,"price":10.00,"guests":4}');
  });

  it('stands in its record, in lists, and is told', async () => {
    const analyses = newAnalyses();
    await keep(analyses, spoken('a'));
    await pass(0);
    expect((await store.get('a'))?.analysis).toEqual({
      status: 'ok',
      at: '1970-01-01T00:16:40.000Z',
      model: 'small',
      outcome: 'success',
      summary: 'A table.',
      success: { booked: { answer: 'yes', quote: 'a table' } },
      usage: { input_tokens: 1, cached_tokens: 0, output_tokens: 2 },
    });
    expect((await store.list({ outcome: 'success' })).rows).toHaveLength(1);
    expect(analyzed).toMatchObject([{ id: 'a', analysis: { status: 'ok' } }]);
    expect(jobs()).toEqual([]);
  });

  it('adds its tokens and their cost to what the call used, those of attempts in vain as well', async () => {
    prices = pricesIn('EUR');
    const usage = { input_tokens: 1_000, cached_tokens: 400, output_tokens: 100 };
    const by = { provider: 'chat_compatible', model: 'small' };
    outcomes = [
      fail({ reason: 'unreachable', isFinal: false, usage, ...by }),
      ok({ result: { summary: 'A table.' }, usage, ...by }),
    ];
    const before: CallRecord = {
      ...spoken('a'),
      cost: { currency: 'EUR', total: 1, by_stage: { stt: 1 }, unpriced: ['tts t'], as_of: '2026-01-01' },
    };
    await keep(newAnalyses(), before);
    await pass(0);
    await pass(59_000);
    await pass(6_000);
    const units = { input_tokens: 2_000, cached_tokens: 800, output_tokens: 200 };
    expect(analyzed).toHaveLength(1);
    expect(await store.get('a')).toEqual({ ...analyzed[0] });
    expect(analyzed[0]).toMatchObject({
      analysis: { status: 'ok', usage: units },
      usage: {
        by_stage: { analysis: units },
        by_provider: [...before.usage.by_provider, { stage: 'analysis', ...by, units }],
      },
      // 1,200 at 2, 800 at 1 and 200 at 10 for a million.
      cost: {
        total: 1.0052,
        by_stage: { stt: 1, analysis: 0.0052 },
        unpriced: ['tts t'],
        as_of: '2026-01-01',
      },
    });
    expect((await store.list({ minCost: 1.005 })).rows).toMatchObject([{ id: 'a', cost: 1.0052 }]);
  });

  it('has tokens where it failed, none where the LLM tells of none, and no price that nobody has given', async () => {
    prices = pricesIn('USD');
    const usage = { input_tokens: 10, cached_tokens: 0, output_tokens: 1 };
    const by = { provider: 'chat_compatible', model: 'small' };
    const cost = { currency: 'EUR', total: 1, by_stage: {}, unpriced: [], as_of: '2026-01-01' };
    outcomes = [
      fail({ reason: 'invalid_answer', isFinal: true, usage, ...by }),
      ok({ result: {}, usage: nothingUsed, ...by }),
      ok({ result: {}, usage, ...by }),
    ];
    const analyses = newAnalyses();
    await keep(analyses, { ...spoken('a'), cost });
    await keep(analyses, spoken('b'));
    await keep(analyses, spoken('c'));
    await pass(0);
    const [a, b, c] = analyzed;
    expect(a).toMatchObject({
      analysis: { status: 'failed', reason: 'invalid_answer' },
      usage: { by_stage: { analysis: usage } },
      cost: {
        total: 1,
        unpriced: [
          'analysis chat_compatible small input_tokens',
          'analysis chat_compatible small output_tokens',
        ],
      },
    });
    expect(b?.usage.by_stage).toEqual({});
    expect(c?.usage.by_stage).toEqual({ analysis: usage });
    expect(c).not.toHaveProperty('cost');
  });

  it('is tried twice more when the LLM cannot be had, and then said to have failed', async () => {
    outcomes = [unreachable, unreachable, unreachable];
    await keep(newAnalyses(), spoken('a'));
    await pass(0);
    await pass(59_000);
    expect(asked).toHaveLength(1);
    await pass(6_000);
    expect(asked).toHaveLength(2);
    await pass(600_000);
    await pass(10_000);
    expect(asked).toHaveLength(3);
    expect(news.map(({ type }) => type)).toEqual(['again', 'again', 'given_up']);
    expect(analyzed).toMatchObject([{ analysis: { status: 'failed', reason: 'unreachable' } }]);
    await pass(10_000_000);
    expect(asked).toHaveLength(3);
  });

  it('of one agent does not wait for the LLM of another that fails', async () => {
    const analyses = newAnalyses();
    const troubled = (id: string): CallRecord => ({ ...spoken(id), agent: { name: 'clinic/desk' } });
    outcomes = [unreachable, good, unreachable];
    for (const record of [troubled('a'), troubled('b'), spoken('c')]) await keep(analyses, record);
    await pass(0);
    expect(asked).toEqual(['a', 'c']);
    await pass(66_000);
    await pass(6_000);
    expect(asked).toEqual(['a', 'c', 'b']);
    await pass(66_000);
    await pass(6_000);
    expect(asked).toHaveLength(3);
    await pass(610_000);
    await pass(10_000);
    await pass(10_000);
    expect(analyzed.map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('is not tried again when no answer was valid', async () => {
    outcomes = [fail({ reason: 'invalid_answer', isFinal: true })];
    await keep(newAnalyses(), spoken('a'));
    await pass(0);
    expect(analyzed).toMatchObject([{ analysis: { status: 'failed', reason: 'invalid_answer' } }]);
    expect(jobs()).toEqual([]);
  });

  it('is made by the next process, when this one dies before or meanwhile', async () => {
    const first = newAnalyses();
    let die: (outcome: Outcome) => void = () => undefined;
    outcomes = [new Promise((resolve) => (die = resolve))];
    await keep(first, spoken('a'));
    clock.advance(0);
    await keep(first, spoken('b'));
    const closed = first.close();
    die(fail({ reason: 'process_died', isFinal: false }));
    await closed;
    expect(jobs()).toHaveLength(2);
    newAnalyses();
    await pass(0);
    expect(analyzed.map(({ id }) => id).toSorted()).toEqual(['a', 'b']);
    expect(news.map(({ type }) => type)).toEqual(['analysed', 'analysed']);
  });

  it('is made by one process of two', async () => {
    newAnalyses();
    await pass(0);
    const second = newAnalyses();
    await keep(second, spoken('a'));
    await pass(6_000);
    expect(asked).toEqual([]);
    await open[0]?.close();
    await pass(6_000);
    expect(asked).toEqual(['a']);
  });

  it('waits while the database is gone, and costs no question meanwhile', async () => {
    await keep(newAnalyses(), spoken('a'));
    isStoreGone = true;
    await pass(0);
    await pass(60_000);
    expect(asked).toEqual([]);
    isStoreGone = false;
    await pass(10_000);
    expect(analyzed).toHaveLength(1);
  });

  it('is not asked for where nothing was said, or by another agent, and dropped where the record is gone', async () => {
    const analyses = newAnalyses();
    await keep(analyses, recordOf({ id: 'a' }));
    await keep(analyses, { ...spoken('b'), agent: { name: 'another' } });
    await keep(analyses, spoken('c'));
    await store.retain(Number.MAX_SAFE_INTEGER);
    await pass(0);
    expect(asked).toEqual([]);
    expect(jobs()).toEqual([]);
  });

  it('passes a file over that is none of a job', async () => {
    const first = newAnalyses();
    await first.close();
    writeFileSync(join(dir, 'jobs', 'x.json'), '{"id":1');
    await keep(newAnalyses(), spoken('a'));
    await pass(0);
    expect(asked).toEqual(['a']);
    expect(jobs()).toEqual([]);
  });
});

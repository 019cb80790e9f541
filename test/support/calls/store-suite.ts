/** What is expected of the store of records, whichever database it has. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { CallFact } from '../../../shared/calls/facts.ts';
import type { CallStore } from '../../../records/call-store.ts';
import type { CallQuery } from '../../../shared/calls/query.ts';
import { openDatabase } from '../../../records/database.ts';
import { SqlCallStore } from '../../../records/sql-call-store.ts';
import { recordOf, startedMs } from './records.ts';

/** `newDatabase` names an empty one. */
export function storeSuite(newDatabase: () => string): void {
  let store: CallStore;
  beforeEach(async () => {
    await store?.close();
    store = new SqlCallStore(await openDatabase(newDatabase()));
  });

  const ids = async (query: Parameters<CallStore['list']>[0]): Promise<string[]> =>
    (await store.list(query)).rows.map(({ id }) => id);

  describe('the store of records', () => {
    it('keeps a record once', async () => {
      expect(await store.insert(recordOf())).toBe(true);
      expect(await store.insert(recordOf({ agent: 'another' }))).toBe(false);
      expect(await store.get('record-1')).toEqual(recordOf());
      expect(await ids({})).toEqual(['record-1']);
    });

    it('finds the newest record of an id that a client chose for several calls', async () => {
      await store.insert(recordOf({ id: 'a', call: 'same' }));
      await store.insert(recordOf({ id: 'b', call: 'same' }));
      expect((await store.get('same'))?.id).toBe('b');
      expect((await store.get('a'))?.id).toBe('a');
    });

    it('lists the newest first, page by page', async () => {
      for (let n = 0; n < 5; n += 1)
        await store.insert(recordOf({ id: `r${n}`, started: startedMs + (n >> 1) * 1000 }));
      const first = await store.list({ limit: 2 });
      const second = await store.list({ limit: 2, cursor: first.next ?? '' });
      const third = await store.list({ limit: 2, cursor: second.next ?? '' });
      expect([first, second, third].map(({ rows }) => rows.map(({ id }) => id))).toEqual([
        ['r4', 'r3'],
        ['r2', 'r1'],
        ['r0'],
      ]);
      expect(third.next).toBeUndefined();
    });

    it('finds calls by what their rows say', async () => {
      await store.insert(recordOf({ id: 'a', agent: 'one', from: '+15550100' }));
      await store.insert(
        recordOf({ id: 'b', agent: 'two', client: { plan: 'gold' }, token: { plan: 'silver' } }, [
          { t: 'fault', at: 5, stage: 'llm', what: 'failed' },
          { t: 'times', at: 6, epoch: 1, ms: [100, 100, 700, 200, 1] },
        ]),
      );
      await store.insert(recordOf({ id: 'c', started: startedMs + 1 }, [], { code: 'refused' }));
      expect(await ids({ agent: 'one' })).toEqual(['a']);
      expect(await ids({ number: '+15550100' })).toEqual(['a']);
      expect(await ids({ slowerThanMs: 1100 })).toEqual(['b']);
      expect(await ids({ isFaulty: true })).toEqual(['c', 'b']);
      expect(await ids({ code: 'refused' })).toEqual(['c']);
      expect(await ids({ since: startedMs + 1 })).toEqual(['c']);
      expect(await ids({ before: startedMs + 1 })).toEqual(['b', 'a']);
      expect(await ids({ metadata: { key: 'plan', value: 'silver' } })).toEqual(['b']);
      expect(await ids({ metadata: { key: 'plan', value: 'gold' } })).toEqual(['b']);
    });

    it('finds calls by words, whatever stands in the question', async () => {
      const said = (text: string) => ({ t: 'said', role: 'caller', epoch: 1, from: 0, at: 1, text }) as const;
      await store.insert(recordOf({ id: 'a' }, [said('A table for four, please.')]));
      await store.insert(recordOf({ id: 'b' }, [said('Einen Tisch für vier bitte')]));
      expect(await ids({ text: 'table FOUR' })).toEqual(['a']);
      expect(await ids({ text: 'für' })).toEqual(['b']);
      expect(await ids({ text: '"table" OR* -x' })).toEqual([]);
      expect(await ids({ text: "four'; drop table calls" })).toEqual([]);
    });

    it('adds an analysis, and what lists are filtered by', async () => {
      await store.insert(recordOf());
      const analysis = { summary: 'A booking.', outcome: 'yes' };
      const cost = { currency: 'EUR', total: 9, by_stage: {}, unpriced: [], as_of: '2026-11-28' };
      expect(await store.updateAnalysis('record-1', (record) => ({ ...record, analysis, cost }))).toBe(true);
      expect(await store.updateAnalysis('unknown', (record) => record)).toBe(false);
      expect((await store.get('record-1'))?.analysis).toEqual(analysis);
      expect((await store.list({ minCost: 9 })).rows).toMatchObject([{ cost: 9, currency: 'EUR' }]);
      expect(await ids({ outcome: 'yes' })).toEqual(['record-1']);
    });

    it("erases all of somebody's calls and nobody else's", async () => {
      const said = { t: 'said', role: 'caller', epoch: 1, from: 0, at: 1, text: 'secret word' } as const;
      for (let n = 0; n < 3; n += 1) await store.insert(recordOf({ id: `a${n}`, from: '+15550100' }, [said]));
      await store.insert(recordOf({ id: 'to', to: '+15550100' }, [said]));
      await store.insert(recordOf({ id: 'other', from: '+15550199', client: { who: 'x' } }, [said]));
      const erased = await store.erase({ number: '+15550100' });
      expect(erased.map(({ id }) => id).toSorted()).toEqual(['a0', 'a1', 'a2', 'to']);
      expect(await ids({ text: 'secret' })).toEqual(['other']);
      expect(await store.get('a0')).toBeUndefined();
      expect((await store.erase({ metadata: { key: 'who', value: 'x' } })).length).toBe(1);
      expect(await ids({ text: 'secret' })).toEqual([]);
    });

    it('finds and erases a number however it is written, and no other', async () => {
      const from = ['+15550100', '15550100', '0015550100', '5550100', 'anonymous'];
      for (const [at, one] of from.entries()) await store.insert(recordOf({ id: `n${at}`, from: one }));
      expect(await ids({ number: '+1 (555) 01-00' })).toEqual(['n2', 'n1', 'n0']);
      expect((await store.erase({ number: '00 1 555.0100' })).length).toBe(3);
      expect((await store.erase({ number: 'anonymous' })).length).toBe(1);
      expect((await store.erase({ number: '%' })).length).toBe(0);
      expect(await ids({})).toEqual(['n3']);
    });

    it('gives and erases the calls of one tenant alone, where one is asked for', async () => {
      const [mine, theirs] = [
        { agent: 'mine/a', tenant: 'mine' },
        { agent: 'theirs/a', tenant: 'theirs' },
      ];
      const from = '+15550100';
      await store.insert(recordOf({ id: 'm', call: 'same', from, ...mine }));
      await store.insert(recordOf({ id: 't', call: 'same', from, ...theirs }));
      await store.insert(recordOf({ id: 'own', call: 'same', from }));
      const got = async (id: string, tenant?: string): Promise<string | undefined> =>
        (await store.get(id, tenant))?.id;
      expect([await got('same'), await got('same', 'mine'), await got('same', 'theirs')]).toEqual([
        ...['own', 'm', 't'],
      ]);
      expect([await got('t', 'mine'), await got('own', 'mine'), await got('m', 'mine')]).toEqual([
        ...[undefined, undefined, 'm'],
      ]);
      expect((await store.erase({ number: from, tenant: 'mine' })).map(({ id }) => id)).toEqual(['m']);
      expect(await ids({})).toEqual(['own', 't']);
    });

    it('erases calls by their age', async () => {
      await store.insert(recordOf({ id: 'old' }));
      await store.insert(recordOf({ id: 'new', started: startedMs + 1000 }));
      expect(await store.retain(startedMs + 500)).toBe(1);
      expect(await ids({})).toEqual(['new']);
    });

    it('finds words that many calls have as it finds others, page by page', async () => {
      const few = new SqlCallStore(await openDatabase(newDatabase()), 4);
      const said = (text: string): CallFact => ({
        t: 'said',
        role: 'caller',
        epoch: 1,
        from: 0,
        at: 1,
        text,
      });
      for (let n = 0; n < 12; n += 1) {
        const text = n % 2 === 0 ? 'A table, please' : 'Nothing';
        await few.insert(
          recordOf({ id: `r${n}`, agent: n < 6 ? 'a' : 'b', started: startedMs - n }, [said(text)]),
        );
      }
      const found = async (query: CallQuery): Promise<string[]> =>
        (await few.list(query)).rows.map(({ id }) => id);
      expect(await found({ text: 'table' })).toEqual(['r0', 'r2', 'r4', 'r6', 'r8', 'r10']);
      expect(await found({ text: 'please table', agent: 'b' })).toEqual(['r6', 'r8', 'r10']);
      expect(await found({ text: 'table nothing' })).toEqual([]);
      const first = await few.list({ text: 'table', limit: 4 });
      expect(await found({ text: 'table', cursor: first.next ?? '' })).toEqual(['r8', 'r10']);
      await few.close();
    });

    it('takes records that no column and no index has room for as they are', async () => {
      const odd = 'a\u0000\uD800b';
      const words = Array.from({ length: 4_000 }, (_, n) => `${n} `.repeat(500)).map((text, n) => ({
        ...{ t: 'said' as const, role: 'caller' as const, epoch: n, from: n, at: n },
        text: `${text} \u0000 word${n}`,
      }));
      const record = recordOf(
        {
          ...{ id: 'odd', call: odd, agent: odd, tenant: odd, from: odd, session: odd },
          client: { [odd]: odd, ['k'.repeat(5_000)]: 'v'.repeat(50_000) },
        },
        words,
        { detail: odd },
      );
      expect(await store.insert(record)).toBe(true);
      expect(await store.get(odd)).toEqual(record);
      expect(await ids({ agent: odd, tenant: odd, number: odd, metadata: { key: odd, value: odd } })).toEqual(
        ['odd'],
      );
      expect(await ids({ metadata: { key: 'k'.repeat(5_000), value: 'v'.repeat(50_000) } })).toEqual(['odd']);
      expect(await ids({ text: 'word0' })).toEqual(['odd']);
      expect(await store.updateAnalysis('odd', (record) => ({ ...record, analysis: { outcome: odd } }))).toBe(
        true,
      );
      expect(await ids({ outcome: odd })).toEqual(['odd']);
      expect((await store.erase({ number: odd })).length).toBe(1);
      expect(await store.get('odd')).toBeUndefined();
    });

    it('does together what belongs together', async () => {
      const fails = store.insert(recordOf(), () => Promise.reject(new Error('no')));
      await expect(fails).rejects.toThrow('no');
      expect(await store.get('record-1')).toBeUndefined();
      expect(await store.insert(recordOf())).toBe(true);
    });

    it('gives whole records one after another', async () => {
      for (let n = 0; n < 120; n += 1)
        await store.insert(recordOf({ id: `r${n}`, agent: n % 2 ? 'a' : 'b' }));
      const seen: string[] = [];
      await store.each({ agent: 'a' }, ({ id }) => void seen.push(id));
      expect(seen.length).toBe(60);
      expect(new Set(seen).size).toBe(60);
    });
  });
}

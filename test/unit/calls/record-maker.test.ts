/** What makes records of spools on a real disk, where the store does not take all of them. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { spoolFile } from '../../../shared/calls/spool.ts';
import { RecordMaker } from '../../../records/record-maker.ts';
import { DiskSpool } from '../../../records/spool-folder.ts';
import { headFact } from '../../support/calls/records.ts';

let dir: string;
let kept: string[];
let refused: unknown[];
let dropped: string[];
/** Records that the store does not take. */
let poison: ReadonlySet<string>;
let isGone: boolean;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-spool-'));
  for (const folder of ['open', 'ended']) mkdirSync(join(dir, folder));
  [kept, refused, dropped, poison, isGone] = [[], [], [], new Set(), false];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const ended = (...ids: readonly string[]): void => {
  for (const id of ids) {
    const path = join(dir, 'ended', spoolFile(id));
    writeFileSync(path, `${JSON.stringify(headFact({ id }))}\n{"t":"end","at":5,"code":"caller_hung_up"}\n`);
    const at = 1_000 + readdirSync(join(dir, 'ended')).length;
    utimesSync(path, at, at);
  }
};

const newMaker = (mostBytes = Infinity): RecordMaker =>
  new RecordMaker({
    spool: new DiskSpool(dir),
    store: () => (isGone ? Promise.reject(new Error('gone')) : Promise.resolve(store)),
    hooks: [],
    priced: (record) => record,
    mostBytes,
    wallNow: () => 0,
    who: { isAlive: () => true, stillForMs: () => 0 },
    dropped: (names) => void dropped.push(...names),
    refused: (error) => void refused.push(error),
  });

const store = {
  insert: ({ id }: { readonly id: string }): Promise<boolean> => {
    if (poison.has(id)) return Promise.reject(new Error(`no room for ${id}`));
    kept.push(id);
    return Promise.resolve(true);
  },
};

describe('records of calls that ended', () => {
  it('are kept although the store refuses others that are older, in this look or in the next', async () => {
    const maker = newMaker();
    poison = new Set(['a', 'b', 'c', 'd', 'e']);
    ended('a', 'b', 'c', 'd', 'e', 'f', 'g');
    await expect(maker.look()).rejects.toThrow('no room for a');
    await maker.look().catch(() => undefined);
    expect(kept.toSorted()).toEqual(['f', 'g']);
    ended('h');
    expect(await maker.look()).toBe(1);
    expect(kept).toContain('h');
    expect(refused.length).toBeGreaterThan(0);
    expect(maker.waiting).toMatchObject({ count: 5 });
    poison = new Set();
    expect(await maker.look()).toBe(5);
    expect(maker.waiting).toEqual({ count: 0, bytes: 0, oldestMs: undefined });
    expect(readdirSync(join(dir, 'ended'))).toEqual([]);
  });

  it('wait where the store is gone, and say since when; beyond their bound the oldest are dropped', async () => {
    isGone = true;
    ended('a', 'b', 'c', 'd');
    const maker = newMaker();
    await expect(maker.look()).rejects.toThrow('gone');
    expect(maker.waiting).toMatchObject({ count: 4, oldestMs: 1_001_000 });
    const few = newMaker(maker.waiting.bytes / 2);
    await expect(few.look()).rejects.toThrow('gone');
    expect(dropped).toEqual([spoolFile('a'), spoolFile('b')]);
    expect(few.waiting).toMatchObject({ count: 2, oldestMs: 1_003_000 });
    isGone = false;
    expect(await few.look()).toBe(2);
    expect(kept).toEqual(['c', 'd']);
  });
});

import { describe, it, expect } from 'vitest';
import { fail, ok } from '../../../shared/base/result.ts';
import { TokenLedger } from '../../../supervisor/admission/token-ledger.ts';
import { TokenStore } from '../../../supervisor/admission/token-store.ts';
import type { SharedSet } from '../../../supervisor/admission/token-store.ts';

const nowS = 1_800_000_000;
const token = { sid: 'a', expS: nowS + 60 };

/** A shared set whose answers the test gives, one after the other. */
class FakeSet implements SharedSet {
  readonly asked: { id: string; ttlMs: number }[] = [];
  answer: Awaited<ReturnType<SharedSet['add']>> = ok('added');
  isClosed = false;

  add(id: string, ttlMs: number): ReturnType<SharedSet['add']> {
    this.asked.push({ id, ttlMs });
    return Promise.resolve(this.answer);
  }

  remove(id: string): Promise<void> {
    this.asked.push({ id: `-${id}`, ttlMs: 0 });
    return Promise.resolve();
  }

  close(): void {
    this.isClosed = true;
  }
}

function newStore({ shared, maxIds = 10 }: { shared?: SharedSet; maxIds?: number } = {}) {
  const warnings: { fields: Readonly<Record<string, string>>; sentence: string }[] = [];
  const time = { nowS };
  const store = new TokenStore({
    ledger: new TokenLedger({ maxIds }),
    wallClock: { now: () => time.nowS * 1000 },
    log: { warn: (fields, sentence) => void warnings.push({ fields, sentence }) },
    ...(shared && { shared }),
  });
  return { store, warnings, time };
}

describe('single use without a shared set', () => {
  it('is a matter of the ledger', async () => {
    const { store } = newStore();
    expect(await store.use(token)).toEqual({ ok: true, value: undefined });
    expect(await store.use(token)).toEqual({ ok: false, error: 'reused' });
  });

  it('says that the set is full at most once a minute', async () => {
    const { store, warnings, time } = newStore({ maxIds: 1 });
    await store.use({ sid: 'x', expS: nowS + 1_000 });
    for (const later of [0, 1, 59, 60, 61]) {
      time.nowS = nowS + later;
      expect(await store.use({ ...token, expS: nowS + 1_000 })).toEqual({ ok: false, error: 'set_full' });
    }
    expect(warnings).toHaveLength(2);
  });
});

describe('a token that is given back', () => {
  it('may be used once more, here and elsewhere', async () => {
    const shared = new FakeSet();
    const { store } = newStore({ shared });
    await store.use(token);
    await store.giveBack(token);
    expect(shared.asked.map(({ id }) => id)).toEqual(['a', '-a']);
    expect((await store.use(token)).ok).toBe(true);
    expect(await store.use(token)).toEqual({ ok: false, error: 'reused' });
  });

  it('needs no shared set', async () => {
    const { store } = newStore();
    await store.use(token);
    await store.giveBack(token);
    expect((await store.use(token)).ok).toBe(true);
  });
});

describe('single use with a shared set', () => {
  it('asks the own ledger first', async () => {
    const shared = new FakeSet();
    const { store } = newStore({ shared });
    expect((await store.use(token)).ok).toBe(true);
    expect(await store.use(token)).toEqual({ ok: false, error: 'reused' });
    expect(shared.asked).toHaveLength(1);
  });

  it('does not ask when there is no room to remember the answer', async () => {
    const shared = new FakeSet();
    const { store } = newStore({ shared, maxIds: 1 });
    await store.use({ ...token, sid: 'x' });
    expect(await store.use(token)).toEqual({ ok: false, error: 'set_full' });
    expect(shared.asked).toHaveLength(1);
  });

  it('remembers what another supervisor has used', async () => {
    const shared = new FakeSet();
    shared.answer = ok('present');
    const { store } = newStore({ shared });
    expect(await store.use(token)).toEqual({ ok: false, error: 'reused' });
    expect(await store.use(token)).toEqual({ ok: false, error: 'reused' });
    expect(shared.asked).toHaveLength(1);
  });

  it('keeps the id for as long as any server may take the token', async () => {
    const shared = new FakeSet();
    const { store, time } = newStore({ shared });
    await store.use(token);
    time.nowS = nowS + 89.5;
    await store.use({ ...token, sid: 'late' });
    expect(shared.asked.map(({ ttlMs }) => ttlMs)).toEqual([150_000, 60_500]);
  });

  it('refuses without an answer, leaves the token unused and says why at most once a minute', async () => {
    const shared = new FakeSet();
    const { store, warnings, time } = newStore({ shared });
    shared.answer = fail('ECONNREFUSED');
    for (const later of [0, 30, 59.9, 60]) {
      time.nowS = nowS + later;
      expect(await store.use(token)).toEqual({ ok: false, error: 'store_unavailable' });
    }
    expect(warnings.map(({ fields }) => fields)).toEqual([
      { reason: 'ECONNREFUSED' },
      { reason: 'ECONNREFUSED' },
    ]);
    shared.answer = ok('added');
    expect((await store.use(token)).ok).toBe(true);
  });

  it('closes the set', () => {
    const shared = new FakeSet();
    newStore({ shared }).store.close();
    expect(shared.isClosed).toBe(true);
  });
});

/** A disk without room for the spool, a database that cannot be written, and a folder that is gone: no call notices. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type LibsqlDatabase from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeptRecords } from '../../support/calls/kept.ts';
import { headFact } from '../../support/calls/records.ts';
import { samplesOf } from '../../support/fakes/fake-speech.ts';
import { restarted, stopAll } from '../../support/process/succession.ts';
import { TestService } from '../../support/process/service.ts';

const Database = createRequire(import.meta.url)('libsql') as typeof LibsqlDatabase;

let service: TestService;
let kept: KeptRecords;
let spool: string;

const greeting = 'Good morning and welcome to the harbour office.';
/** The fakes speak at 24 kHz. */
const greetingMs = samplesOf(greeting) / 24;

beforeEach(() => {
  kept = new KeptRecords();
  spool = join(kept.folder, 'state', 'calls');
  mkdirSync(join(kept.folder, 'state'));
});
afterEach(async () => {
  await stopAll(service);
  kept.remove();
});

async function start(env: Readonly<Record<string, string>> = {}): Promise<void> {
  const state = { SVC_STATE_DIR: join(kept.folder, 'state') };
  service = await TestService.start({ greeting, workers: 1, env: { ...kept.env, ...state, ...env } });
}

/** A caller hears the whole greeting without a gap, and hangs up. */
async function talked(callId: string): Promise<void> {
  let heardMs = 0;
  const call = await service.call({ callId }, (event) => {
    if (event.type === 'audio') heardMs += event.durationMs;
  });
  while (heardMs < greetingMs - 20 && (await call.next(({ type }) => type === 'audio')) !== undefined);
  expect(Math.abs(heardMs - greetingMs)).toBeLessThanOrEqual(20);
  expect(await service.metric('svc_underruns_total')).toBe(0);
  await call.hangUp();
}

const waits = 'records of calls wait: the database or the spool cannot be used';

describe('a disk without room for the spool', () => {
  const filler = (): string => join(spool, 'filler');

  it('costs no call; what waits in memory is written when there is room', async (context) => {
    mkdirSync(spool);
    const mount = ['-t', 'tmpfs', '-o', 'size=64k', 'none', spool];
    if (spawnSync('mount', mount, { stdio: 'ignore' }).status !== 0)
      return context.skip('this user may not mount a small disk');
    try {
      await start();
      expect(() => writeFileSync(filler(), Buffer.alloc(128 * 1024))).toThrow('ENOSPC');
      await Promise.all([talked('one'), talked('two')]);
      await service.says('facts of calls could not be written; they wait', ({ code }) => code === 'ENOSPC');
      expect(await service.metric('svc_call_facts_lost_total{what="write"}')).toBeGreaterThan(0);
      rmSync(filler());
      for (const id of ['one', 'two']) expect((await kept.of(id)).end.code).toBe('caller_hung_up');
      expect(
        service.log.filter(({ msg }) => msg === 'facts of calls could not be written; they wait').length,
      ).toBe(1);
      expect(await service.metric('svc_call_facts_lost_total{what="room"}')).toBe(0);
      expect((await service.stop()).code).toBe(0);
    } finally {
      execFileSync('umount', ['-l', spool]);
    }
  });
});

describe('a database that cannot be written', () => {
  it('has the records later; meanwhile the oldest is told, and there is no more than may wait', async () => {
    // A folder where the file should be.
    mkdirSync(kept.env.SVC_CALLS_DB);
    await start({ SVC_CALLS_WAITING_MAX_MB: '1' });
    await talked('first');
    await service.says(waits);
    await service.counted('svc_call_records_waiting', 1);
    await service.counted('svc_call_records_oldest_seconds', 0.5);
    // As if calls of days waited.
    for (const id of ['a', 'b']) {
      const large = `${JSON.stringify(headFact({ id, call: id }))}\n${'x'.repeat(900_000)}\n`;
      writeFileSync(join(spool, 'ended', `${id}.jsonl`), large);
    }
    await service.says('records of calls were dropped: too many wait, or nothing can be read of them');
    await talked('second');
    rmSync(kept.env.SVC_CALLS_DB, { recursive: true });
    expect((await kept.of('second')).end.code).toBe('caller_hung_up');
    await kept.of('b');
    expect((await kept.all()).map(({ call_id: id }) => id).toSorted()).toEqual(['b', 'second']);
    expect(await service.metric('svc_call_records_total{what="dropped"}')).toBe(2);
  });

  it('because somebody locks it for longer than it is waited for: is asked again', async () => {
    await start();
    await talked('first');
    await kept.of('first');
    const held = new Database(kept.env.SVC_CALLS_DB);
    held.exec('begin exclusive');
    await talked('second');
    await service.says(waits);
    held.exec('rollback');
    held.close();
    expect((await kept.of('second')).end.code).toBe('caller_hung_up');
  });
});

describe('the next supervisor', () => {
  it('goes on with calls and records: each has one', async () => {
    await start({ SVC_DRAIN_TIMEOUT: '60s' });
    const call = await service.call({ callId: 'goes-on' });
    await call.next(({ type }) => type === 'mark-played');
    await restarted(service);
    await talked('new');
    expect((await kept.of('new')).end.code).toBe('caller_hung_up');
    await call.hangUp();
    expect((await kept.of('goes-on')).end.code).toBe('caller_hung_up');
    expect((await kept.all()).length).toBe(2);
  });
});

describe('a folder of the spool that is taken away', () => {
  it('is made anew, and costs no record', async () => {
    await start();
    await talked('before');
    await kept.of('before');
    rmSync(spool, { recursive: true });
    await talked('meanwhile');
    expect((await kept.of('meanwhile')).end.code).toBe('caller_hung_up');
  });
});

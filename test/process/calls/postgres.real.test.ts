/**
 * The records of calls in PostgreSQL as Debian has it: what the store promises, and a service whose server dies, hangs and comes back. Skips
 * where the package is not installed.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { openDatabase } from '../../../records/database.ts';
import { SqlCallStore } from '../../../records/sql-call-store.ts';
import { recordOf } from '../../support/calls/records.ts';
import { storeSuite } from '../../support/calls/store-suite.ts';
import { KeptRecords } from '../../support/calls/kept.ts';
import { postgresMissing, TestPostgres } from '../../support/process/postgres.ts';
import { TestService } from '../../support/process/service.ts';

describe.skipIf(postgresMissing !== undefined)(`PostgreSQL (${postgresMissing ?? 'installed'})`, () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await TestPostgres.start();
  });
  afterAll(async () => {
    await server.close();
  });

  storeSuite(() => server.newDatabase());

  it('is one where several open it at once and bring the same records', async () => {
    const url = server.newDatabase();
    const stores = await Promise.all(
      Array.from({ length: 4 }, async () => new SqlCallStore(await openDatabase(url))),
    );
    const inserted = await Promise.all(
      stores.flatMap((one) => Array.from({ length: 5 }, (_, n) => one.insert(recordOf({ id: `r${n}` })))),
    );
    expect(inserted.filter(Boolean).length).toBe(5);
    expect((await stores[0]?.list({}))?.rows.length).toBe(5);
    await Promise.all(stores.map((one) => one.close()));
  });

  describe('a service', () => {
    let kept: KeptRecords;
    const services: TestService[] = [];
    afterEach(async () => {
      await Promise.all(services.splice(0).map((one) => one.stop()));
      kept.remove();
    });

    /** Hosts that share a database. */
    async function start(hosts = 1): Promise<readonly TestService[]> {
      kept = new KeptRecords(server.newDatabase());
      for (let host = 0; host < hosts; host += 1) {
        const env = { ...kept.env, SVC_STATE_DIR: `${kept.folder}/${host}` };
        services.push(await TestService.start({ workers: 1, greeting: 'Hello.', env }));
      }
      return services;
    }

    async function talked(service: TestService | undefined): Promise<CallClient> {
      const call = await service?.call();
      if (call === undefined) throw new Error('there is no such host');
      await call.next(({ type }) => type === 'mark-played');
      await call.hangUp();
      return call;
    }

    it('keeps the records of several hosts in it', async () => {
      const hosts = await start(2);
      const calls = [await talked(hosts[0]), await talked(hosts[1])];
      for (const { callId } of calls) expect((await kept.of(callId)).end.code).toBe('caller_hung_up');
    });

    it('loses no call and no record when it dies, or hangs for a while', async () => {
      const [service] = await start();
      const first = await talked(service);
      await kept.of(first.callId);
      await server.stop();
      const calls = [await talked(service), await talked(service)];
      const told = await service?.says('records of calls wait: the database or the spool cannot be used');
      expect(told).toMatchObject({ level: 50, role: 'records' });
      expect(Number(told?.['waiting'])).toBeGreaterThan(0);
      expect(JSON.stringify(service?.log)).not.toContain(kept.env.SVC_CALLS_DB);
      await service?.counted('svc_call_records_waiting', 2);
      await server.restart();
      for (const { callId } of calls) expect((await kept.of(callId)).end.code).toBe('caller_hung_up');
      server.hang();
      const late = await talked(service);
      await service?.counted('svc_call_records_waiting', 1);
      server.goOn();
      expect((await kept.of(late.callId)).end.code).toBe('caller_hung_up');
      expect((await kept.all()).length).toBe(4);
      expect(await service?.metric('svc_call_records_total{what="kept"}')).toBe(4);
    });
  });
});

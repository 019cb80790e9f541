/** The records that a running service keeps, read by another process of the same database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallRecord } from '../../../shared/calls/record.ts';
import { openDatabase } from '../../../records/database.ts';
import { SqlCallStore } from '../../../records/sql-call-store.ts';
import { beforeAskingAgain } from '../process/service.ts';

export class KeptRecords {
  readonly folder = mkdtempSync(join(tmpdir(), 'records-'));
  readonly env: { readonly SVC_CALLS_DB: string };

  /** @param database an SQLite file of its own, unless it is named. */
  constructor(database?: string) {
    this.env = { SVC_CALLS_DB: database ?? join(this.folder, 'calls.db') };
  }

  async all(): Promise<readonly CallRecord[]> {
    const store = new SqlCallStore(await openDatabase(this.env.SVC_CALLS_DB));
    const records: CallRecord[] = [];
    await store.each({}, (record) => void records.push(record));
    await store.close();
    return records;
  }

  /** Resolves with all records as soon as there are so many. */
  async atLeast(count: number): Promise<readonly CallRecord[]> {
    for (;;) {
      const records = await this.all();
      if (records.length >= count) return records;
      await beforeAskingAgain();
    }
  }

  /** Resolves with the record of a call as soon as there is one; its only one. */
  async of(callId: string): Promise<CallRecord> {
    for (;;) {
      const found = (await this.all()).filter(({ call_id }) => call_id === callId);
      if (found.length > 1) throw new Error('there are two records of one call');
      const [record] = found;
      if (record !== undefined) return record;
      await beforeAskingAgain();
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Records of calls in a real SQLite file. */
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type LibsqlDatabase from 'libsql';
import { afterAll, expect, it } from 'vitest';
import { openDatabase } from '../../../records/database.ts';
import { storeSuite } from '../../support/calls/store-suite.ts';

const Database = createRequire(import.meta.url)('libsql') as typeof LibsqlDatabase;
const folder = mkdtempSync(join(tmpdir(), 'calls-'));
let files = 0;
const newFile = (): string => join(folder, `${(files += 1)}.db`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

storeSuite(newFile);

it('has all of its tables, or none where the last one could not be made', async () => {
  const path = newFile();
  const other = new Database(path);
  other.exec('create table call_words (other)');
  await expect(openDatabase(path)).rejects.toThrow('call_words');
  other.exec('drop table call_words');
  const { tables } = await openDatabase(path);
  expect(await tables.selectFrom('calls').selectAll().execute()).toEqual([]);
  await tables.destroy();
});

/** How the tables came to be, step by step. A step that was released is never changed: another one follows it. */
import { sql, type Kysely, type Migration } from 'kysely';

export type Dialect = 'sqlite' | 'postgres';

/** By name; they run in the order of their names. */
export const migrationsOf = (dialect: Dialect): Readonly<Record<string, Migration>> => ({
  '2026-11-28-01-calls': { up: (db) => callTables(db, dialect) },
});

async function callTables(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { schema } = db;
  const isSqlite = dialect === 'sqlite';
  await schema
    .createTable('calls')
    .addColumn('seq', isSqlite ? 'integer' : 'bigserial', (column) =>
      isSqlite ? column.primaryKey().autoIncrement() : column.primaryKey(),
    )
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('call_id', 'text', (column) => column.notNull())
    .addColumn('session_id', 'text', (column) => column.notNull())
    .addColumn('agent', 'text', (column) => column.notNull())
    .addColumn('tenant', 'text')
    .addColumn('route', 'text')
    .addColumn('transport', 'text', (column) => column.notNull())
    .addColumn('direction', 'text', (column) => column.notNull())
    .addColumn('from_number', 'text')
    .addColumn('to_number', 'text')
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('duration_ms', 'bigint', (column) => column.notNull())
    .addColumn('end_code', 'text', (column) => column.notNull())
    .addColumn('end_by', 'text', (column) => column.notNull())
    .addColumn('turns', 'integer', (column) => column.notNull())
    .addColumn('slowest_ms', 'integer')
    .addColumn('faults', 'integer', (column) => column.notNull())
    .addColumn('interruptions', 'integer', (column) => column.notNull())
    .addColumn('cost', 'double precision')
    .addColumn('currency', 'text')
    .addColumn('outcome', 'text')
    .execute();
  const indexes = {
    calls_started: ['started_at', 'seq'],
    calls_agent: ['agent', 'started_at'],
    calls_tenant: ['tenant', 'started_at'],
    calls_end: ['end_code', 'started_at'],
    calls_call: ['call_id'],
    calls_from: ['from_number'],
    calls_to: ['to_number'],
  };
  for (const [name, columns] of Object.entries(indexes))
    await schema.createIndex(name).on('calls').columns(columns).execute();
  await schema
    .createTable('call_records')
    .addColumn('seq', 'bigint', (column) => column.primaryKey())
    .addColumn('record', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createTable('call_metadata')
    .addColumn('seq', 'bigint', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('call_metadata_entry').on('call_metadata').columns(['key', 'value']).execute();
  await schema.createIndex('call_metadata_call').on('call_metadata').column('seq').execute();
  if (isSqlite) {
    // Words of which nothing but the index is kept: the text stands in the record.
    await sql`create virtual table call_words using fts5(words, content='', contentless_delete=1)`.execute(
      db,
    );
    return;
  }
  await schema
    .createTable('call_words')
    .addColumn('seq', 'bigint', (column) => column.primaryKey())
    .addColumn('words', sql`tsvector`, (column) => column.notNull())
    .execute();
  await sql`create index call_words_words on call_words using gin (words)`.execute(db);
}

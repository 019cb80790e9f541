/**
 * The database that keeps records of calls: an SQLite file of this machine, or a PostgreSQL server that several hosts share. Tables are the
 * same in both; only the search in words differs. Both drivers are loaded when they are asked for.
 */
import { createRequire } from 'node:module';
import { Kysely, Migrator, PostgresDialect, SqliteDialect, type Generated, type Transaction } from 'kysely';
import type LibsqlDatabase from 'libsql';
import { isPostgres } from '../shared/calls/variables.ts';
import { migrationsOf, type Dialect } from './migrations.ts';

/** One row for each call: what lists show and are filtered by. */
export interface CallsTable {
  seq: Generated<number>;
  id: string;
  call_id: string;
  session_id: string;
  agent: string;
  tenant: string | null;
  route: string | null;
  transport: string;
  direction: string;
  from_number: string | null;
  to_number: string | null;
  /** Milliseconds since 1970. */
  started_at: number;
  duration_ms: number;
  end_code: string;
  end_by: string;
  turns: number;
  slowest_ms: number | null;
  faults: number;
  interruptions: number;
  cost: number | null;
  currency: string | null;
  outcome: string | null;
}

export interface CallTables {
  calls: CallsTable;
  /** The record as JSON, by `seq`. It stands apart, so that a list reads none of it. */
  call_records: { seq: number; record: string };
  call_metadata: { seq: number; key: string; value: string };
  /** What was said: words alone, and no text. */
  call_words: { seq: number; words: string };
}

export type StoreConnection = Kysely<CallTables> | Transaction<CallTables>;

export interface CallDatabase {
  readonly dialect: Dialect;
  readonly tables: Kysely<CallTables>;
}

/** Another process that has the file is waited for. */
const busyMs = 5_000;
/** Of PostgreSQL. */
const answerWithinMs = 15_000;
const mostConnections = 4;
/** The number of the type `bigint`. */
const bigintType = 20;

/** Opens the database and brings its tables up to date. Rejects with what the driver says. */
export async function openDatabase(url: string): Promise<CallDatabase> {
  const { dialect, own, steps } = isPostgres(url) ? await postgresOf(url) : sqliteOf(url);
  const tables = new Kysely<CallTables>({ dialect: own });
  try {
    const migrator = new Migrator({
      db: tables,
      provider: { getMigrations: () => Promise.resolve(migrationsOf(dialect)) },
      allowUnorderedMigrations: true,
    });
    const isBehind = (await migrator.getMigrations()).some(({ executedAt }) => executedAt === undefined);
    if (isBehind) await steps(() => migrated(migrator));
    return { dialect, tables };
  } catch (error) {
    await tables.destroy();
    throw error;
  }
}

async function migrated(migrator: Migrator): Promise<void> {
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined)
    throw error instanceof Error ? error : new Error('the tables cannot be brought up to date');
}

interface Opened {
  readonly dialect: Dialect;
  readonly own: SqliteDialect | PostgresDialect;
  /** Does all steps of a migration or none, while no other process does them. */
  readonly steps: (work: () => Promise<void>) => Promise<void>;
}

function sqliteOf(path: string): Opened {
  const Database = createRequire(import.meta.url)('libsql') as typeof LibsqlDatabase;
  const database = new Database(path, { timeout: busyMs });
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  // The place of an erased record is overwritten.
  database.pragma('secure_delete = ON');
  return {
    dialect: 'sqlite',
    own: new SqliteDialect({ database }),
    // The query builder has neither a lock nor a transaction for this. A process that waited finds that all is done.
    steps: async (work) => {
      database.exec('begin immediate');
      try {
        await work();
        database.exec('commit');
      } catch (error) {
        if (database.inTransaction) database.exec('rollback');
        throw error;
      }
    },
  };
}

async function postgresOf(url: string): Promise<Opened> {
  const { Pool, types } = await import('pg');
  types.setTypeParser(bigintType, Number);
  const pool = new Pool({
    connectionString: url,
    max: mostConnections,
    connectionTimeoutMillis: answerWithinMs,
    query_timeout: answerWithinMs,
  });
  // A connection that breaks while nobody uses it is made anew when somebody does.
  pool.on('error', () => undefined);
  return { dialect: 'postgres', own: new PostgresDialect({ pool }), steps: (work) => work() };
}

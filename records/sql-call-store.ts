/** Records of calls in the tables of a database. */
import { parseJson, writeJson } from '../shared/base/exact-json.ts';
import {
  sql,
  type ExpressionBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  type Expression,
  type RawBuilder,
} from 'kysely';
import { present } from '../shared/base/present.ts';
import { numberForms } from '../shared/calls/numbers.ts';
import { callRecordSchema, type CallRecord } from '../shared/calls/record.ts';
import { isFailedEnd, callEndCodes, type CallEndCode } from '../shared/calls/ends.ts';
import type { CallDatabase, CallsTable, CallTables, StoreConnection } from './database.ts';
import type { CallStore, WithRecord } from './call-store.ts';
import type { CallerData, CallPage, CallQuery, CallRow } from '../shared/calls/query.ts';

const mostRows = 500;
const usualRows = 50;
/** Calls that one statement erases. */
const erasedAtOnce = 500;
/** Of the newest calls: words that so many of them have are common. */
const newest = 200;
const commonOfNewest = 20;

type Calls = SelectQueryBuilder<CallTables, 'calls', object>;

export class SqlCallStore implements CallStore {
  readonly #database: CallDatabase;
  readonly #commonFrom: number;

  /** @param commonFrom calls with the words that are looked for: a set of more is slower to make than a page is to fill with some of them. */
  constructor(database: CallDatabase, commonFrom = 10_000) {
    this.#database = database;
    this.#commonFrom = commonFrom;
  }

  async insert(record: CallRecord, within?: WithRecord): Promise<boolean> {
    return await this.#database.tables.transaction().execute(async (tables) => {
      const inserted = await tables
        .insertInto('calls')
        .values(rowOf(record))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .returning('seq')
        .executeTakeFirst();
      if (inserted === undefined) return false;
      const { seq } = inserted;
      await tables
        .insertInto('call_records')
        .values({ seq, record: writeJson(record) })
        .execute();
      const metadata = Object.values(record.metadata).flatMap((entries) =>
        Object.entries(entries).map((entry) => boundEntry(entry)),
      );
      if (metadata.length > 0)
        await tables
          .insertInto('call_metadata')
          .values(metadata.map((entry) => ({ seq, ...entry })))
          .execute();
      await this.#keepWords(tables, seq, wordsOf(record));
      await within?.(record, tables);
      return true;
    });
  }

  async get(asked: string, tenant?: string): Promise<CallRecord | undefined> {
    const id = bound(asked);
    const found = await this.#found(present({ tenant }))
      .innerJoin('call_records', 'call_records.seq', 'calls.seq')
      .select('record')
      .where((where) => where.or([where('id', '=', id), where('call_id', '=', id)]))
      .orderBy(sql`case when id = ${id} then 0 else 1 end`)
      .orderBy('calls.seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    return found && readRecord(found.record);
  }

  async list(query: CallQuery): Promise<CallPage> {
    const limit = Math.min(query.limit ?? usualRows, mostRows);
    const words = wordsIn(query);
    const isCommon = words.length > 0 && (await this.#areCommon(words));
    const rows = await this.#found(query, isCommon)
      .selectAll('calls')
      .orderBy('started_at', 'desc')
      .orderBy('seq', 'desc')
      .limit(limit + 1)
      .execute();
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      rows: page.map(shownRow),
      ...(rows.length > limit && last !== undefined && { next: `${last.started_at}-${last.seq}` }),
    };
  }

  async each(query: CallQuery, take: (record: CallRecord) => Promise<void> | void): Promise<void> {
    let seq = 0;
    for (;;) {
      const rows = await this.#found(query)
        .innerJoin('call_records', 'call_records.seq', 'calls.seq')
        .select(['calls.seq', 'record'])
        .where('calls.seq', '>', seq)
        .orderBy('calls.seq')
        .limit(usualRows)
        .execute();
      for (const row of rows) {
        seq = row.seq;
        await take(readRecord(row.record));
      }
      if (rows.length < usualRows) return;
    }
  }

  async updateAnalysis(
    id: string,
    change: (record: CallRecord) => CallRecord,
    within?: WithRecord,
  ): Promise<boolean> {
    return await this.#database.tables.transaction().execute(async (tables) => {
      const found = await tables
        .selectFrom('calls')
        .innerJoin('call_records', 'call_records.seq', 'calls.seq')
        .select(['calls.seq', 'record'])
        .where('id', '=', id)
        .executeTakeFirst();
      if (found === undefined) return false;
      const record = change(readRecord(found.record));
      const { cost, currency } = rowOf(record);
      const outcome = record.analysis?.['outcome'];
      await tables
        .updateTable('call_records')
        .set({ record: writeJson(record) })
        .where('seq', '=', found.seq)
        .execute();
      await tables
        .updateTable('calls')
        .set({ cost, currency, ...(typeof outcome === 'string' && { outcome: bound(outcome) }) })
        .where('seq', '=', found.seq)
        .execute();
      await within?.(record, tables);
      return true;
    });
  }

  async erase(data: CallerData): Promise<readonly CallRow[]> {
    const erased: CallRow[] = [];
    for (;;) {
      const rows = await this.#found(data).selectAll('calls').limit(erasedAtOnce).execute();
      await this.#drop(rows.map(({ seq }) => seq));
      erased.push(...rows.map(shownRow));
      if (rows.length < erasedAtOnce) break;
    }
    if (this.#database.dialect === 'sqlite') await this.#scrub();
    return erased;
  }

  /** Words of calls that are gone stand in the index until its parts are merged, and pages in the log of what was written. */
  async #scrub(): Promise<void> {
    const { tables } = this.#database;
    await sql`insert into call_words (call_words) values ('optimize')`.execute(tables);
    await sql`pragma wal_checkpoint(truncate)`.execute(tables);
  }

  async retain(beforeMs: number): Promise<number> {
    let dropped = 0;
    for (;;) {
      const rows = await this.#found({ before: beforeMs }).select('seq').limit(erasedAtOnce).execute();
      await this.#drop(rows.map(({ seq }) => seq));
      dropped += rows.length;
      if (rows.length < erasedAtOnce) return dropped;
    }
  }

  async close(): Promise<void> {
    await this.#database.tables.destroy();
  }

  async #drop(seqs: readonly number[]): Promise<void> {
    if (seqs.length === 0) return;
    await this.#database.tables.transaction().execute(async (tables) => {
      const isSqlite = this.#database.dialect === 'sqlite';
      if (isSqlite) await sql`delete from call_words where rowid in (${sql.join(seqs)})`.execute(tables);
      else await tables.deleteFrom('call_words').where('seq', 'in', seqs).execute();
      await tables.deleteFrom('call_metadata').where('seq', 'in', seqs).execute();
      await tables.deleteFrom('call_records').where('seq', 'in', seqs).execute();
      await tables.deleteFrom('calls').where('seq', 'in', seqs).execute();
    });
  }

  async #keepWords(tables: StoreConnection, seq: number, words: string): Promise<void> {
    if (words === '') return;
    if (this.#database.dialect === 'sqlite')
      await sql`insert into call_words (rowid, words) values (${seq}, ${words})`.execute(tables);
    else
      await sql`insert into call_words (seq, words) values (${seq}, to_tsvector('simple', ${words}))`.execute(
        tables,
      );
  }

  /** `isCommon`: words that so many calls have are looked for in one call after the other, until the page is full. */
  #found(query: CallQuery, isCommon = false): Calls {
    const { cursor } = query;
    let found: Calls = this.#database.tables
      .selectFrom('calls')
      .where((where) => where.and(conditions(where, query)));
    const words = wordsIn(query);
    if (words.length > 0) found = found.where(isCommon ? this.#hasWords(words) : this.#isAmong(words));
    const [, startedAt, seq] = /^(\d+)-(\d+)$/.exec(cursor ?? '') ?? [];
    if (startedAt !== undefined)
      found = found.where(sql<SqlBool>`(started_at, seq) < (${Number(startedAt)}, ${Number(seq)})`);
    return found;
  }

  /** Calls with all of these words, as one set. */
  #isAmong(words: readonly string[]): Expression<SqlBool> {
    return sql<SqlBool>`calls.seq in (${this.#seqsOf(words)})`;
  }

  #hasWords(words: readonly string[]): Expression<SqlBool> {
    const key = sql.ref(this.#database.dialect === 'sqlite' ? 'call_words.rowid' : 'call_words.seq');
    return sql<SqlBool>`exists (${this.#seqsOf(words)} and ${key} = calls.seq)`;
  }

  #seqsOf(words: readonly string[]): RawBuilder<unknown> {
    if (this.#database.dialect === 'sqlite') {
      const asked = words.map((word) => `"${word}"`).join(' ');
      return sql`select rowid from call_words where call_words match ${asked}`;
    }
    const asked = words.join(' ');
    return sql`select seq from call_words where words @@ plainto_tsquery('simple', ${asked})`;
  }

  async #areCommon(words: readonly string[]): Promise<boolean> {
    const isSqlite = this.#database.dialect === 'sqlite';
    // PostgreSQL finds all of them before it counts the first, so that the newest calls are asked instead.
    const most = isSqlite ? this.#commonFrom : Math.min(this.#commonFrom, commonOfNewest);
    const from = isSqlite
      ? sql`(${this.#seqsOf(words)} limit ${most})`
      : sql`(select words from call_words order by seq desc limit ${newest}) as newest
          where words @@ plainto_tsquery('simple', ${words.join(' ')})`;
    const counted = sql<{ readonly found: number }>`select count(*) as found from ${from}`;
    const { rows } = await counted.execute(this.#database.tables);
    return Number(rows[0]?.found) >= most;
  }
}

const wordsIn = ({ text }: CallQuery): readonly string[] => text?.match(/[\p{L}\p{N}]+/gu) ?? [];

const failedEnds = callEndCodes.filter(isFailedEnd);

function conditions(where: ExpressionBuilder<CallTables, 'calls'>, query: CallQuery): Expression<SqlBool>[] {
  const { since, before, agent, tenant, code, outcome, minCost, slowerThanMs, isFaulty, number, metadata } =
    query;
  const all: Expression<SqlBool>[] = [];
  if (since !== undefined) all.push(where('started_at', '>=', since));
  if (before !== undefined) all.push(where('started_at', '<', before));
  if (agent !== undefined) all.push(where('agent', '=', bound(agent)));
  if (tenant !== undefined) all.push(where('tenant', '=', bound(tenant)));
  if (code !== undefined) all.push(where('end_code', '=', code));
  if (outcome !== undefined) all.push(where('outcome', '=', bound(outcome)));
  if (minCost !== undefined) all.push(where('cost', '>=', minCost));
  if (slowerThanMs !== undefined) all.push(where('slowest_ms', '>=', slowerThanMs));
  if (isFaulty === true) all.push(where.or([where('faults', '>', 0), where('end_code', 'in', failedEnds)]));
  if (number !== undefined) {
    const forms = numberForms(number).map((form) => bound(form));
    all.push(where.or([where('from_number', 'in', forms), where('to_number', 'in', forms)]));
  }
  const entry = metadata && boundEntry([metadata.key, metadata.value]);
  if (entry !== undefined)
    all.push(
      where(
        'seq',
        'in',
        where
          .selectFrom('call_metadata')
          .select('call_metadata.seq')
          .where('key', '=', entry.key)
          .where('value', '=', entry.value),
      ),
    );
  return all;
}

function rowOf(record: CallRecord): Omit<CallsTable, 'seq'> {
  const { id, call_id, session_id, agent, transport, direction, end, cost } = record;
  return {
    id,
    call_id: bound(call_id),
    session_id: bound(session_id),
    agent: bound(agent.name),
    tenant: boundOr(record.tenant),
    route: boundOr(record.route),
    transport,
    direction,
    from_number: boundOr(record.from),
    to_number: boundOr(record.to),
    started_at: Date.parse(record.started_at),
    duration_ms: record.duration_ms,
    end_code: end.code,
    end_by: end.by,
    turns: record.turns.length,
    slowest_ms: record.latency.response_ms?.max ?? null,
    faults: record.faults.length,
    interruptions: record.interruptions.by_caller,
    cost: cost?.total ?? null,
    currency: cost?.currency ?? null,
    outcome: null,
  };
}

const shownRow = (row: { [K in keyof CallsTable]: K extends 'seq' ? number : CallsTable[K] }): CallRow => ({
  id: row.id,
  callId: row.call_id,
  agent: row.agent,
  tenant: row.tenant ?? undefined,
  transport: row.transport,
  direction: row.direction,
  from: row.from_number ?? undefined,
  to: row.to_number ?? undefined,
  startedAtMs: row.started_at,
  durationMs: row.duration_ms,
  // Written from a record, whose schema has the list.
  code: row.end_code as CallEndCode,
  by: row.end_by,
  turns: row.turns,
  slowestMs: row.slowest_ms ?? undefined,
  faults: row.faults,
  interruptions: row.interruptions,
  cost: row.cost ?? undefined,
  currency: row.currency ?? undefined,
  outcome: row.outcome ?? undefined,
});

/** What lists show and find; PostgreSQL takes no zero in a text, and no more than this in an index. */
const longestText = 500;
const longestKey = 100;
/** PostgreSQL has room for a megabyte of words in one index entry. */
const mostWords = 200_000;

const bound = (text: string, most = longestText): string => text.replaceAll('\0', '').slice(0, most);
const boundOr = (text: string | undefined): string | null => (text === undefined ? null : bound(text));
const boundEntry = ([key, value]: readonly [string, string]): {
  readonly key: string;
  readonly value: string;
} => ({
  key: bound(key, longestKey),
  value: bound(value),
});

const wordsOf = ({ transcript }: CallRecord): string =>
  bound(transcript.map(({ text }) => text).join('\n'), mostWords);

const readRecord = (text: string): CallRecord => callRecordSchema.parse(parseJson(text));

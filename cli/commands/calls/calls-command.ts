/**
 * The commands `calls`: what the database has of calls, and erasing somebody's. They work on the database itself; the service may run or
 * not.
 */
import { writeJson } from '../../../shared/base/exact-json.ts';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import {
  callsVariables,
  isPostgres,
  takeCalls,
  type CallsSettings,
} from '../../../shared/calls/variables.ts';
import { Reader } from '../../../shared/config/server/environment.ts';
import { recordingVariables } from '../../../shared/recording/variables.ts';
import { telephonyVariables } from '../../../shared/telephony/variables.ts';
import type { CallStore } from '../../../records/call-store.ts';
import type { CallerData, CallQuery } from '../../../shared/calls/query.ts';
import { openDatabase } from '../../../records/database.ts';
import { SqlCallStore } from '../../../records/sql-call-store.ts';
import { readArguments, usageError } from '../commands.ts';
import { eraseCaller } from './erase.ts';
import { callerOf, queryOf } from './query.ts';
import { shownRecord, tableOf } from './shown-calls.ts';
import { runTenantToken, type TenantTokenOptions } from './tenant-token.ts';

export type CallsCommand =
  'calls' | 'calls show' | 'calls export' | 'calls erase' | 'calls token' | 'live token';

export interface CallsCommandOptions extends TenantTokenOptions {
  readonly cores: number;
}

type Status = 0 | 1 | 2;

interface Opened extends Pick<CallsCommandOptions, 'write' | 'writeError' | 'now'> {
  readonly store: CallStore;
  readonly spool: string;
  readonly recordings: string | undefined;
}

/** Returns the exit status. */
export async function runCalls(
  name: CallsCommand,
  args: readonly string[],
  options: CallsCommandOptions,
): Promise<Status> {
  if (name === 'calls token' || name === 'live token') return runTenantToken(name, args, options);
  const work = workOf(name, args, options.now());
  if (!work.ok) {
    options.writeError(usageError(name, work.error));
    return 2;
  }
  const settings = settingsOf(options);
  if (!settings.ok) {
    options.writeError(settings.error);
    return 1;
  }
  const { calls, recordings } = settings.value;
  let store: CallStore | undefined;
  try {
    store = new SqlCallStore(await openDatabase(calls.database.reveal()));
    return await work.value({ ...options, store, spool: resolve(calls.spool), recordings });
  } catch (error) {
    options.writeError(`the database cannot be used: ${error instanceof Error ? error.message : 'unknown'}`);
    return 1;
  } finally {
    await store?.close();
  }
}

interface Found {
  readonly calls: NonNullable<CallsSettings['calls']>;
  readonly recordings: string | undefined;
}

function settingsOf({ env, cores }: CallsCommandOptions): Result<Found, string> {
  const reader = new Reader(env, { cores });
  const { name } = callsVariables.callsDb;
  const { calls } = takeCalls(reader, reader.take(telephonyVariables.stateDir));
  const recordings = reader.take(recordingVariables.recordingDir);
  if (reader.problems.length > 0) return fail(reader.problems.map(({ message }) => message).join('\n'));
  if (calls === undefined) return fail(`${name} must be set: it names the database of the service`);
  const database = calls.database.reveal();
  if (!isPostgres(database) && !existsSync(database))
    return fail(`there are no records: ${name} names no file yet`);
  return ok({ calls, recordings });
}

type Work = (opened: Opened) => Promise<Status>;

function workOf(
  name: Exclude<CallsCommand, 'calls token' | 'live token'>,
  args: readonly string[],
  now: number,
): Result<Work, string> {
  switch (name) {
    case 'calls': {
      const parsed = readArguments(name, args);
      if (!parsed.ok) return parsed;
      const { limit = '50', json = false, ...filters } = parsed.value.values;
      const query = queryOf(filters, now);
      if (!query.ok) return query;
      if (!/^\d{1,5}$/.test(limit) || Number(limit) < 1)
        return fail('--limit: must be a number from 1 to 99999');
      return ok((opened) => list(opened, query.value, { limit: Number(limit), json }));
    }
    case 'calls show': {
      const parsed = readArguments(name, args);
      if (!parsed.ok) return parsed;
      const { values, given } = parsed.value;
      return ok((opened) => show(opened, given[0] ?? '', values.json === true));
    }
    case 'calls export': {
      const parsed = readArguments(name, args);
      if (!parsed.ok) return parsed;
      const query = queryOf(parsed.value.values, now);
      return query.ok ? ok((opened) => exportAll(opened, query.value)) : query;
    }
    case 'calls erase': {
      const parsed = readArguments(name, args);
      if (!parsed.ok) return parsed;
      const { values } = parsed.value;
      const caller = callerOf(values);
      return caller.ok ? ok((opened) => erase(opened, caller.value, values['dry-run'] === true)) : caller;
    }
  }
}

async function list(
  { store, write, writeError }: Opened,
  query: CallQuery,
  { limit, json }: { readonly limit: number; readonly json: boolean },
): Promise<Status> {
  const rows = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({
      ...query,
      limit: Math.min(limit - rows.length, 500),
      ...(cursor !== undefined && { cursor }),
    });
    rows.push(...page.rows);
    cursor = page.next;
  } while (cursor !== undefined && rows.length < limit);
  if (json) for (const row of rows) write(JSON.stringify(row));
  else for (const line of tableOf(rows)) write(line);
  if (cursor !== undefined && !json) writeError(`there are more; --limit shows more than ${limit}`);
  return 0;
}

async function show({ store, write, writeError }: Opened, id: string, json: boolean): Promise<Status> {
  const record = await store.get(id);
  if (record === undefined) {
    writeError('no record has this id');
    return 1;
  }
  if (json) write(writeJson(record));
  else for (const line of shownRecord(record)) write(line);
  return 0;
}

async function exportAll({ store, write }: Opened, query: CallQuery): Promise<Status> {
  await store.each(query, (record) => write(writeJson(record)));
  return 0;
}

async function erase(opened: Opened, caller: CallerData, isDry: boolean): Promise<Status> {
  const { store, write, writeError } = opened;
  if (isDry) {
    let found = 0;
    await store.each(caller, () => void (found += 1));
    write(`${found} records would be erased`);
    return 0;
  }
  const erased = await eraseCaller(caller, opened);
  const { records, waiting, running, events, recordings, recordingNames } = erased;
  write(
    `erased: ${records} records, ${waiting} calls that waited, ${events} events, ${recordings} recordings`,
  );
  if (recordingNames.length > recordings) {
    writeError(
      'recordings of these calls, if there are any on other hosts or in a bucket, have these names:',
    );
    for (const name of recordingNames) write(name);
  }
  if (running > 0) {
    writeError(`${running} of their calls still run or wait: erase again when these are over`);
    return 1;
  }
  return 0;
}

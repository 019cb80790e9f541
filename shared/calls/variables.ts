/** The server variables of the records of calls. Part of the list in `server.ts`. */
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { Sensitive } from '../config/sensitive.ts';
import type { Reader } from '../config/server/environment.ts';
import {
  countVariable,
  optionalPathVariable,
  readPath,
  readVariable,
  secretVariable,
} from '../config/server/variables.ts';
import { telephonyVariables } from '../telephony/variables.ts';

export interface CallsSettings {
  /** Absent: no records are kept. */
  readonly calls?: {
    /** Path of an SQLite file, or the address of a PostgreSQL server. */
    readonly database: Sensitive<string>;
    /** Folder in which calls wait for the database. */
    readonly spool: string;
    readonly mostSpoolBytes: number;
    readonly keepDays: number;
    readonly pricesFile?: string;
    /** Of the history page; absent: there is none. */
    readonly token?: Sensitive<string>;
  };
}

const megabyte = 1_000_000;
const databaseForm = 'path of an SQLite file, or an address such as postgres://user:password@host:5432/calls';

export const isPostgres = (database: string): boolean => /^postgres(ql)?:\/\//.test(database);

function readDatabase(value: string): Result<Sensitive<string>, string> {
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(value);
  const isRight = isAddress ? isPostgres(value) && URL.canParse(value) : readPath(value).ok;
  return isRight && value.length <= 4096 ? ok(new Sensitive(value)) : fail(`must be a ${databaseForm}`);
}

export const callsVariables = {
  callsDb: readVariable<Sensitive<string> | undefined>(
    'SVC_CALLS_DB',
    'Database of the records of calls, SQLite or PostgreSQL; unset: no records are kept.',
    { form: databaseForm, read: readDatabase, fallback: undefined, isSecret: true },
  ),
  callsKeepDays: countVariable('SVC_CALLS_KEEP_DAYS', 'Records of calls are erased after so many days.', {
    least: 1,
    most: 36_500,
    fallback: 90,
  }),
  callsWaitingMaxMb: countVariable(
    'SVC_CALLS_WAITING_MAX_MB',
    'Most megabytes of calls that wait on disk for the database; beyond it the oldest are dropped.',
    { least: 1, most: 1_000_000, fallback: 1_000 },
  ),
  callsToken: secretVariable(
    'SVC_CALLS_TOKEN',
    'Bearer token of /calls, the page of calls that are over, with what was said and recorded in them. It needs SVC_CALLS_DB beside it; unset: /calls is off.',
  ),
  pricesFile: optionalPathVariable(
    'SVC_PRICES_FILE',
    'Price table (TOML) by which the cost of each call is counted; unset: records have no cost.',
  ),
} as const;

/** `stateDir`: of the service. Without one calls wait beside the SQLite file. */
export function takeCalls(reader: Reader, stateDir: string | undefined): CallsSettings {
  const variables = callsVariables;
  const taken = reader.takeAll(variables);
  const { callsDb: database, callsKeepDays: keepDays, callsToken: token, pricesFile } = taken;
  if (database === undefined) {
    if (token !== undefined) reader.refuse(variables.callsToken, `needs ${variables.callsDb.name} beside it`);
    return {};
  }
  const isServer = isPostgres(database.reveal());
  if (isServer && stateDir === undefined)
    reader.refuse(variables.callsDb, `needs ${telephonyVariables.stateDir.name} beside it for PostgreSQL`);
  const spool = stateDir === undefined ? `${isServer ? '' : database.reveal()}-spool` : `${stateDir}/calls`;
  const mostSpoolBytes = taken.callsWaitingMaxMb * megabyte;
  return { calls: present({ database, spool, mostSpoolBytes, keepDays, pricesFile, token }) };
}

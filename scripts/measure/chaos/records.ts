/** Records of calls against the calls that callers had: none may be missing, and none double. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface RecordsCount {
  /** Calls that were begun. */
  readonly calls: number;
  /** Of these, by how they ended. */
  readonly ends: ReadonlyMap<string, number>;
  readonly missing: readonly string[];
  readonly double: readonly string[];
}

/** Variables of a service that keeps records in this folder. */
export const recordsEnv = (folder: string): Readonly<Record<string, string>> => ({
  SVC_CALLS_DB: join(folder, 'calls.db'),
});

/** Calls of which nobody wrote the end are found when no worker can take them up any more. */
const longestWaitMs = 120_000;

/** Resolves when a running service has made a record of everything that waits. */
export async function recordsMade(folder: string): Promise<void> {
  const spool = join(folder, 'calls.db-spool');
  const left = (): number =>
    ['open', 'ended'].reduce((sum, name) => sum + readdirSync(join(spool, name)).length, 0);
  for (const until = performance.now() + longestWaitMs; left() > 0 && performance.now() < until;)
    await sleep(200);
}

/** @param begun ids of the calls that were begun. */
export function countRecords(
  begun: readonly string[],
  { folder, root }: { readonly folder: string; readonly root: URL },
): RecordsCount {
  const exported = execFileSync(process.execPath, ['dist/supervisor/cli.js', 'calls', 'export'], {
    cwd: root,
    env: { ...process.env, ...recordsEnv(folder) },
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  const found = new Map<string, number>();
  const ends = new Map<string, number>();
  const known = new Set(begun);
  for (const line of exported.split('\n').filter((text) => text !== '')) {
    const record = JSON.parse(line) as { readonly call_id: string; readonly end: { readonly code: string } };
    const { call_id: id, end } = record;
    found.set(id, (found.get(id) ?? 0) + 1);
    if (known.has(id)) ends.set(end.code, (ends.get(end.code) ?? 0) + 1);
  }
  return {
    calls: begun.length,
    ends,
    missing: begun.filter((id) => !found.has(id)),
    double: [...found].filter(([, count]) => count > 1).map(([id]) => id),
  };
}

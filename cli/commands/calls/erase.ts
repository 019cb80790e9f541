/**
 * Erases all that is kept of somebody's calls on this host: records, calls that wait for the database, events and analyses that wait for
 * them, and recordings.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tenantOf } from '../../../shared/agents/version.ts';
import { numberForms } from '../../../shared/calls/numbers.ts';
import { readFact, type FactOf } from '../../../shared/calls/facts.ts';
import { analysesFolder, isSpoolFile, spoolFolders, webhooksFolder } from '../../../shared/calls/spool.ts';
import { readQueued, webhookFolders } from '../../../shared/calls/webhooks/queued.ts';
import { foldersOfRecording } from '../../../shared/installation/kept-recordings.ts';
import { recordingName } from '../../../shared/recording/layout.ts';
import type { CallStore } from '../../../records/call-store.ts';
import type { CallerData } from '../../../shared/calls/query.ts';

export interface ErasePlaces {
  readonly store: CallStore;
  readonly spool: string;
  /** Folder of recordings; absent: none are kept here. */
  readonly recordings: string | undefined;
}

export interface Erased {
  readonly records: number;
  /** Calls that had ended and waited for the database. */
  readonly waiting: number;
  /** Calls of theirs that run, or ended this second: nothing of these is erased. */
  readonly running: number;
  readonly events: number;
  readonly recordings: number;
  /** Names of the recordings of erased calls, wherever those are. */
  readonly recordingNames: readonly string[];
}

const namesIn = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : []);

function isOf({ from, to, token, client, tenant }: FactOf<'call'>, data: CallerData): boolean {
  if (data.tenant !== undefined && tenant !== data.tenant) return false;
  if ('number' in data) {
    const forms = numberForms(data.number);
    return forms.includes(from ?? '') || forms.includes(to ?? '');
  }
  const { key, value } = data.metadata;
  return token[key] === value || client[key] === value;
}

/** The newest of its first lines counts, as it does for the record. */
function headOf(path: string): FactOf<'call'> | undefined {
  const heads = readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => readFact(line) ?? [])
    .filter((fact) => fact.t === 'call');
  return heads.at(-1);
}

interface Waiting {
  readonly path: string;
  readonly head: FactOf<'call'>;
}

function waitingIn(folder: string, data: CallerData): readonly Waiting[] {
  return namesIn(folder)
    .filter(isSpoolFile)
    .flatMap((name) => {
      const path = join(folder, name);
      const head = existsSync(path) ? headOf(path) : undefined;
      return head !== undefined && isOf(head, data) ? [{ path, head }] : [];
    });
}

/** Events on their way to webhooks, and calls that wait to be analysed. */
function dropWork(spool: string, ids: ReadonlySet<string>): number {
  let dropped = 0;
  const drop = (path: string): void => {
    rmSync(path, { force: true });
    dropped += 1;
  };
  for (const folder of [webhookFolders.waiting, webhookFolders.failed]) {
    const dir = join(spool, webhooksFolder, folder);
    for (const name of namesIn(dir).filter((one) => one.endsWith('.json'))) {
      const read = readQueued(readFileSync(join(dir, name), 'utf8'));
      if (read.ok && ids.has(read.value.call)) drop(join(dir, name));
    }
  }
  const dir = join(spool, analysesFolder);
  for (const name of namesIn(dir))
    if (ids.has(decodeURIComponent(name.replace(/\.[^.]*$/, '')))) rmSync(join(dir, name), { force: true });
  return dropped;
}

/** Finished recordings: those that stay, and those that wait for their upload. */
async function dropRecordings(dir: string, names: readonly string[]): Promise<number> {
  let dropped = 0;
  for (const name of names)
    for (const path of await foldersOfRecording(dir, name)) {
      rmSync(path, { recursive: true, force: true });
      dropped += 1;
    }
  return dropped;
}

export async function eraseCaller(
  data: CallerData,
  { store, spool, recordings }: ErasePlaces,
): Promise<Erased> {
  const waiting = waitingIn(join(spool, spoolFolders.ended), data);
  for (const { path } of waiting) rmSync(path, { force: true });
  // The service has put calls that it had in its hands meanwhile into the database by now, or back into the spool.
  const records = await store.erase(data);
  const running = waitingIn(join(spool, spoolFolders.open), data).length;
  const ids = new Set([...records.map(({ id }) => id), ...waiting.map(({ head }) => head.id)]);
  const events = dropWork(spool, ids);
  const calls = [
    ...records.map(({ callId, agent }) => recordingName(callId, tenantOf(agent))),
    ...waiting.map(({ head }) => recordingName(head.call, tenantOf(head.agent))),
  ];
  const recordingNames = [...new Set(calls)];
  const dropped = recordings === undefined ? 0 : await dropRecordings(recordings, recordingNames);
  return {
    records: records.length,
    waiting: waiting.length,
    running,
    events,
    recordings: dropped,
    recordingNames,
  };
}

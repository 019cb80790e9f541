/** Where the finished recording of a call lies on this machine: among those that stay, by day, or among those that wait for their upload. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readRecordingName, recordingFolders, recordingName, tenantsFolder } from '../recording/layout.ts';

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch {
    return [];
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

const isTenant = (name: string): boolean => /^[\w-]{1,64}$/.test(name);

/** Folders of a recording, by the name that the record of its call has for it. No name leads out of `dir`. */
export async function foldersOfRecording(dir: string, given: string): Promise<readonly string[]> {
  const { tenant, call } = readRecordingName(given);
  if (tenant !== undefined && !isTenant(tenant)) return [];
  const name = recordingName(call);
  const waiting = await waitingIn(dir, (one) => one === recordingName(name, tenant));
  return [...(await keptIn(dir, name, tenant)), ...waiting];
}

/** The same by an id of a call as well, whoever's it is. */
export async function foldersOfCall(dir: string, given: string): Promise<readonly string[]> {
  const { tenant } = readRecordingName(given);
  if (tenant !== undefined && isTenant(tenant)) return await foldersOfRecording(dir, given);
  const name = recordingName(given);
  const tenants = (await namesIn(join(dir, recordingFolders.kept, tenantsFolder))).filter(isTenant);
  const found: string[] = [];
  for (const owner of [undefined, ...tenants]) found.push(...(await keptIn(dir, name, owner)));
  return [...found, ...(await waitingIn(dir, (one) => readRecordingName(one).call === name))];
}

async function keptIn(dir: string, name: string, tenant: string | undefined): Promise<readonly string[]> {
  const own = join(dir, recordingFolders.kept, ...(tenant === undefined ? [] : [tenantsFolder, tenant]));
  const found: string[] = [];
  for (const day of await namesIn(own)) {
    const path = join(own, day, name);
    if (day !== tenantsFolder && (await isThere(path))) found.push(path);
  }
  return found;
}

async function waitingIn(dir: string, isMeant: (name: string) => boolean): Promise<readonly string[]> {
  const outbox = join(dir, recordingFolders.outbox);
  // A day stands before the name.
  const waiting = (await namesIn(outbox)).filter((entry) => isMeant(entry.slice(entry.indexOf('_') + 1)));
  return waiting.map((entry) => join(outbox, entry));
}

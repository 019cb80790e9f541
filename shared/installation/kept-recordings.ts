/** Where the finished recording of a call lies on this machine: among those that stay, by day, or among those that wait for their upload. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRecordingName, recordingFolders, recordingName, tenantsFolder } from '../recording/layout.ts';

const namesIn = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : []);

/** Folders of a recording, by the name that the record of its call has for it. No name leads out of `dir`. */
export function foldersOfRecording(dir: string, given: string): readonly string[] {
  const { tenant, call } = readRecordingName(given);
  if (tenant !== undefined && !/^[\w-]{1,64}$/.test(tenant)) return [];
  const name = recordingName(call);
  const { kept, outbox } = recordingFolders;
  const own = join(dir, kept, ...(tenant === undefined ? [] : [tenantsFolder, tenant]));
  const days = namesIn(own).filter((day) => day !== tenantsFolder);
  const waiting = namesIn(join(dir, outbox)).filter((entry) =>
    entry.endsWith(`_${tenant === undefined ? name : recordingName(call, tenant)}`),
  );
  return [
    ...days.map((day) => join(own, day, name)).filter((path) => existsSync(path)),
    ...waiting.map((entry) => join(dir, outbox, entry)),
  ];
}

/** The folder of the spool as workers write to it. */
import { appendFile, rename, utimes } from 'node:fs';
import { join } from 'node:path';
import { spoolFolders } from '../../shared/calls/spool.ts';
import type { SpoolDisk } from './spool-writer.ts';

const told =
  (done: (code?: string) => void) =>
  (error: NodeJS.ErrnoException | null): void => {
    if (error === null) done();
    else done(error.code ?? 'unknown');
  };

export const spoolDisk = (folder: string): SpoolDisk => ({
  append: (name, text, done) =>
    appendFile(join(folder, spoolFolders.open, name), text, { mode: 0o600 }, told(done)),
  touch: (name) => {
    const now = new Date();
    utimes(join(folder, spoolFolders.open, name), now, now, () => undefined);
  },
  end: (name, done) =>
    rename(join(folder, spoolFolders.open, name), join(folder, spoolFolders.ended, name), told(done)),
});

/** The file that names the supervisor that serves (SVC_PID_FILE). It is replaced whole, and only its writer removes it. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** @throws Error when the file cannot be written. */
export function writePidFile(path: string, pid: number): void {
  const draft = `${path}.${pid}`;
  writeFileSync(draft, `${pid}\n`);
  renameSync(draft, path);
}

/** Does nothing when the file names another process, which has taken over, or cannot be read or removed. */
export function removePidFile(path: string, pid: number): void {
  try {
    if (readFileSync(path, 'utf8').trim() === String(pid)) rmSync(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

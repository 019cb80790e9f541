/** A lock between processes: a file that holds the id of the process that has it. */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';

/** Takes the lock; undefined when a process that lives has it. The returned function gives it back. */
export function takeLock(path: string): (() => void) | undefined {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      const file = openSync(path, 'wx');
      writeSync(file, String(process.pid));
      closeSync(file);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      if (isAlive(Number(readFileSync(path, 'utf8')))) return undefined;
      rmSync(path, { force: true });
    }
  }
  return undefined;
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

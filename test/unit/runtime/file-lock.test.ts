/** Locks between processes: one has it, and nobody who is dead keeps it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { takeLock } from '../../../shared/runtime/file-lock.ts';
import { whyNoState } from '../../../supervisor/telephony/saga-store.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'lock-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** Another process that has the lock: `flock` of util-linux asks the system in the same way. */
async function holder(path: string) {
  const child = spawn('flock', [path, 'sh', '-c', 'echo has; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  await once(child.stdout, 'data');
  return child;
}

it('has one owner at a time', () => {
  const path = join(folder, 'lock');
  const unlock = takeLock(path);
  expect(unlock).toBeDefined();
  expect(takeLock(path)).toBeUndefined();
  // A process that takes the file away as well leaves nothing that another one would hold in vain.
  rmSync(path);
  unlock?.();
  expect(takeLock(path)).toBeDefined();
});

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'is not kept by a process that %s ended, and kept by one that stands still',
  async (signal) => {
    const path = join(folder, 'lock');
    const other = await holder(path);
    const group = -other.pid!;
    process.kill(group, 'SIGSTOP');
    expect(takeLock(path)).toBeUndefined();
    process.kill(group, signal);
    process.kill(group, 'SIGCONT');
    await once(other, 'close');
    expect(takeLock(path)).toBeDefined();
  },
);

it('refuses the second service of a state folder with a clear message, and lets a successor in', async () => {
  const other = await holder(join(folder, 'lock'));
  expect(whyNoState(folder, { isSuccessor: false })).toBe(
    'SVC_STATE_DIR must name a folder of this service alone: another one is using it',
  );
  expect(whyNoState(folder, { isSuccessor: true })).toBeUndefined();
  process.kill(-other.pid!, 'SIGKILL');
  await once(other, 'close');
  expect(whyNoState(folder, { isSuccessor: false })).toBeUndefined();
});

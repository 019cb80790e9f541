// A lock between commands that run at the same time in one checkout: a folder with a file in it that is named after its owner.
// The lock of an owner that died is taken over.
import { mkdirSync, readFileSync, readdirSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const lookEveryMs = 200;

/** When a process began, so that another one of the same number is not taken for it; '' where the system does not tell. */
function beginOf(pid) {
  try {
    // The name in the second field may hold spaces.
    return (
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[19] ?? ''
    );
  } catch {
    return '';
  }
}

const nameOf = (pid) => `${pid}-${beginOf(pid)}`;

function isAlive(owner) {
  const pid = Number.parseInt(owner, 10);
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  return nameOf(pid) === owner;
}

/** Whether an attempt failed only because somebody else was faster. */
function attempt(action) {
  try {
    action();
    return true;
  } catch (error) {
    if (['EEXIST', 'ENOENT', 'ENOTEMPTY'].includes(error.code)) return false;
    throw error;
  }
}

function ownersOf(folder) {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Undefined when the lock is taken, else its owner. */
function take(folder, me) {
  const isMine =
    attempt(() => mkdirSync(folder)) &&
    attempt(() => writeFileSync(join(folder, me), '', { flag: 'wx' })) &&
    ownersOf(folder).length === 1;
  if (isMine) return undefined;
  // A folder without an owner is one whose maker is about to sign it, or died before: its removal makes the maker try again.
  for (const owner of ownersOf(folder)) {
    if (owner !== me && isAlive(owner)) {
      rmSync(join(folder, me), { force: true });
      return owner;
    }
    rmSync(join(folder, owner), { force: true });
  }
  attempt(() => rmdirSync(folder));
  return '';
}

/** Within the action of the process that has the lock: when it is over, another process has it. */
export const leaveTo = (folder, pid) => writeFileSync(join(folder, nameOf(pid)), '');

/** Gives back the lock of another process. */
export const unlockFor = (folder, pid) => giveBack(folder, [nameOf(pid)]);

function giveBack(folder, owners) {
  for (const owner of owners) rmSync(join(folder, owner), { force: true });
  // Somebody else's by now, where this fails.
  attempt(() => rmdirSync(folder));
}

/**
 * Does something while no other process with this lock does; `waiting` is told the id of the process that has it, once. A child that must
 * not be met by the next owner, should this process be killed, is named to `share`.
 */
export async function whileLocked(folder, { waiting }, action) {
  const me = nameOf(process.pid);
  let isTold = false;
  for (let owner = take(folder, me); owner !== undefined; owner = take(folder, me)) {
    if (owner === '') continue;
    if (!isTold) waiting(Number.parseInt(owner, 10));
    isTold = true;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  const owners = [me];
  const share = (pid) => {
    owners.push(nameOf(pid));
    leaveTo(folder, pid);
  };
  try {
    return await action(share);
  } finally {
    giveBack(folder, owners);
  }
}

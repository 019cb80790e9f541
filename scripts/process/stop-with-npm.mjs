// npm passes no signal on to what it runs: it ends, or only the shell does that it puts in between. A program that npm starts asks here
// to be stopped with it.
import { readFileSync } from 'node:fs';

const lookEveryMs = 250;

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The parent of a process; undefined when the process is gone. */
function parentOf(pid) {
  if (pid === process.pid) return process.ppid;
  const stat = read(`/proc/${pid}/stat`);
  return stat === '' ? undefined : Number(stat.replace(/^.*\) /s, '').split(' ')[1]);
}

/** Whether npm has put a shell between itself and this process. */
const hasShell = () => read(`/proc/${process.ppid}/cmdline`).split('\0').includes('-c');

/** The process of the npm that started this one; undefined where npm did not. */
export function npmAbove() {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  return hasShell() ? parentOf(process.ppid) : process.ppid;
}

/** Calls `stop` once when npm is gone; does nothing where npm did not start this process. */
export function stopWithNpm(stop) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const watched = hasShell() ? [process.pid, process.ppid] : [process.pid];
  const parents = watched.map(parentOf);
  const timer = setInterval(() => {
    if (watched.every((pid, index) => parentOf(pid) === parents[index])) return;
    clearInterval(timer);
    stop();
  }, lookEveryMs);
  timer.unref();
}

/** What the kernel knows of processes: CPU time and memory, read from /proc (Linux only). */
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts CPU time for user space in ticks of 10 ms. */
const tickMs = 10;

export interface TimeUse {
  readonly cpuMs: number;
  /** Time in which a thread of it could have run and no core was free. */
  readonly waitedMs: number;
  /** How often a thread of it went on after it had waited for something. */
  readonly wakes: number;
}

export interface MemoryUse {
  readonly rssBytes: number;
  /** Its share of memory that it shares with others; the sum over processes counts everything once. */
  readonly pssBytes: number;
  /** What belongs to no file and no shared memory: heaps and stacks. */
  readonly anonymousBytes: number;
}

export interface MachineUse {
  /** CPU time of everything on the machine. */
  readonly busyMs: number;
  /** Time that the host of a virtual machine gave to others. */
  readonly stolenMs: number;
  readonly loadAverage: number;
}

/** The fields of /proc/PID/stat after the name, which may hold spaces and parentheses; undefined when it is gone. */
function statOf(pid: number): string[] | undefined {
  const text = look(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Whether a process is there and does not only wait to be collected. */
export function isThere(pid: number): boolean {
  const state = statOf(pid)?.[0];
  return state !== undefined && state !== 'Z';
}

/** What a look at /proc finds; undefined when the process or thread has ended meanwhile. */
function look<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** Names in a folder of a process; none when it has ended. */
const entriesOf = (pid: number, folder: string): string[] =>
  look(() => readdirSync(`/proc/${pid}/${folder}`)) ?? [];

/** Threads that end between two looks are left out. */
function waitedMsOf(pid: number): number {
  const ofTask = (task: string): number =>
    look(() => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[1])) ?? 0;
  return entriesOf(pid, 'task').reduce((sum, task) => sum + ofTask(task), 0) / 1e6;
}

function wakesOf(pid: number): number {
  const ofTask = (task: string): number => {
    const text = look(() => readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8')) ?? '';
    return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(text)?.[1] ?? 0);
  };
  return entriesOf(pid, 'task').reduce((sum, task) => sum + ofTask(task), 0);
}

export const threadsOf = (pid: number): number => entriesOf(pid, 'task').length;
export const descriptorsOf = (pid: number): number => entriesOf(pid, 'fd').length;

export function timeUse(pid: number): TimeUse {
  const stat = statOf(pid) ?? [];
  return {
    cpuMs: (Number(stat[11] ?? 0) + Number(stat[12] ?? 0)) * tickMs,
    waitedMs: waitedMsOf(pid),
    wakes: wakesOf(pid),
  };
}

/** Holds the process up while the kernel counts. Zero for a process that has ended. */
export function memoryUse(pid: number): MemoryUse {
  const memory = look(() => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? '';
  const kilobytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(memory)?.[1] ?? 0);
  return {
    rssBytes: kilobytes('Rss') * 1024,
    pssBytes: kilobytes('Pss') * 1024,
    anonymousBytes: kilobytes('Anonymous') * 1024,
  };
}

export function machineUse(): MachineUse {
  const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '';
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const loadAverage = Number(readFileSync('/proc/loadavg', 'utf8').split(' ', 1)[0]);
  return { busyMs: (user + nice + system + irq + softirq) * tickMs, stolenMs: steal * tickMs, loadAverage };
}

const commandOf = (pid: number): string => look(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '';

/** The supervisor and its children by what they are: `supervisor`, `inference`, `worker 0`, ... */
export function serviceProcesses(supervisor: number): Map<string, number> {
  const found = new Map([['supervisor', supervisor]]);
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const children = pids.filter((pid) => Number(statOf(pid)?.[1]) === supervisor).sort((a, b) => a - b);
  let workers = 0;
  for (const pid of children) {
    const command = commandOf(pid);
    if (/inference[\\/]main\.js/.test(command)) found.set('inference', pid);
    else if (/calls[\\/]process[\\/]main\.js/.test(command)) found.set('records', pid);
    else if (/worker[\\/]main\.js/.test(command)) found.set(`worker ${workers++}`, pid);
  }
  return found;
}

/** Every process of a session, the oldest first. A supervisor that takes over leads a process group of its own and stays in the session. */
export function processesOf(session: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const startOf = (pid: number): number => Number(statOf(pid)?.[19] ?? 0);
  return pids.filter((pid) => Number(statOf(pid)?.[3]) === session).sort((a, b) => startOf(a) - startOf(b));
}

/** Supervisors of a session, the oldest first: two of them while one takes over from the other. */
export const supervisorsOf = (session: number): number[] =>
  processesOf(session).filter((pid) => /supervisor[\\/]cli\.js/.test(commandOf(pid)));

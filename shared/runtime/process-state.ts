/** What the kernel says of a process, on Linux; elsewhere nothing. */
import { readFileSync } from 'node:fs';
import type { Millis } from '../base/units.ts';

export interface ProcessState {
  /** A signal or a debugger has stopped it. */
  readonly stopped: boolean;
  /** It has ended, and nobody has looked after it yet. */
  readonly ended: boolean;
  /** Time for which its first thread, the one of the event loop, has had a processor. */
  readonly cpuMs: Millis;
}

/** The kernel counts in hundredths of a second for programs, whatever it does itself. */
const msPerTick = 10;

/** Fields of `/proc/PID/stat` behind the name, which may hold spaces and brackets: the state is the first. */
const userTicksField = 11;

/** Reads one line of `/proc/PID/task/PID/stat`. */
export function parseProcessState(line: string): ProcessState {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[userTicksField]) + Number(fields[userTicksField + 1]);
  const state = fields[0] ?? '';
  return { stopped: /^[Tt]$/.test(state), ended: /^[ZXx]$/.test(state), cpuMs: ticks * msPerTick };
}

/** Undefined where the process is gone, or the system does not say. */
export function readProcessState(pid: number): ProcessState | undefined {
  try {
    return parseProcessState(readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

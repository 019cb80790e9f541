/** Names a process for longer than it lives: by its number, the boot of the machine, and when it began since then. */
import { readFileSync } from 'node:fs';

export interface ProcessName {
  readonly pid: number;
  readonly since: string;
}

/** Field of `/proc/PID/stat` behind the name: ticks from the boot to the start of the process. */
const startField = 19;

let boot: string | undefined;

/** Undefined where it is gone, or the system does not say. */
export function nameOfProcess(pid: number): ProcessName | undefined {
  try {
    boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    // One that has ended and that nobody has looked after yet does nothing any more.
    return /^[ZXx]$/.test(fields[0] ?? '')
      ? undefined
      : { pid, since: `${boot}-${fields[startField] ?? ''}` };
  } catch {
    return undefined;
  }
}

export const isRunning = ({ pid, since }: ProcessName): boolean => nameOfProcess(pid)?.since === since;

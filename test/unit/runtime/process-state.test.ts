/** What the kernel says of a process. */
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parseProcessState, readProcessState } from '../../../shared/runtime/process-state.ts';

const line = (state: string): string => `4711 (node (a) b) ${state} 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0`;

describe('the state of a process', () => {
  it('is read behind a name with spaces and brackets', () => {
    expect(parseProcessState(line('T'))).toEqual({ stopped: true, ended: false, cpuMs: 2_000 });
    expect(parseProcessState(line('t')).stopped).toBe(true);
    expect(parseProcessState(line('Z')).ended).toBe(true);
    for (const state of ['R', 'S', 'D', 'Z']) expect(parseProcessState(line(state)).stopped).toBe(false);
  });

  it('is that of the system, also of a process that a signal has stopped', () => {
    const child = spawn('sleep', ['60']);
    child.kill('SIGSTOP');
    const until = (stopped: boolean): void => {
      while (readProcessState(child.pid ?? -1)?.stopped !== stopped);
    };
    until(true);
    child.kill('SIGCONT');
    until(false);
    child.kill('SIGKILL');
    expect(readProcessState(process.pid)?.cpuMs).toBeGreaterThan(0);
    expect(readProcessState(-1)).toBeUndefined();
  });
});

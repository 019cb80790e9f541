/** A service that is restarted by SIGUSR2: which process serves now, and the events of the change. */
import { readFileSync } from 'node:fs';
import { TestService, type LogLine, type ServiceEnd } from './service.ts';

const isSupervisor = (line: LogLine): boolean => line['role'] === 'supervisor';

/** Process id of the supervisor that said last that it is ready. */
export const servingPid = (service: TestService): number =>
  Number(service.said('ready', isSupervisor)?.['pid']);

/** Restarts the service; resolves with the process ids of both supervisors when the new one serves. */
export async function restarted(service: TestService): Promise<readonly [old: number, fresh: number]> {
  const old = servingPid(service);
  const seen = service.log.length;
  process.kill(old, 'SIGUSR2');
  const isNew = (line: LogLine): boolean => isSupervisor(line) && service.log.indexOf(line) >= seen;
  await service.says('ready', isNew);
  await service.says('draining', (line) => line['pid'] === old);
  return [old, servingPid(service)];
}

/** Resolves when a supervisor has said that it ends. */
export async function stopped(service: TestService, pid: number): Promise<void> {
  await service.says('stopped', (line) => line['pid'] === pid);
}

/** Whether a process is there and no zombie. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

/** Stops whichever supervisor serves; resolves when no process of any generation is left. */
export async function stopAll(service: TestService): Promise<ServiceEnd> {
  const pid = servingPid(service);
  if (!service.isOver && isAlive(pid) && pid !== service.pid) {
    process.kill(pid, 'SIGTERM');
    await service.says('signal received', (line) => line['pid'] === pid);
    if (isAlive(pid)) process.kill(pid, 'SIGTERM');
  }
  if (!isAlive(service.pid)) {
    const end = await service.ended;
    await service.providers.close();
    return end;
  }
  return service.stop();
}

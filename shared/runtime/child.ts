/** Being a child of the supervisor. */
import { createRequire } from 'node:module';
import type koffiModule from 'koffi';

const prSetPdeathsig = 1;
const sigcont = 18;

/**
 * Has the kernel wake this process when the supervisor dies: one that was stopped (SIGSTOP) would else never learn of it, and
 * hold its calls' connections for ever. To a process that runs the signal means nothing. The earlier it is asked for, the better.
 */
export function wakeWhenOrphaned(): void {
  const prctl = ofLibC('int prctl(int option, unsigned long argument)');
  prctl(prSetPdeathsig, sigcont);
}

/** Makes this process the first of a process group: it and all that it starts can be ended together, and signals of a terminal pass them by. */
export function leadProcessGroup(): void {
  ofLibC('int setpgid(int pid, int group)')(0, 0);
}

function ofLibC(prototype: string): (...args: readonly number[]) => number {
  const koffi = createRequire(import.meta.url)('koffi') as typeof koffiModule;
  return koffi.load(null).func(prototype) as (...args: readonly number[]) => number;
}

/**
 * Calls `stop` once when the supervisor is gone, however it went: its end of the message channel closes with it. Signals
 * that a terminal or a service manager sends to the whole process group are left to the supervisor; SIGUSR1 opens no debugger.
 */
export function exitWithParent(stop: () => void): void {
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  process.on('SIGHUP', () => undefined);
  process.on('SIGUSR1', () => undefined);
  process.on('SIGUSR2', () => undefined);
  process.once('disconnect', stop);
  if (!process.connected) stop();
}

/** Says something to the process that started this one. One that is gone hears nothing, which `exitWithParent` is told of. */
export function tellParent(message: unknown): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/** The message with which the supervisor sets a child up; its type is the supervisor's promise. */
export function firstMessage<T>(): Promise<T> {
  return new Promise((resolve) => process.once('message', (message) => resolve(message as T)));
}

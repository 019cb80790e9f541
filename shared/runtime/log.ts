/** Logs: pino, one JSON line each, a fixed sentence with the data in fields. Callers' words and secrets never enter. */
import { pino, type Logger } from 'pino';

export type Log = Logger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/**
 * The logger of this process. Writing is synchronous: a process that dies has written everything it said, and the
 * amount is small (nothing is logged per frame).
 */
export function newLog(options: { role: string; level: LogLevel | 'silent' }): Log {
  return pino(
    {
      level: options.level,
      base: { role: options.role, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    pino.destination({ dest: 1, sync: true }),
  );
}

/** What may be logged of an unknown error: its class, message and stack, never its properties. */
export function errorFields(error: unknown): { error: string; stack?: string } {
  if (!(error instanceof Error)) return { error: typeof error };
  return error.stack === undefined ? { error: error.message } : { error: error.message, stack: error.stack };
}

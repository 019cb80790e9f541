/** Logs: pino, one JSON line each, a fixed sentence with the data in fields. Callers' words and secrets never enter. */
import { pino, type DestinationStream, type Logger } from 'pino';
import { forJournal, isJournal } from './journal.ts';
import type { Millis } from '../base/units.ts';

export type Log = Logger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/**
 * Keeps a fault that repeats from filling the disk: each logger (there is one per call) may say each of its fixed sentences
 * a number of times, and then once a second. Lines that were left out are counted and told with the next line that is written.
 *
 * Invariant: bounded, because sentences are fixed texts of the sources and a logger is forgotten with its call.
 */

/** Far more than one call says of one thing in its life, unless it turns in circles. */
const burst = 20;
const everyMs = 1_000;

interface Said {
  credit: number;
  filledAt: Millis;
  leftOut: number;
}

export class LineLimit {
  readonly #said = new WeakMap<object, Map<string, Said>>();

  /** How many lines like this one were left out before it; undefined when it is to be left out as well. */
  admit(logger: object, sentence: string, now: Millis): number | undefined {
    let sentences = this.#said.get(logger);
    if (sentences === undefined) {
      sentences = new Map();
      this.#said.set(logger, sentences);
    }
    let said = sentences.get(sentence);
    if (said === undefined) {
      said = { credit: burst, filledAt: now, leftOut: 0 };
      sentences.set(sentence, said);
    }
    said.credit = Math.min(burst, said.credit + (now - said.filledAt) / everyMs);
    said.filledAt = now;
    if (said.credit < 1) {
      said.leftOut += 1;
      return undefined;
    }
    said.credit -= 1;
    const { leftOut } = said;
    said.leftOut = 0;
    return leftOut;
  }
}

const lineLimit = new LineLimit();

/**
 * Writes a line unless its logger has said the same too often; the sentence is the first text among the arguments. A line
 * behind a gap says how many lines are missing.
 */
function logWithinLimit(this: Logger, args: Parameters<Logger['info']>, write: Logger['info']): void {
  const given: readonly unknown[] = args;
  const [first] = given;
  const sentence = given.find((arg) => typeof arg === 'string') ?? '';
  const leftOut = lineLimit.admit(this, sentence, performance.now());
  if (leftOut === undefined) return;
  if (leftOut === 0) write.apply(this, args);
  else if (typeof first === 'object' && first !== null) write.call(this, { ...first, leftOut }, sentence);
  else write.call(this, { leftOut }, sentence);
}

/** Lines that wait while the log cannot be written; what comes beyond them is lost. */
const mostWaitingBytes = 256 * 1024;

/** Standard output. A disk without room, or whatever else is wrong there, must cost lines and no call. */
function standardOutput(): DestinationStream {
  const destination = pino.destination({ dest: 1, sync: true, maxLength: mostWaitingBytes });
  destination.on('error', () => undefined);
  if (!isJournal(1, process.env['JOURNAL_STREAM'])) return destination;
  return { write: (line) => void destination.write(forJournal(levelOf(line), line)) };
}

/** A line begins with its level. */
const levelOf = (line: string): number => Number.parseInt(line.slice('{"level":'.length), 10);

/**
 * The logger of this process. Writing is synchronous: a process that dies has written everything it said, and the
 * amount is small (nothing is logged per frame). A command that prints to stdout takes the lines itself.
 */
export function newLog(options: { role: string; level: LogLevel; to?: { write(line: string): void } }): Log {
  return pino(
    {
      level: options.level,
      base: { role: options.role, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: { logMethod: logWithinLimit },
    },
    options.to ?? standardOutput(),
  );
}

/** Writes lines on who did what, whatever the level of the log; `audit` tells them from others. */
export const auditOf = (log: Log): Log => log.child({ audit: true }, { level: 'info' });

/** What may be logged of an unknown error: its class, message and stack, never its properties. */
export function errorFields(error: unknown): { error: string; stack?: string } {
  if (!(error instanceof Error)) return { error: typeof error };
  return error.stack === undefined ? { error: error.message } : { error: error.message, stack: error.stack };
}

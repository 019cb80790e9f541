/** How a child process ended, and whether what it was doing is to blame. Pure. */
import type { Millis } from '../../shared/base/units.ts';

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** It was told to leave, or nobody is replaced any more. */
  readonly asked: boolean;
  /** It gave no sign of life and was killed for it; `stopped`: because a signal had stopped it. */
  readonly killed?: 'hung' | 'stopped' | undefined;
}

/** A worker that is killed from outside in the middle of ordinary work was silent for less than this. */
const stuckMs = 300;
/** Signals by which others end a process. */
const fromOutside: readonly string[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'];

/**
 * Whether the work in which the worker ended is what ended it: it hung, crashed, or was killed by the system after it had kept the event
 * loop for itself, as a process is whose memory grows without end. `silentMs`: how long it had given no sign of life.
 */
export function isEndedByItsWork({ code, signal, asked, killed }: ChildEnd, silentMs: Millis): boolean {
  if (killed !== undefined) return killed === 'hung';
  if (asked && code === 0) return false;
  if (signal === 'SIGKILL') return silentMs >= stuckMs;
  return signal === null || !fromOutside.includes(signal);
}

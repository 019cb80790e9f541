/**
 * Wakes a supervisor that a signal has stopped: while it stands still, calls of a worker that dies are silent and nobody is let in. One that
 * is busy in a circle is left to the service manager's watchdog, because calls do not survive its end.
 */
import { heartbeatAge } from '../../shared/protocol/heartbeat.ts';
import type { Mailboxes } from '../../shared/protocol/mailbox.ts';
import type { ProcessState } from '../../shared/runtime/process-state.ts';

/** It beats five times a second, without calls half as often. */
const stillMs = 1_000;

export interface SupervisorWatchOptions {
  readonly boxes: Pick<Mailboxes, 'supervisorHeartbeat'>;
  readonly machineMs: () => number;
  readonly log: { warn(sentence: string): void };
  /** What the kernel says of the supervisor; undefined where it says nothing. */
  readonly state: () => ProcessState | undefined;
  readonly wake: () => void;
}

/** To be called several times a second. */
export function supervisorWatch({ boxes, machineMs, log, state, wake }: SupervisorWatchOptions): () => void {
  let lookedAtMs: number | undefined;
  return () => {
    const nowMs = machineMs();
    const { supervisorHeartbeat: beatMs } = boxes;
    // Where this process stood still itself, what it remembers of the other is old.
    const gapMs = nowMs - (lookedAtMs ?? nowMs);
    lookedAtMs = nowMs;
    if (beatMs === 0 || gapMs >= stillMs || heartbeatAge(nowMs, beatMs) < stillMs) return;
    if (state()?.stopped !== true) return;
    log.warn('a signal has stopped the supervisor: it is woken');
    wake();
  };
}

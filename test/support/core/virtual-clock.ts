/** A clock that moves only when told to; timers fire in order of their due time, at exactly that time. */
import type { Clock } from '../../../shared/runtime/clock.ts';

export interface VirtualClock extends Clock {
  /** Moves time on and fires what becomes due, timers that are started meanwhile included. */
  advance(ms: number): void;
  /** Timers that wait. */
  readonly pending: number;
}

interface Waiting {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

export function newVirtualClock(): VirtualClock {
  let nowMs = 0;
  let order = 0;
  const waiting = new Set<Waiting>();
  const nextDue = (limitMs: number): Waiting | undefined => {
    let next: Waiting | undefined;
    for (const timer of waiting) {
      if (timer.dueMs > limitMs) continue;
      const sooner = next === undefined || timer.dueMs < next.dueMs;
      if (sooner || (timer.dueMs === next?.dueMs && timer.order < next.order)) next = timer;
    }
    return next;
  };
  return {
    now: () => nowMs,
    after: (delayMs, callback) => {
      // Node would wake after a millisecond, and code that sets a timer for never would set it again a thousand times a second.
      if (!Number.isFinite(delayMs)) throw new Error('a timer needs a time');
      const timer = { dueMs: nowMs + Math.max(0, delayMs), order: order++, callback };
      waiting.add(timer);
      return { cancel: () => void waiting.delete(timer) };
    },
    advance: (ms) => {
      const untilMs = nowMs + ms;
      for (let timer = nextDue(untilMs); timer !== undefined; timer = nextDue(untilMs)) {
        waiting.delete(timer);
        nowMs = Math.max(nowMs, timer.dueMs);
        timer.callback();
      }
      nowMs = untilMs;
    },
    get pending() {
      return waiting.size;
    },
  };
}

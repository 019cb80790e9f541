/**
 * The leak guard of one round, on the clock: a word that is held back because it might be the beginning of a leak is given on where the server
 * pauses behind it. Servers that read calls themselves pause behind "One moment.", until they have read all of the call.
 */
import type { LlmEvent, StageContext } from '../stage.ts';
import { Deadline } from '../timers.ts';
import { LeakGuard, type LeakGuardOptions } from './leak-guard.ts';

/** Between two tokens of the slowest models there is less. */
const pauseMs = 200;

export interface RoundGuard {
  take(event: LlmEvent): void;
  /** Nothing is emitted any more. */
  close(): void;
}

export function newRoundGuard(options: LeakGuardOptions, context: StageContext): RoundGuard {
  const guard = new LeakGuard(options);
  const pause = new Deadline(context, () => guard.settle());
  return {
    take: (event) => {
      if (event.type === 'text') pause.set(pauseMs);
      else if (event.type === 'done' || event.type === 'error') pause.close();
      guard.take(event);
    },
    close: () => pause.close(),
  };
}

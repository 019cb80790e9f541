/**
 * A restart without a gap, as the old supervisor sees it, as a pure machine (decision 0017): idle, starting, copying, handing
 * over, over. Until the new supervisor has said that it serves, every failure leads back to idle, and the old one goes on as
 * if nothing had happened. It starts, sends and kills nothing itself. Pure.
 */
import type { Millis } from '../../shared/base/units.ts';

/** From the moment the listeners are given away until the new supervisor has said that it serves. */
const handingWithinMs = 5_000;

export type RestartPhase =
  | { readonly phase: 'idle' }
  /** The new supervisor starts its children. */
  | { readonly phase: 'starting'; readonly until: Millis }
  /** It gets what the old one remembers; the old one judges arrivals as ever and tells it of each. */
  | { readonly phase: 'copying'; readonly until: Millis }
  /** It gets the listeners; arrivals at the old one wait. */
  | { readonly phase: 'handing'; readonly until: Millis }
  /** It serves; arrivals at the old one travel to it. */
  | { readonly phase: 'over' }
  /** The service ends; nobody takes over. */
  | { readonly phase: 'stopping' };

export interface Restart {
  readonly timeoutMs: Millis;
  state: RestartPhase;
}

export type RestartEvent =
  /** SIGUSR2. An obstacle says why there can be no restart now. */
  | { readonly type: 'restart.asked'; readonly obstacle?: string }
  /** The service was told to stop. */
  | { readonly type: 'stop.asked' }
  | { readonly type: 'successor.prepared' }
  | { readonly type: 'successor.copied' }
  | { readonly type: 'successor.took' }
  /** It ended, could not be started or said that it cannot serve. */
  | { readonly type: 'successor.failed'; readonly reason: string }
  | { readonly type: 'deadline.reached' };

export type RestartAction =
  | { readonly type: 'start.successor' }
  | { readonly type: 'copy.ledgers' }
  /** From here on arrivals wait. */
  | { readonly type: 'give.listeners' }
  /** Close the own listeners, send what waits to the new supervisor, and drain. */
  | { readonly type: 'leave' }
  /** End the new supervisor, whatever it does, and judge what waits. */
  | { readonly type: 'give.up'; readonly reason: string }
  | { readonly type: 'refuse'; readonly reason: string }
  /** The new supervisor is gone after it took over. */
  | { readonly type: 'report.loss'; readonly reason: string };

export const newRestart = (timeoutMs: Millis): Restart => ({ timeoutMs, state: { phase: 'idle' } });

export function stepRestart(restart: Restart, event: RestartEvent, now: Millis): RestartAction[] {
  const { state } = restart;
  switch (event.type) {
    case 'restart.asked':
      return onAsked(restart, { now, obstacle: event.obstacle });
    case 'stop.asked':
      return onStop(restart);
    case 'successor.prepared':
      if (state.phase !== 'starting') return [];
      restart.state = { phase: 'copying', until: state.until };
      return [{ type: 'copy.ledgers' }];
    case 'successor.copied':
      if (state.phase !== 'copying') return [];
      restart.state = { phase: 'handing', until: now + handingWithinMs };
      return [{ type: 'give.listeners' }];
    case 'successor.took':
      if (state.phase !== 'handing') return [];
      restart.state = { phase: 'over' };
      return [{ type: 'leave' }];
    case 'successor.failed':
      return onFailed(restart, event.reason);
    case 'deadline.reached':
      if (!('until' in state) || now < state.until) return [];
      return onFailed(restart, 'the new supervisor did not serve in time');
  }
}

function onAsked(
  restart: Restart,
  { now, obstacle }: { readonly now: Millis; readonly obstacle: string | undefined },
): RestartAction[] {
  switch (restart.state.phase) {
    case 'idle':
      if (obstacle !== undefined) return [{ type: 'refuse', reason: obstacle }];
      restart.state = { phase: 'starting', until: now + restart.timeoutMs };
      return [{ type: 'start.successor' }];
    case 'starting':
    case 'copying':
    case 'handing':
      return [{ type: 'refuse', reason: 'a restart is in progress' }];
    case 'over':
      return [{ type: 'refuse', reason: 'a new supervisor has taken over from this one' }];
    case 'stopping':
      return [{ type: 'refuse', reason: 'the service is stopping' }];
  }
}

/** A new supervisor that has the listeners is let finish: callers may be with it already. */
function onStop(restart: Restart): RestartAction[] {
  switch (restart.state.phase) {
    case 'starting':
    case 'copying':
      restart.state = { phase: 'stopping' };
      return [{ type: 'give.up', reason: 'the service was told to stop' }];
    case 'idle':
      restart.state = { phase: 'stopping' };
      return [];
    case 'handing':
    case 'over':
    case 'stopping':
      return [];
  }
}

function onFailed(restart: Restart, reason: string): RestartAction[] {
  switch (restart.state.phase) {
    case 'starting':
    case 'copying':
    case 'handing':
      restart.state = { phase: 'idle' };
      return [{ type: 'give.up', reason }];
    case 'over':
      return [{ type: 'report.loss', reason }];
    case 'idle':
    case 'stopping':
      return [];
  }
}

export const restartDeadline = (restart: Restart): Millis | undefined =>
  'until' in restart.state ? restart.state.until : undefined;

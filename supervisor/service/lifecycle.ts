/**
 * The life of the service as a pure machine: starting, serving, draining, stopping, gone (docs/scale.md, Rollouts, and why 30 s of drain end calls).
 * Calls may finish while it drains, are told to stop after that, and are cut when they do not. After a reload they may finish whenever they do: only
 * a stop, or a limit that the operator has set, ends them. Pure.
 */
import type { Millis } from '../../shared/base/units.ts';

export interface DrainTimes {
  readonly drainTimeoutMs: Millis;
  /** After another supervisor has taken over; absent: calls go on until they end. */
  readonly reloadDrainMs?: Millis;
  readonly cancelGraceMs: Millis;
  readonly abortWaitMs: Millis;
}

export type LifecyclePhase =
  | { readonly phase: 'starting' }
  | { readonly phase: 'serving' }
  | {
      readonly phase: 'draining';
      readonly until: Millis | undefined;
      /** No signal to this process has asked for it: another supervisor has taken over. */
      readonly unasked?: boolean;
    }
  /** Calls have been told that the service stops. */
  | { readonly phase: 'stopping'; readonly until: Millis }
  /** Children that are still there are killed. */
  | { readonly phase: 'aborting'; readonly until: Millis }
  | { readonly phase: 'gone' };

export interface Lifecycle {
  readonly times: DrainTimes;
  state: LifecyclePhase;
}

export type LifecycleEvent =
  | { readonly type: 'children.ready' }
  | { readonly type: 'signal.received' }
  /** The supervisor that took over was told to stop. */
  | { readonly type: 'successor.stops' }
  /** It was told so more than once. */
  | { readonly type: 'hurry' }
  /** Another supervisor has taken over. */
  | { readonly type: 'handed.over' }
  | { readonly type: 'deadline.reached' }
  /** No call is left. */
  | { readonly type: 'calls.gone' }
  | { readonly type: 'children.gone' };

export type LifecycleAction = 'announce.ready' | 'begin.drain' | 'tell.calls' | 'kill.children' | 'exit';

/** Workers have this long to tell their calls, whatever grace was set: a client that was not told sees its connection break. */
const tellMs = 500;

export const newLifecycle = (times: DrainTimes): Lifecycle => ({ times, state: { phase: 'starting' } });

export function stepLifecycle(life: Lifecycle, event: LifecycleEvent, now: Millis): LifecycleAction[] {
  switch (event.type) {
    case 'children.ready':
      if (life.state.phase !== 'starting') return [];
      life.state = { phase: 'serving' };
      return ['announce.ready'];
    case 'signal.received':
      return onSignal(life, now);
    case 'successor.stops':
      if (life.state.phase === 'draining' && life.state.unasked === true)
        life.state = { ...life.state, until: stopUntil(life, now) };
      return [];
    case 'hurry':
      return advance(life, now);
    case 'handed.over':
      return life.state.phase === 'serving' ? leave(life, now) : [];
    case 'deadline.reached':
      return now >= (lifecycleDeadline(life) ?? Number.POSITIVE_INFINITY) ? advance(life, now) : [];
    case 'calls.gone':
      return life.state.phase === 'draining' ? stop(life, now) : [];
    case 'children.gone':
      if (life.state.phase !== 'stopping' && life.state.phase !== 'aborting') return [];
      life.state = { phase: 'gone' };
      return ['exit'];
  }
}

/** The first signal asks for the drain, also where it has begun by itself; each further one cuts the present part of it short. */
function onSignal(life: Lifecycle, now: Millis): LifecycleAction[] {
  const { state } = life;
  if (state.phase === 'starting' || state.phase === 'serving') return drain(life, now);
  if (state.phase !== 'draining' || state.unasked !== true) return advance(life, now);
  life.state = { phase: 'draining', until: stopUntil(life, now) };
  return [];
}

function drain(life: Lifecycle, now: Millis): LifecycleAction[] {
  life.state = { phase: 'draining', until: now + life.times.drainTimeoutMs };
  return ['begin.drain'];
}

function leave(life: Lifecycle, now: Millis): LifecycleAction[] {
  const { reloadDrainMs } = life.times;
  const until = reloadDrainMs === undefined ? undefined : now + reloadDrainMs;
  life.state = { phase: 'draining', until, unasked: true };
  return ['begin.drain'];
}

/** The end of a drain that a stop has asked for; one that ends sooner does so all the same. */
function stopUntil({ state, times }: Lifecycle, now: Millis): Millis {
  const until = now + times.drainTimeoutMs;
  return state.phase === 'draining' ? Math.min(until, state.until ?? until) : until;
}

function advance(life: Lifecycle, now: Millis): LifecycleAction[] {
  switch (life.state.phase) {
    case 'draining':
      return stop(life, now);
    case 'stopping':
      life.state = { phase: 'aborting', until: now + life.times.abortWaitMs };
      return ['kill.children'];
    case 'aborting':
      life.state = { phase: 'gone' };
      return ['exit'];
    case 'starting':
    case 'serving':
    case 'gone':
      return [];
  }
}

function stop(life: Lifecycle, now: Millis): LifecycleAction[] {
  life.state = { phase: 'stopping', until: now + Math.max(tellMs, life.times.cancelGraceMs) };
  return ['tell.calls'];
}

export const lifecycleDeadline = (life: Lifecycle): Millis | undefined =>
  'until' in life.state ? life.state.until : undefined;

/** The server variables about how the service ends, restarts and outlives its children. Part of the list in `server.ts`. */
import { present } from '../../base/present.ts';
import type { Reader } from './environment.ts';
import {
  durationVariable,
  optionalDurationVariable,
  optionalPathVariable,
  switchVariable,
} from './variables.ts';

export interface LifetimeSettings {
  readonly drain: {
    readonly drainTimeoutMs: number;
    /** How long calls may go on after a reload; absent: until they end. */
    readonly reloadDrainMs?: number;
    readonly cancelGraceMs: number;
    readonly abortWaitMs: number;
  };
  /** A new supervisor that was asked for by SIGUSR2 and does not serve by then is given up. */
  readonly restartTimeoutMs: number;
  /** File that holds the process id of the supervisor that serves. */
  readonly pidFile?: string;
  /** A child whose event loop is silent for longer is killed and replaced. */
  readonly hangTimeoutMs: number;
  readonly callResume: boolean;
  readonly spareWorker: boolean;
  /** The supervisor goes before its workers, and what starts beside running calls behind them. */
  readonly raisesPriority: boolean;
}

export const lifetimeVariables = {
  drainTimeout: durationVariable('SVC_DRAIN_TIMEOUT', 'How long calls may go on after SIGTERM.', {
    defaultMs: 30_000,
    leastMs: 0,
  }),
  reloadDrain: optionalDurationVariable(
    'SVC_RELOAD_DRAIN_TIMEOUT',
    'How long running calls may go on after a reload (SIGUSR2); off: until they end. A stop ends them after SVC_DRAIN_TIMEOUT all the same.',
    { leastMs: 1000 },
  ),
  cancelGrace: durationVariable(
    'SVC_CANCEL_GRACE',
    'How long calls have to end after they are told to. The farewell is said within it, or left out where it is too short.',
    { defaultMs: 5000, leastMs: 0 },
  ),
  abortWait: durationVariable('SVC_ABORT_WAIT', 'How long the service waits for the rest before it exits.', {
    defaultMs: 1000,
    leastMs: 0,
  }),
  restartTimeout: durationVariable(
    'SVC_RESTART_TIMEOUT',
    'A supervisor started by SIGUSR2 that does not serve after this time is given up; the old one goes on.',
    { defaultMs: 60_000, leastMs: 1000 },
  ),
  pidFile: optionalPathVariable(
    'SVC_PID_FILE',
    'File in which the supervisor that serves writes its process id; removed when it ends.',
  ),
  hangTimeout: durationVariable(
    'SVC_HANG_TIMEOUT',
    'A worker or inference process that gives no sign of life for this long is killed and replaced; a worker that a signal has stopped after 1s, one in a circle after 2s.',
    { defaultMs: 5000, leastMs: 500 },
  ),
  callResume: switchVariable(
    'SVC_CALL_RESUME',
    'Whether calls outlive their worker: another one takes them up when it dies or hangs.',
    true,
  ),
  spareWorker: switchVariable(
    'SVC_SPARE_WORKER',
    'Whether a worker waits to take the place of one that dies.',
    true,
  ),
  raisesPriority: switchVariable(
    'SVC_RAISE_PRIORITY',
    'Whether the supervisor gets processor time before its workers, and processes that start beside running calls get it after them, if the system allows.',
    true,
  ),
} as const;

export function takeLifetime(reader: Reader): LifetimeSettings {
  const { drainTimeout, reloadDrain, cancelGrace, abortWait, ...others } = reader.takeAll(lifetimeVariables);
  const { restartTimeout, hangTimeout, pidFile, ...switches } = others;
  return {
    drain: {
      drainTimeoutMs: drainTimeout,
      ...present({ reloadDrainMs: reloadDrain }),
      cancelGraceMs: cancelGrace,
      abortWaitMs: abortWait,
    },
    restartTimeoutMs: restartTimeout,
    hangTimeoutMs: hangTimeout,
    ...present({ pidFile }),
    ...switches,
  };
}

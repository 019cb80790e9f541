/** A restart without a gap, as the old supervisor decides it: every way in which it can go wrong leads back. */
import { describe, expect, it } from 'vitest';
import {
  newRestart,
  restartDeadline,
  stepRestart,
  type Restart,
  type RestartAction,
  type RestartEvent,
} from '../../../supervisor/restart/restart.ts';

const timeoutMs = 60_000;
const asked = { type: 'restart.asked' } as const;
const prepared = { type: 'successor.prepared' } as const;
const copied = { type: 'successor.copied' } as const;
const took = { type: 'successor.took' } as const;
const stop = { type: 'stop.asked' } as const;
const died = { type: 'successor.failed', reason: 'it died' } as const;

function run(restart: Restart, events: readonly RestartEvent[], now = 0): RestartAction[] {
  return events.flatMap((event) => stepRestart(restart, event, now));
}

const after = (...events: RestartEvent[]): Restart => {
  const restart = newRestart(timeoutMs);
  run(restart, events);
  return restart;
};

describe('a restart', () => {
  it('starts a successor, copies, gives the listeners and leaves, each when the one before is done', () => {
    const restart = newRestart(timeoutMs);
    const orders = [asked, prepared, copied, took].map((event) => run(restart, [event]));
    expect(orders).toEqual([
      [{ type: 'start.successor' }],
      [{ type: 'copy.ledgers' }],
      [{ type: 'give.listeners' }],
      [{ type: 'leave' }],
    ]);
    expect(restartDeadline(restart)).toBeUndefined();
  });

  it('takes no step that comes out of turn', () => {
    const restart = newRestart(timeoutMs);
    expect(run(restart, [prepared, copied, took, died])).toEqual([]);
    run(restart, [asked]);
    expect(run(restart, [took, copied])).toEqual([]);
    expect(restart.state.phase).toBe('starting');
  });

  it.each([
    ['starts', [asked], 60_000],
    ['copies', [asked, prepared], 60_000],
    ['takes the listeners', [asked, prepared, copied], 5_000],
  ] as const)('is given up when the successor dies or is late while it %s', (_name, events, limitMs) => {
    const dies = after(...events);
    expect(run(dies, [died])).toEqual([{ type: 'give.up', reason: 'it died' }]);
    expect(dies.state.phase).toBe('idle');

    const late = after(...events);
    expect(restartDeadline(late)).toBe(limitMs);
    expect(run(late, [{ type: 'deadline.reached' }], limitMs - 1)).toEqual([]);
    const reason = 'the new supervisor did not serve in time';
    expect(run(late, [{ type: 'deadline.reached' }], limitMs)).toEqual([{ type: 'give.up', reason }]);
    expect(run(late, [asked], limitMs)).toEqual([{ type: 'start.successor' }]);
  });

  it('refuses a second one while it is on the way, after it, when the service stops and where there is an obstacle', () => {
    const why = (restart: Restart, event: RestartEvent = asked): unknown => run(restart, [event]);
    const refused = (reason: string): unknown => [{ type: 'refuse', reason }];
    const progress = refused('a restart is in progress');
    expect(why(after(asked))).toEqual(progress);
    expect(why(after(asked, prepared))).toEqual(progress);
    expect(why(after(asked, prepared, copied))).toEqual(progress);
    expect(why(after(asked, prepared, copied, took))).toEqual(
      refused('a new supervisor has taken over from this one'),
    );
    expect(why(after(stop))).toEqual(refused('the service is stopping'));
    const blocked = newRestart(timeoutMs);
    expect(why(blocked, { ...asked, obstacle: 'not now' })).toEqual(refused('not now'));
    expect(why(blocked)).toEqual([{ type: 'start.successor' }]);
  });

  it('is given up when the service is told to stop, unless the successor has the listeners', () => {
    const reason = 'the service was told to stop';
    expect(run(after(asked), [stop])).toEqual([{ type: 'give.up', reason }]);
    expect(run(after(asked, prepared), [stop])).toEqual([{ type: 'give.up', reason }]);
    expect(run(after(asked, prepared, copied), [stop, took])).toEqual([{ type: 'leave' }]);
    expect(run(after(asked, prepared, copied, took), [stop])).toEqual([]);
  });

  it('cannot be taken back once the successor serves', () => {
    expect(run(after(asked, prepared, copied, took), [died])).toEqual([
      { type: 'report.loss', reason: 'it died' },
    ]);
  });
});

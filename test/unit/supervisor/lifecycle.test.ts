/** The life of the service: what a signal, a deadline and the end of the calls lead to. */
import { describe, expect, it } from 'vitest';
import {
  lifecycleDeadline,
  newLifecycle,
  stepLifecycle,
  type Lifecycle,
  type LifecycleAction,
  type LifecycleEvent,
} from '../../../supervisor/service/lifecycle.ts';

const times = { drainTimeoutMs: 30_000, cancelGraceMs: 5_000, abortWaitMs: 1_000 };

/** Takes events at their times and returns all actions. */
function run(
  life: Lifecycle,
  events: readonly (readonly [LifecycleEvent['type'], number])[],
): LifecycleAction[] {
  return events.flatMap(([type, now]) => stepLifecycle(life, { type }, now));
}

function serving(): Lifecycle {
  const life = newLifecycle(times);
  run(life, [['children.ready', 0]]);
  return life;
}

describe('the lifecycle', () => {
  it('announces itself once, however often children become ready', () => {
    const events = [
      ['children.ready', 0],
      ['children.ready', 5],
    ] as const;
    expect(run(newLifecycle(times), events)).toEqual(['announce.ready']);
  });

  it('drains, tells the calls, kills and exits, each step when the time of the one before is over', () => {
    const life = serving();
    const deadlines: (number | undefined)[] = [];
    const actions = [
      ['signal.received', 100],
      ['deadline.reached', 30_099],
      ['deadline.reached', 30_100],
      ['deadline.reached', 35_099],
      ['deadline.reached', 35_100],
      ['deadline.reached', 36_099],
      ['deadline.reached', 36_100],
    ] as const;
    const done = actions.map(([type, now]) => {
      const step = stepLifecycle(life, { type }, now);
      deadlines.push(lifecycleDeadline(life));
      return step;
    });
    expect(done).toEqual([['begin.drain'], [], ['tell.calls'], [], ['kill.children'], [], ['exit']]);
    expect(deadlines).toEqual([30_100, 30_100, 35_100, 35_100, 36_100, 36_100, undefined]);
  });

  it('gives workers time to tell their calls where no grace is set', () => {
    const life = newLifecycle({ drainTimeoutMs: 0, cancelGraceMs: 0, abortWaitMs: 0 });
    const events = [
      ['children.ready', 0],
      ['signal.received', 100],
      ['deadline.reached', 100],
    ] as const;
    expect(run(life, events)).toEqual(['announce.ready', 'begin.drain', 'tell.calls']);
    expect(lifecycleDeadline(life)).toBe(600);
    expect(run(life, [['deadline.reached', 599]])).toEqual([]);
    expect(run(life, [['signal.received', 599]])).toEqual(['kill.children']);
  });

  it('does not wait when the last call ends during the drain, nor when the children leave', () => {
    const events = [
      ['signal.received', 0],
      ['calls.gone', 10],
      ['children.gone', 20],
    ] as const;
    expect(run(serving(), events)).toEqual(['begin.drain', 'tell.calls', 'exit']);
  });

  it('cuts the present part short with every further signal', () => {
    const events = [0, 1, 2, 3, 4].map((now) => ['signal.received', now] as const);
    expect(run(serving(), events)).toEqual(['begin.drain', 'tell.calls', 'kill.children', 'exit']);
  });

  it('lets calls go on after a reload until they end, whatever the time of a stop is', () => {
    const life = serving();
    expect(run(life, [['handed.over', 0]])).toEqual(['begin.drain']);
    expect(lifecycleDeadline(life)).toBeUndefined();
    expect(run(life, [['deadline.reached', 1e9]])).toEqual([]);
    expect(run(life, [['calls.gone', 1e9]])).toEqual(['tell.calls']);
  });

  it('ends the calls of a reload at the limit that the operator has set', () => {
    const life = newLifecycle({ ...times, reloadDrainMs: 600_000 });
    run(life, [
      ['children.ready', 0],
      ['handed.over', 100],
    ]);
    expect(lifecycleDeadline(life)).toBe(600_100);
    expect(run(life, [['deadline.reached', 600_100]])).toEqual(['tell.calls']);
  });

  it.each(['signal.received', 'successor.stops'] as const)(
    'drains as for a stop when one comes after a reload: %s',
    (type) => {
      const life = serving();
      run(life, [
        ['handed.over', 0],
        [type, 1_000],
      ]);
      expect(lifecycleDeadline(life)).toBe(31_000);
    },
  );

  it('is not cut short by the signal to the whole group behind the word of the supervisor that took over', () => {
    const life = serving();
    const events = [
      ['handed.over', 0],
      ['successor.stops', 1_000],
      ['signal.received', 1_001],
      ['successor.stops', 1_002],
    ] as const;
    expect(run(life, events)).toEqual(['begin.drain']);
    expect(lifecycleDeadline(life)).toBe(31_000);
  });

  it('lets calls go on at the first signal after another supervisor has taken over, and hurries at the next', () => {
    const events = [
      ['handed.over', 0],
      ['signal.received', 10],
      ['signal.received', 20],
    ] as const;
    const life = serving();
    expect(run(life, events.slice(0, 2))).toEqual(['begin.drain']);
    expect(lifecycleDeadline(life)).toBe(30_010);
    expect(run(life, events.slice(2))).toEqual(['tell.calls']);
  });

  it('hurries at once when the supervisor that took over says so', () => {
    const events = [
      ['handed.over', 0],
      ['hurry', 10],
    ] as const;
    expect(run(serving(), events)).toEqual(['begin.drain', 'tell.calls']);
  });

  it('stops also while it starts, and is not announced after that', () => {
    const events = [
      ['signal.received', 0],
      ['children.ready', 1],
      ['calls.gone', 2],
      ['children.gone', 3],
    ] as const;
    expect(run(newLifecycle(times), events)).toEqual(['begin.drain', 'tell.calls', 'exit']);
  });

  it('takes no notice of calls and children that go while it serves', () => {
    expect(
      run(serving(), [
        ['calls.gone', 1],
        ['children.gone', 2],
        ['deadline.reached', 1e9],
      ]),
    ).toEqual([]);
  });

  it('does nothing any more once it is gone', () => {
    const life = serving();
    run(life, [
      ['signal.received', 0],
      ['calls.gone', 0],
      ['children.gone', 0],
    ]);
    const events = [
      ['signal.received', 1],
      ['children.ready', 1],
      ['children.gone', 1],
      ['deadline.reached', 9],
    ] as const;
    expect(run(life, events)).toEqual([]);
  });
});

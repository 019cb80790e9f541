/** A supervisor that a signal has stopped is woken by its workers; one that is slow, busy or gone is left alone. */
import { describe, expect, it } from 'vitest';
import { heartbeatOf } from '../../../shared/protocol/heartbeat.ts';
import { supervisorWatch } from '../../../worker/host/supervisor-watch.ts';

function newWatch(kernel: { stopped: boolean } | undefined) {
  const world = { nowMs: 10_000, supervisorHeartbeat: heartbeatOf(10_000), woken: 0, said: 0 };
  const look = supervisorWatch({
    boxes: world,
    machineMs: () => world.nowMs,
    log: { warn: () => (world.said += 1) },
    state: () => kernel && { ...kernel, ended: false, cpuMs: 0 },
    wake: () => (world.woken += 1),
  });
  /** Looks every 100 ms for so long. */
  const pass = (ms: number): void => {
    for (const end = world.nowMs + ms; world.nowMs < end;) {
      world.nowMs += 100;
      look();
    }
  };
  look();
  return { world, pass, look };
}

describe('a worker', () => {
  it('wakes a supervisor that has been stopped for a second', () => {
    const { world, pass } = newWatch({ stopped: true });
    pass(900);
    expect(world.woken).toBe(0);
    pass(100);
    expect([world.woken, world.said]).toEqual([1, 1]);
  });

  it.each([
    ['is busy', { stopped: false }],
    ['is gone', undefined],
  ])('leaves a silent supervisor alone that %s', (_name, kernel) => {
    const { world, pass } = newWatch(kernel);
    pass(5_000);
    expect(world.woken).toBe(0);
  });

  it('believes nothing that it saw before it stood still itself', () => {
    const { world, look } = newWatch({ stopped: true });
    world.nowMs += 30_000;
    look();
    expect(world.woken).toBe(0);
  });
});

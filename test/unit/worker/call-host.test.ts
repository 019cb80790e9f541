/** The calls of one worker: slots, turns, and keeping them apart. */
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { newWorld } from './one-call.ts';

describe('the call host', () => {
  it('gives out the lowest free slot, and none when all are in use', () => {
    const world = newWorld();
    const calls = [0, 1, 2, 3].map(() => world.newCall());
    expect(calls.map(({ slot }) => slot)).toEqual([0, 1, 2, 3]);
    expect(world.host.freeSlot()).toBeUndefined();
    calls[1]!.enter(() => calls[1]!.runner.ended('closed'));
    expect(world.host.freeSlot()).toBe(1);
    expect(world.boxes.slotsInUse(0)).toBe(4);
    calls[3]!.enter(() => calls[3]!.runner.ended('closed'));
    expect(world.boxes.slotsInUse(0)).toBe(3);
    calls[2]!.enter(() => calls[2]!.runner.ended('closed'));
    expect([world.boxes.slotsInUse(0), world.boxes.workerStatus(0).calls]).toEqual([1, 1]);
  });

  it('takes no second call into a slot, and forgets one that is gone only once', () => {
    const world = newWorld();
    const call = world.newCall();
    expect(() => world.host.add(call.runner, call.slot)).toThrow('the slot is free');
    world.host.remove(call.slot);
    world.host.remove(call.slot);
    expect([world.host.count, world.emptied()]).toEqual([0, 1]);
  });

  it('rests without calls and wakes with the next one', () => {
    const world = newWorld();
    expect(world.clock.pending).toBe(0);
    const call = world.newCall();
    expect(world.clock.pending).toBe(1);
    call.enter(() => call.runner.ended('closed'));
    expect(world.clock.pending).toBe(0);
    const next = world.newCall();
    next.say(1, 100);
    world.clock.advance(200);
    expect(next.transport.frames).toHaveLength(5);
  });

  it('ends a call that throws in its turn and gives all others theirs', () => {
    const world = newWorld();
    const calls = [0, 1, 2].map(() => world.newCall());
    calls[1]!.trap.place = 'tick';
    for (const call of calls) call.say(1, 1_000);
    world.clock.advance(2_000);
    expect(calls.map(({ overs }) => overs())).toEqual([0, 1, 0]);
    expect(calls.map(({ transport }) => transport.frames.length)).toEqual([50, 2, 50]);
    expect(world.host.count).toBe(2);
  });

  it.each([
    [0, 500],
    [1, 200],
  ])('shows its heartbeat with %i calls, and no lateness when ticks come in time', (count, withinMs) => {
    const world = newWorld();
    if (count > 0) world.newCall();
    world.host.keepBeating();
    world.clock.advance(9_999);
    const { heartbeatMs, worstLatenessUs, calls } = world.boxes.workerStatus(0);
    expect(9_999 - heartbeatMs).toBeLessThanOrEqual(withinMs);
    expect([worstLatenessUs, calls]).toEqual([0, count]);
  });

  it('looks for results at the ring of the bell, and asks for the next one before', async () => {
    const world = newWorld();
    const call = world.newCall();
    const bell = new PassThrough();
    world.host.listenTo(bell);
    expect(world.boxes.takeSleeping(0)).toBe(true);
    call.say(1, 3_000);
    for (let i = 0; i < 8; i += 1) {
      call.enter(() => call.runner.audio(new Uint8Array(1_024)));
    }
    world.inference.beat(world.clock.now());
    world.inference.judge(call.slot, () => 0.99);
    expect(call.transport.told).not.toContain('clear 2');
    const rung = new Promise((resolve) => bell.once('data', resolve));
    bell.write(Uint8Array.of(1));
    await rung;
    expect(call.transport.told).toContain('clear 2');
    expect(world.boxes.takeSleeping(0)).toBe(true);
  });
});

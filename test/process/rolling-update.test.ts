/**
 * A rolling update as Kubernetes does it with the chart's settings, with real services as pods behind a small balancer: one new pod more,
 * the old one out of rotation, SIGTERM. No new call is refused, and no call is cut before its drain is over.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../shared/runtime/clock.ts';
import { CallClient, type CallerEvent } from '../../cli/commands/call/caller.ts';
import { Balancer } from '../support/process/balancer.ts';
import { TestService } from '../support/process/service.ts';

const greeting = 'Hello there.';
const pods = 2;

/** A call that counts what ended it, and hears. */
interface LongCall {
  readonly call: CallClient;
  readonly ends: CallerEvent[];
}

describe('a rolling update', () => {
  let balancer: Balancer;
  let fleet: TestService[] = [];
  let started: TestService[] = [];

  const startPod = async (drain = '30s'): Promise<TestService> => {
    const pod = await TestService.start({ greeting, env: { SVC_DRAIN_TIMEOUT: drain } });
    started.push(pod);
    return pod;
  };

  const dial = (onEvent?: (event: CallerEvent) => void): Promise<CallClient> =>
    CallClient.connect(
      { url: balancer.url, clock: systemClock, sampleRate: 16_000, encoding: 'pcm16' },
      onEvent,
    );

  async function greeted(): Promise<LongCall> {
    const ends: CallerEvent[] = [];
    const call = await dial((event) => {
      if (['stop', 'closed', 'fault', 'error'].includes(event.type)) ends.push(event);
    });
    const heard = await call.next(({ type }) => type === 'mark-played');
    if (heard === undefined) throw new Error('the call ended before its greeting');
    return { call, ends };
  }

  /** The old pod leaves the rotation before it gets SIGTERM: what `preStop` is for. */
  async function replace(old: TestService): Promise<void> {
    const next = await startPod();
    balancer.add(next.port);
    balancer.remove(old.port);
    old.signal('SIGTERM');
    await old.says('draining');
    fleet = [...fleet.filter((one) => one !== old), next];
  }

  beforeEach(async () => {
    started = [];
    balancer = await Balancer.start();
    fleet = await Promise.all(Array.from({ length: pods }, () => startPod()));
    for (const pod of fleet) balancer.add(pod.port);
  });

  afterEach(async () => {
    balancer.close();
    await Promise.all(started.map((pod) => pod.stop()));
  });

  it('refuses no new call and cuts none that runs', async () => {
    const running = [await greeted(), await greeted(), await greeted(), await greeted()];
    const old = fleet;
    for (const pod of old) expect((await pod.readiness())['sessions']).toBe(2);

    let more = true;
    const callOn = async (): Promise<number> => {
      let calls = 0;
      while (more) {
        const { call } = await greeted();
        await call.hangUp();
        calls += 1;
      }
      return calls;
    };
    const callers = [callOn(), callOn()];
    for (const pod of old) await replace(pod);
    more = false;
    const served = await Promise.all(callers);
    expect(served.every((calls) => calls > 0)).toBe(true);

    // Both old pods drain now, and their calls have noticed nothing.
    expect(old.map((pod) => pod.isOver)).toEqual([false, false]);
    expect(running.flatMap(({ ends }) => ends)).toEqual([]);
    for (const { call } of running) expect((await call.hangUp()).code).toBe(1000);
    for (const pod of old) expect(await pod.ended).toEqual({ code: 0, signal: null });
    expect((await greeted()).ends).toEqual([]);
  });

  it('tells a call that outlasts the drain, and ends it in good order', async () => {
    const pod = await startPod('1s');
    for (const one of fleet) balancer.remove(one.port);
    balancer.add(pod.port);
    const { call, ends } = await greeted();
    pod.signal('SIGTERM');
    await call.next(({ type }) => type === 'closed');
    expect(ends.map(({ type }) => type)).toEqual(['stop', 'closed']);
    expect(ends[0]).toMatchObject({ reason: 'shutdown' });
    expect(await pod.ended).toEqual({ code: 0, signal: null });
  });

  it('would refuse calls if pods got SIGTERM while in rotation', async () => {
    const [first] = fleet;
    if (first === undefined) throw new Error('There is no pod.');
    const held = [await greeted(), await greeted()];
    first.signal('SIGTERM');
    await first.says('draining');
    const tries = await Promise.allSettled([dial(), dial()]);
    expect(tries.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    for (const one of tries) if (one.status === 'fulfilled') await one.value.hangUp();
    for (const { call } of held) await call.hangUp();
  });
});

/** What hosts share through a real server: leases of addresses, offers, and questions from host to host. Skips without redis-server. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseRedisUrl } from '../../../shared/net/redis-url.ts';
import { systemClock, systemWallClock } from '../../../shared/runtime/clock.ts';
import { Hosts } from '../../../supervisor/fleet/hosts.ts';
import { RedisLine } from '../../../supervisor/fleet/redis-line.ts';
import { SharedAddresses } from '../../../supervisor/fleet/shared-addresses.ts';
import { hasRedis, TestRedis } from '../../support/process/redis.ts';
import { newVirtualClock, type VirtualClock } from '../../support/core/virtual-clock.ts';

const leaseMs = 300;
const given = { wallClock: systemWallClock, log: { warn: () => undefined } };

describe.skipIf(!hasRedis)('hosts of a fleet (skipped without redis-server)', () => {
  let redis: TestRedis;
  const lines: RedisLine[] = [];
  let names = 0;

  beforeAll(async () => {
    redis = await TestRedis.start('canary-password');
  });
  afterEach(() => {
    for (const line of lines.splice(0)) line.close();
  });
  afterAll(() => redis.stop());

  async function newLine(): Promise<RedisLine> {
    const target = parseRedisUrl(redis.url);
    if (!target.ok) throw new Error(target.error);
    const line = new RedisLine(target.value, { clock: systemClock });
    lines.push(line);
    while (!line.isReady) await pause(2);
    return line;
  }

  interface Host {
    readonly addresses: SharedAddresses;
    /** Of its renewals. */
    readonly clock: VirtualClock;
  }
  async function newHost(): Promise<Host> {
    const clock = newVirtualClock();
    names += 1;
    const line = await newLine();
    return {
      addresses: new SharedAddresses({ ...given, line, clock, leaseMs, host: `host-${names}` }),
      clock,
    };
  }
  const isFull = async (host: Host, address: string): Promise<boolean> =>
    (await host.addresses.take('any', address, 1)) === undefined;

  it('places of a host that died are free when their lease is over; those of one that renews them are not', async () => {
    const [dead, alive, other] = [await newHost(), await newHost(), await newHost()];
    expect(await dead.addresses.take('any', '192.0.2.1', 1)).toBeDefined();
    expect(await alive.addresses.take('any', '192.0.2.2', 1)).toBeDefined();
    expect([await isFull(other, '192.0.2.1'), await isFull(other, '192.0.2.2')]).toEqual([true, true]);
    while (await isFull(other, '192.0.2.1')) {
      alive.clock.advance(leaseMs / 3);
      await pause(leaseMs / 10);
    }
    expect(await isFull(other, '192.0.2.2')).toBe(true);
  });

  it('a place is given back once, and kinds of limits are apart', async () => {
    const [one, other] = [await newHost(), await newHost()];
    const leave = await one.addresses.take('webrtc', '192.0.2.3', 1);
    expect(await other.addresses.take('any', '192.0.2.3', 1)).toBeDefined();
    leave?.();
    leave?.();
    while ((await other.addresses.take('webrtc', '192.0.2.3', 1)) === undefined);
    expect(await one.addresses.take('webrtc', '192.0.2.3', 1)).toBeUndefined();
  });

  it('offers of an address are counted together', async () => {
    const [one, other] = [await newHost(), await newHost()];
    const waits: number[] = [];
    for (const host of [one, other, one, other]) waits.push(await host.addresses.offer('192.0.2.4', 3));
    expect(waits.slice(0, 3)).toEqual([0, 0, 0]);
    expect(waits[3]).toBeGreaterThan(18);
    expect(waits[3]).toBeLessThanOrEqual(20);
    expect(await one.addresses.offer('192.0.2.5', 3)).toBe(0);
  });

  describe('questions', () => {
    let hosts: readonly Hosts[] = [];
    beforeEach(async () => {
      hosts = [];
      for (let count = 0; count < 3; count += 1) {
        const host = new Hosts({ ...given, line: await newLine(), clock: systemClock });
        host.answerWith(
          (question) => (question === 'silence' ? new Promise(() => undefined) : { count, question }),
          { full: () => undefined },
        );
        hosts = [...hosts, host];
      }
      // Everybody listens, and nobody of the test before, once two are heard.
      while ((await hosts[0]!.askOthers('?')).length !== 2) await pause(2);
    });

    it('are answered by the host that has the thing, and by nobody where none has it', async () => {
      const [one, two] = [hosts[0]!, hosts[1]!];
      expect(await one.owner('call:1')).toBe('nobody');
      two.claim('call:1');
      while ((await one.owner('call:1')) === 'nobody');
      expect([await one.owner('call:1'), await two.owner('call:1')]).toEqual([{ host: two.id }, 'here']);
      expect(await one.ask(two.id, 'who')).toEqual({ value: { count: 1, question: 'who' } });
      expect(await one.moveHere('call:1')).toEqual({ host: two.id });
      expect(await two.owner('call:1')).toEqual({ host: one.id });
      expect(await two.moveHere('call:2')).toBe('nobody');
      expect([await one.claimOnce('key'), await two.claimOnce('key')]).toEqual(['here', { host: one.id }]);
    });

    it('reach all others, and those who answer in time are heard', async () => {
      const answers = await hosts[1]!.askOthers('all');
      expect(answers).toHaveLength(2);
      expect(answers).toEqual(expect.arrayContaining([0, 2].map((count) => ({ count, question: 'all' }))));
      expect(await hosts[1]!.ask('nobody-of-this-name', 'who')).toBeUndefined();
    });

    it('have an end where a host is silent', async () => {
      expect(await hosts[0]!.ask(hosts[1]!.id, 'silence')).toBeUndefined();
    });

    it('are none while the store is gone', async () => {
      const line = lines.at(-1)!;
      line.close();
      expect(await hosts[2]!.owner('call:1')).toBe('unknown');
      expect(await hosts[2]!.ask(hosts[0]!.id, 'who')).toBeUndefined();
    });
  });
});

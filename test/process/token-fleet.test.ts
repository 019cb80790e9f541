/**
 * Two whole services that share a Redis: a session token opens one call between them (docs/tokens.md, Single use),
 * and without the Redis none at all. Skips where there is no redis-server.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemWallClock } from '../../shared/runtime/clock.ts';
import { craft, secret } from '../spec/tokens/craft.ts';
import { knock, refusalOf, type KnockAnswer } from '../support/process/knock.ts';
import { hasRedis, TestRedis } from '../support/process/redis.ts';
import { beforeAskingAgain, TestService } from '../support/process/service.ts';

const password = 'canary-password';
const storeWarning = 'the token store gives no answer; session tokens are refused';
const presentations = 1_000;

describe.skipIf(!hasRedis)('two supervisors with one Redis (skipped without redis-server)', () => {
  let redis: TestRedis;
  let fleet: readonly TestService[] = [];
  const open: KnockAnswer[] = [];

  beforeEach(async () => {
    redis = await TestRedis.start(password);
    const env = {
      SVC_SESSION_SECRET: secret,
      SVC_TOKEN_STORE_URL: redis.url,
      // Every presentation gets a slot, so that nothing but the store decides.
      SVC_MAX_SESSIONS: '2000',
      SVC_WS_ACCEPT_QUEUE: '4000',
    };
    fleet = await Promise.all([TestService.start({ env }), TestService.start({ env })]);
    for (const service of fleet) await presentUntil(service, 101);
    await allOver();
  });

  afterEach(async () => {
    for (const { socket } of open.splice(0)) socket.destroy();
    await Promise.all(fleet.map((service) => service.stop()));
    await redis.stop();
  });

  let last = 0;
  const fresh = (): string =>
    craft({ exp: Math.floor(systemWallClock.now() / 1000) + 300, sid: `sid-${(last += 1)}` });

  async function present(service: TestService, token: string): Promise<KnockAnswer> {
    const answer = await knock(service.port, { headers: { Authorization: `Bearer ${token}` } });
    open.push(answer);
    return answer;
  }

  /** Presents a fresh token again and again until the answer is this one; the limit is that of the test. */
  async function presentUntil(service: TestService, status: number): Promise<void> {
    while ((await present(service, fresh())).status !== status) await beforeAskingAgain();
  }

  /** Ends all calls; resolves when every slot is free. */
  async function allOver(): Promise<void> {
    for (const { socket } of open.splice(0)) socket.destroy();
    for (const service of fleet) await service.readyWhen((body) => body['connections'] === 0);
  }

  const at = (index: number): TestService => fleet[index % fleet.length]!;
  const outcome = (answer: KnockAnswer): unknown => (answer.status === 101 ? 'call' : refusalOf(answer)[1]);

  it('accept a token once between them', async () => {
    const token = fresh();
    expect(outcome(await present(at(0), token))).toBe('call');
    expect(outcome(await present(at(1), token))).toBe('token_reused');
    expect(outcome(await present(at(0), token))).toBe('token_reused');
  });

  it('accept one of 1,000 simultaneous presentations of a token', async () => {
    const token = fresh();
    const answers = await Promise.all(
      Array.from({ length: presentations }, (_, index) => present(at(index), token)),
    );
    const outcomes = answers.map(outcome);
    expect(outcomes.filter((what) => what === 'call')).toHaveLength(1);
    expect(outcomes.filter((what) => what === 'token_reused')).toHaveLength(presentations - 1);
    // The refused ones gave their slots back.
    const held = await Promise.all(fleet.map(async (service) => (await service.readiness())['connections']));
    expect(held.toSorted()).toEqual([0, 1]);
  });

  it('accept each of 250 tokens once when both get all of them twice at the same time', async () => {
    const rounds = await Promise.all(
      Array.from({ length: presentations / 4 }, async () => {
        const token = fresh();
        const answers = await Promise.all([0, 1, 0, 1].map((index) => present(at(index), token)));
        return answers.map(outcome).toSorted().join();
      }),
    );
    expect(new Set(rounds)).toEqual(new Set(['call,token_reused,token_reused,token_reused']));
  });

  it('with the Redis gone refuse with 503 and say why once; calls go on; with it back all is well again', async () => {
    const service = at(0);
    const running = await service.call({ token: fresh() });
    await redis.stop();
    await presentUntil(service, 503);
    const token = fresh();
    for (let count = 0; count < 25; count += 1)
      expect(refusalOf(await present(service, token))).toEqual([503, 'token_store_unavailable', '5']);
    const warnings = service.log.filter(({ msg }) => msg === storeWarning);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({ level: 40, reason: expect.stringMatching(/^[\w ]+$/) as string });
    expect(await service.readiness()).toMatchObject({ sessions: 1 });
    expect(await running.next((event) => event.type === 'frame-sent')).toBeDefined();
    await redis.restart();
    await presentUntil(service, 101);
    // It was refused because nobody could tell, so it was never used.
    expect(outcome(await present(service, token))).toBe('call');
    await presentUntil(at(1), 101);
    expect(outcome(await present(at(1), token))).toBe('token_reused');
    expect(await running.hangUp()).toEqual({ code: 1000, reason: 'ended' });
    expect(await service.metric('svc_tokens_total{outcome="store_unavailable"}')).toBeGreaterThanOrEqual(25);
    await allOver();
    for (const { log, text } of fleet) expect(JSON.stringify([log, text])).not.toContain(password);
  });
});

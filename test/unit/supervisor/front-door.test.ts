/** The front door: tokens of calls that never had room, offers for calls that run, and bounds that metrics tell of. */
import { describe, expect, it } from 'vitest';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { newSupervisorMetrics } from '../../../shared/runtime/metrics.ts';
import { Admission } from '../../../supervisor/admission/admission.ts';
import { CallLedger } from '../../../supervisor/admission/call-ledger.ts';
import { TokenLedger } from '../../../supervisor/admission/token-ledger.ts';
import { TokenStore } from '../../../supervisor/admission/token-store.ts';
import type { SharedAddresses } from '../../../supervisor/fleet/shared-addresses.ts';
import { callIngresses } from '../../../supervisor/listeners/all.ts';
import { FrontDoor, type Decision } from '../../../supervisor/listeners/front-door.ts';
import { craft, secret } from '../../spec/tokens/craft.ts';

const nowS = 1_800_000_000;

function newWorld(env: Record<string, string> = {}, addresses?: SharedAddresses) {
  const given = { SVC_AGENT_FILE: 'agent.toml', SVC_WS_ADDR: '127.0.0.1:0', SVC_WEBRTC_ADDR: '127.0.0.1:0' };
  const parsed = parseServerSettings({ ...given, ...env }, { cores: 2 });
  if (!parsed.ok) throw new Error('the settings are not valid');
  const { settings } = parsed.value;
  const wallClock = { now: () => nowS * 1000 };
  const ledger = new TokenLedger({ maxIds: 3 });
  const admission = new Admission({ maxSessions: 50, acceptQueue: 5 });
  const metrics = newSupervisorMetrics();
  const facts = {
    ...{ draining: false, sessions: 0, readyWorkers: 1, inferenceBehind: false },
    ...{ workersLate: false, inHandOver: 0 },
  };
  const door = new FrontDoor({
    ...{ settings, ingresses: callIngresses(settings), wallClock, metrics, admission, addresses },
    log: { warn: () => undefined },
    callLedger: new CallLedger({
      ...{ clock: systemClock, admission, providerLimits: new Map(), providers: () => [] },
      ...{ maxCallsPerAddress: 0, released: () => undefined, carriedChanged: () => undefined },
    }),
    facts: () => facts,
    tokenLedger: ledger,
    tokenStore: new TokenStore({ ledger, wallClock, log: { warn: () => undefined } }),
  });
  const arrival = (listener: string, headers: Record<string, string> = {}, peer = '192.0.2.1') => ({
    ...{ listener, method: 'GET', peer, head: { url: '/', headers: { host: '127.0.0.1', ...headers } } },
  });
  const come = (token: string): Promise<Decision> =>
    door.decide(arrival('websocket', { authorization: `Bearer ${token}` }));
  const count = async (name: string, label: string): Promise<number | undefined> =>
    (await metrics.registry.getSingleMetric(name)?.get())?.values.find(({ labels }) =>
      Object.values(labels).includes(label),
    )?.value;
  return { door, come, arrival, count };
}

const token = (sid: string): string => craft({ aud: 'svc-ws', exp: nowS + 60, sid });
const outcome = (decision: Decision): string =>
  decision.kind === 'refused' ? decision.answer.code : decision.kind;
const leave = (decision: Decision, isUnused: boolean): void => {
  if (decision.kind === 'admitted') decision.release({ isUnused });
};

describe('a session token', () => {
  const env = { SVC_SESSION_SECRET: secret };

  it('of a call that never had room opens another one, and that one is its last', async () => {
    const { come, count } = newWorld(env);
    const first = await come(token('a'));
    expect([outcome(first), outcome(await come(token('a')))]).toEqual(['admitted', 'token_reused']);
    leave(first, true);
    const second = await come(token('a'));
    expect(outcome(second)).toBe('admitted');
    // A second word about the first one concerns that one alone.
    leave(first, true);
    expect(outcome(await come(token('a')))).toBe('token_reused');
    leave(second, false);
    leave(second, true);
    expect(outcome(await come(token('a')))).toBe('token_reused');
    expect(await count('svc_tokens_total', 'given_back')).toBe(1);
  });

  it('that finds no room among those that are remembered is counted', async () => {
    const { come, count } = newWorld(env);
    for (const sid of ['a', 'b', 'c']) await come(token(sid));
    expect(await count('svc_limits_reached_total', 'token_set')).toBe(0);
    expect(outcome(await come(token('d')))).toBe('token_set_full');
    expect(await count('svc_limits_reached_total', 'token_set')).toBe(1);
  });
});

describe('an offer for a call that runs', () => {
  const env = { SVC_WEBRTC_OFFERS_PER_MINUTE: '3' };

  it('counts as one for a new call does, for each address', async () => {
    const { door, arrival, count } = newWorld(env);
    const offer = async (peer?: string): Promise<string> => {
      const answer = await door.offered(arrival('webrtc', {}, peer));
      return answer === undefined ? 'counted' : `${answer.status} ${answer.retryAfterS}`;
    };
    expect(outcome(await door.decide(arrival('webrtc')))).toBe('admitted');
    expect([await offer(), await offer(), await offer()]).toEqual(['counted', 'counted', '429 20']);
    expect(outcome(await door.decide(arrival('webrtc')))).toBe('too_many_offers');
    expect(await offer('192.0.2.2')).toBe('counted');
    expect(await count('svc_refusals_total', 'too_many_offers')).toBe(2);
  });

  it('counts for all hosts together', async () => {
    const asked: unknown[] = [];
    const addresses = {
      offer: (...one: unknown[]) => Promise.resolve(asked.push(one) > 1 ? 7 : 0),
      take: () => Promise.resolve(() => undefined),
    } as unknown as SharedAddresses;
    const { door, arrival } = newWorld(env, addresses);
    expect(await door.offered(arrival('webrtc'))).toBeUndefined();
    expect(await door.offered(arrival('webrtc'))).toMatchObject({ status: 429, retryAfterS: 7 });
    expect(asked).toEqual([
      ['192.0.2.1', 3],
      ['192.0.2.1', 3],
    ]);
  });

  it('is counted by metrics where it is not by its address, for too many of those', async () => {
    const { door, arrival, count } = newWorld(env);
    for (let i = 0; i < 8_192 + 5; i += 1)
      await door.offered(arrival('webrtc', {}, `10.0.${i >> 8}.${i & 255}`));
    expect(await count('svc_limits_reached_total', 'rate_table')).toBe(5);
  });
});

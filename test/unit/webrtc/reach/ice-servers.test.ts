/** Credentials for relays: made with the secret of an own server, fetched from a provider, kept for a minute and no longer than half their life. */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { TurnProvider } from '../../../../shared/config/server/reach/turn-variables.ts';
import { Sensitive } from '../../../../shared/config/sensitive.ts';
import { turnServersOf } from '../../../../shared/webrtc/turn-url.ts';
import { IceServers } from '../../../../supervisor/webrtc/relays/ice-servers.ts';
import { newVirtualClock } from '../../../support/core/virtual-clock.ts';

const secret = new Sensitive('north-star-secret');
const own: TurnProvider = { name: 'self_hosted_turn', urls: ['turn:turn.example.com:3478'], secret };
const cdn: TurnProvider = {
  ...{ name: 'cdn_turn', apiUrl: 'https://cdn.example', keyId: 'k1' },
  apiToken: new Sensitive('canary-token'),
};
const carrier: TurnProvider = {
  ...{ name: 'carrier_a_turn', apiUrl: 'https://carrier.example', accountSid: 'AC1', user: 'SK1' },
  password: new Sensitive('canary-password'),
};

function newWorld(provider: TurnProvider, answers: readonly (Response | Error)[] = [], ttlS = 600) {
  const clock = newVirtualClock();
  const asked: { url: string; init: RequestInit }[] = [];
  const failures: string[] = [];
  const left = [...answers];
  const servers = new IceServers({
    settings: { provider, ttlS, relay: 'off', relayTimeoutMs: 3_000, isLogged: false },
    clock,
    wallClock: { now: () => 1_893_455_400_000 },
    newId: () => 'call-1',
    fetch: (url, init = {}) => {
      asked.push({ url: url instanceof Request ? url.url : url.toString(), init });
      const next = left.shift() ?? new Error('no answer is left');
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    failed: (reason) => failures.push(reason),
  });
  return { clock, asked, failures, servers };
}

const cdnAnswer = (body?: unknown): Response =>
  Response.json(
    body ?? {
      iceServers: [
        { urls: ['stun:stun.example:3478', 'stun:stun.example:53'] },
        {
          urls: ['turn:turn.example:3478?transport=udp', 'turn:turn.example:53?transport=udp'],
          ...{ username: 'u', credential: 'c', expires: 'later' },
        },
      ],
    },
    { status: 201 },
  );

describe('self_hosted_turn', () => {
  it('signs the time of expiry with the secret, which nobody gets', async () => {
    const [given] = await newWorld(own).servers.forClient();
    expect(given).toEqual({
      urls: ['turn:turn.example.com:3478'],
      username: '1893456000:call-1',
      credential: 'c/ngh1c0MZhU5OkZOlm3aWUsqRo=',
    });
    expect(createHmac('sha1', 'north-star-secret').update('1893456000').digest('base64')).toBe(
      'u83dKmihjT7WUcltFeD69teTIUo=',
    );
  });

  it('gives the service credentials that outlast any call', async () => {
    const [given] = await newWorld(own).servers.forService();
    expect(given?.username).toBe(`${1_893_455_400 + 86_400}:call-1`);
  });
});

describe('cdn_turn', () => {
  it('asks with the token and the lifetime, and gives browsers what they take', async () => {
    const { servers, asked } = newWorld(cdn, [cdnAnswer()]);
    expect(await servers.forClient()).toEqual([
      { urls: ['stun:stun.example:3478'] },
      { urls: ['turn:turn.example:3478?transport=udp'], username: 'u', credential: 'c' },
    ]);
    expect(asked[0]?.url).toBe('https://cdn.example/v1/turn/keys/k1/credentials/generate-ice-servers');
    expect(asked[0]?.init).toMatchObject({ method: 'POST', body: '{"ttl":600}' });
    expect(new Headers(asked[0]?.init.headers).get('authorization')).toBe('Bearer canary-token');
  });

  it('takes the answer of the earlier endpoint', async () => {
    const one = { urls: 'turn:turn.example:3478', username: 'u', credential: 'c' };
    const { servers } = newWorld(cdn, [cdnAnswer({ iceServers: one })]);
    expect(turnServersOf(await servers.forClient())).toEqual([
      { transport: 'udp', host: 'turn.example', port: 3_478, username: 'u', credential: 'c' },
    ]);
  });

  it('is asked once a minute, and once for many at the same time', async () => {
    const { servers, asked, clock } = newWorld(cdn, [cdnAnswer(), cdnAnswer()]);
    await Promise.all([servers.forClient(), servers.forClient()]);
    clock.advance(59_999);
    await servers.forClient();
    expect(asked).toHaveLength(1);
    clock.advance(1);
    await servers.forClient();
    expect(asked).toHaveLength(2);
  });

  it('is asked again after half of a short lifetime', async () => {
    const { servers, asked, clock } = newWorld(cdn, [cdnAnswer(), cdnAnswer()], 30);
    await servers.forClient();
    clock.advance(14_999);
    await servers.forClient();
    expect(asked).toHaveLength(1);
    clock.advance(1);
    await servers.forClient();
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['cannot be reached', new Error('canary'), 'it is not reached'],
    ['refuses', new Response('canary', { status: 403 }), 'it answered with 403'],
    ['says something else', cdnAnswer({ servers: 'canary' }), 'the answer is of another form'],
    ['answers no JSON', new Response('<canary>', { status: 200 }), 'the answer cannot be read'],
    ['answers without end', new Response('x'.repeat(100_000), { status: 200 }), 'the answer cannot be read'],
    [
      'would break a header',
      cdnAnswer({ iceServers: [{ urls: 'turn:a', username: 'a"b', credential: 'c' }] }),
      'the answer is of another form',
    ],
  ])('that %s leaves clients without relays, and is asked again soon', async (_, answer, reason) => {
    const { servers, asked, failures, clock } = newWorld(cdn, [answer, cdnAnswer()]);
    expect(await servers.forClient()).toEqual([]);
    expect(await servers.forClient()).toEqual([]);
    expect([asked.length, failures]).toEqual([1, [reason]]);
    clock.advance(2_000);
    expect(await servers.forClient()).toHaveLength(2);
  });
});

describe('carrier_a_turn', () => {
  it('asks as the account’s key, and gives browsers what they take', async () => {
    const answer = Response.json(
      {
        ...{ username: 'u', password: 'p', ttl: '600' },
        ice_servers: [
          { url: 'stun:s.example:3478', urls: 'stun:s.example:3478' },
          {
            url: 'turn:t.example:443',
            urls: 'turn:t.example:443?transport=tcp',
            username: 'u',
            credential: 'p',
          },
        ],
      },
      { status: 201 },
    );
    const { servers, asked } = newWorld(carrier, [answer]);
    expect(await servers.forClient()).toEqual([
      { urls: ['stun:s.example:3478'] },
      { urls: ['turn:t.example:443?transport=tcp'], username: 'u', credential: 'p' },
    ]);
    expect(asked[0]?.url).toBe('https://carrier.example/2010-04-01/Accounts/AC1/Tokens.json');
    const signed = Buffer.from('SK1:canary-password').toString('base64');
    expect(new Headers(asked[0]?.init.headers).get('authorization')).toBe(`Basic ${signed}`);
    expect(asked[0]?.init.body).toBe('Ttl=600');
  });
});

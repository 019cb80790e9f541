/** Each row of docs/webrtc.md, A call and Limits, that the calls themselves do not show. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { TestService } from '../../support/process/service.ts';
import { stopAll } from '../../support/process/succession.ts';
import { rawOffer } from '../../support/webrtc/raw-offer.ts';
import { WeriftCaller } from '../../support/webrtc/werift-caller.ts';
import { craft, secret } from '../tokens/craft.ts';

let service: TestService;
const whip = (): string => `http://${service.address('webrtc')}/whip`;
let sid = 0;

/** A token of now, with other claims than it needs where they are given. */
const token = (claims: Record<string, unknown> = {}): string =>
  craft({
    ...{ aud: 'svc-webrtc', exp: Math.floor(Date.now() / 1000) + 60, sid: `call-${(sid += 1)}` },
    ...claims,
  });
const bearer = (given: string) => ({ Authorization: `Bearer ${given}` });

function post(headers: Record<string, string> = {}, body = rawOffer): Promise<Response> {
  return fetch(whip(), { method: 'POST', headers: { 'Content-Type': 'application/sdp', ...headers }, body });
}

/** What was refused, as status and code, with a Retry-After where there is one. */
async function refusal(response: Response): Promise<string> {
  const { code } = (await response.json()) as { code: string };
  const retry = response.headers.has('retry-after') ? ' later' : '';
  return `${response.status} ${code}${retry}`;
}

describe('WebRTC signaling with session tokens', () => {
  beforeAll(async () => {
    service = await TestService.start({
      env: {
        ...{ SVC_WEBRTC_ADDR: '127.0.0.1:0', SVC_SESSION_SECRET: secret },
        ...{ SVC_WEBRTC_OFFERS_PER_MINUTE: 'off', SVC_WEBRTC_MAX_CALLS_PER_IP: '100' },
      },
    });
  });

  afterAll(() => stopAll(service));

  it('POST /whip: 201 with an answer, 128 random bits in the session URL, and no caching', async () => {
    const answers = await Promise.all([1, 2].map(() => post(bearer(token()))));
    const urls = answers.map(({ headers }) => headers.get('location') ?? '');
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(new Set(urls).size).toBe(2);
    for (const { headers } of answers) {
      expect(headers.get('content-type')).toBe('application/sdp');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('etag')).toMatch(/^"\w+"$/);
    }
    for (const url of urls) expect(url).toMatch(/^\/whip\/sessions\/[\da-f]{32}$/);
  });

  it('DELETE: the URL alone is enough once session tokens are in use, and once', async () => {
    const url = new URL((await post(bearer(token()))).headers.get('location') ?? '', whip());
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(200);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(404);
    expect((await fetch(`${whip()}/sessions/${'0'.repeat(32)}`, { method: 'DELETE' })).status).toBe(404);
  });

  it('GET /whip/ice: an object with an empty array where there are no relays, and no caching', async () => {
    const response = await fetch(`${whip()}/ice`);
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await response.json()).toEqual({ iceServers: [] });
  });

  it.each([
    ['a missing token', () => ({}), 401],
    ['a token of another audience', () => bearer(token({ aud: 'svc-ws' })), 403],
    ['an expired token', () => bearer(token({ exp: Math.floor(Date.now() / 1000) - 60 })), 403],
    [
      'a token that lasts too long',
      () => bearer(token({ exp: Math.floor(Date.now() / 1000) + 90_000 })),
      401,
    ],
    ['a token over 4 KiB', () => bearer('v1.'.padEnd(4_200, 'x')), 413],
    ['a page of another origin', () => ({ ...bearer(token()), Origin: 'https://elsewhere.example' }), 403],
  ])('refuses %s', async (_name, headers, status) => {
    const response = await post(headers());
    expect([response.status, response.headers.get('cache-control')]).toEqual([status, 'no-store']);
  });

  it('judges credentials before origins', async () => {
    const wrong = { ...bearer(token({ aud: 'svc-ws' })), Origin: 'https://elsewhere.example' };
    expect(await refusal(await post(wrong))).not.toContain('origin');
  });

  it('a token opens one call', async () => {
    const once = bearer(token());
    expect([(await post(once)).status, (await post(once)).status]).toEqual([201, 403]);
  });

  it('max_s: a WebRTC call is hung up, and a fallback call ends with stop{ended}', async () => {
    const caller = new WeriftCaller({ talks: true });
    expect((await caller.call(whip(), { headers: bearer(token({ max_s: 3 })) })).status).toBe(201);
    await caller.tell({ type: 'start', version: 1, sample_rate: 24_000 });
    await caller.until(() => caller.messages.some(({ type }) => type === 'stop'));
    expect(caller.messages.at(-1)).toEqual({ type: 'stop', reason: 'ended' });
    await caller.close();

    const socket = new WebSocket(whip().replace('http', 'ws').replace('/whip', '/ws'), {
      headers: bearer(token({ max_s: 3 })),
    });
    const last = new Promise<unknown>((resolve) => {
      socket.on('open', () => socket.send('{"type":"start","version":1,"sample_rate":16000}'));
      socket.on('message', (data: Buffer, isBinary) => {
        const message = isBinary ? {} : (JSON.parse(data.toString()) as Record<string, unknown>);
        if (message['type'] === 'stop') resolve(message);
      });
    });
    expect(await last).toEqual({ type: 'stop', reason: 'ended' });
    socket.close();
  });

  it('the WebSocket fallback takes tokens of the signaling port alone, at its path alone', async () => {
    const at = (path: string, given: string) =>
      new Promise<number>((resolve) => {
        const socket = new WebSocket(`${whip().replace('http', 'ws').replace('/whip', path)}?token=${given}`);
        socket.on('open', () => {
          resolve(101);
          socket.close();
        });
        socket.on('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode));
        socket.on('error', () => undefined);
      });
    expect([
      ...[await at('/ws', token()), await at('/ws', token({ aud: 'svc-ws' })), await at('/other', token())],
    ]).toEqual([101, 403, 404]);
  });
});

describe('the limits of WebRTC signaling', () => {
  const from = (address: string) => ({ 'X-Forwarded-For': address });

  async function start(env: Record<string, string>): Promise<void> {
    service = await TestService.start({
      env: { SVC_WEBRTC_ADDR: '127.0.0.1:0', SVC_TRUSTED_PROXIES: '127.0.0.1/32', ...env },
    });
  }

  afterEach(() => stopAll(service));

  it('IPv6 clients are counted by their /64', async () => {
    await start({ SVC_WEBRTC_OFFERS_PER_MINUTE: '1' });
    expect((await post(from('2001:db8::1'))).status).toBe(201);
    expect((await post(from('2001:db8::2'))).status).toBe(429);
    expect((await post(from('2001:db8:0:1::1'))).status).toBe(201);
  });

  it('offers to a session URL count as others do; those of several at once that are overtaken are told 409', async () => {
    await start({ SVC_WEBRTC_OFFERS_PER_MINUTE: '5' });
    const url = new URL((await post()).headers.get('location') ?? '', whip());
    const again = () =>
      fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/sdp' }, body: rawOffer });
    const answers = await Promise.all([again(), again(), again()]);
    const statuses = answers.map(({ status }) => status);
    // How many come before the worker has answered is chance.
    expect(statuses).toContain(201);
    expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([]);
    expect((await again()).status).toBe(201);
    expect(await refusal(await again())).toBe('429 too_many_offers later');
    expect((await post()).status).toBe(429);
  });

  it('calls of an address: 429; the handshake pool: 503, judged before it; draining: 503 without Retry-After', async () => {
    await start({
      ...{ SVC_WEBRTC_OFFERS_PER_MINUTE: 'off', SVC_WEBRTC_MAX_CALLS_PER_IP: '2' },
      ...{ SVC_WEBRTC_MAX_HANDSHAKING: '3', SVC_DRAIN_TIMEOUT: '30s' },
    });
    // Their clients never connect, so that they stay in the pool.
    const offers = [post(from('192.0.2.1')), post(from('192.0.2.1'))];
    expect((await Promise.all(offers)).map(({ status }) => status)).toEqual([201, 201]);
    expect(await refusal(await post(from('192.0.2.1')))).toMatch(/^429 /);
    expect((await post(from('192.0.2.2'))).status).toBe(201);
    for (const address of ['192.0.2.1', '192.0.2.3'])
      expect(await refusal(await post(from(address)))).toBe('503 handshakes_full later');
    service.signal('SIGTERM');
    await service.says('draining');
    expect(await refusal(await post(from('192.0.2.3')))).toMatch(/^503 \w+$/);
  });

  it('all calls, those that are not established twice over: 503 with Retry-After, judged before the handshake pool', async () => {
    await start({ SVC_MAX_SESSIONS: '1', SVC_WEBRTC_MAX_HANDSHAKING: '2' });
    expect([(await post()).status, (await post()).status]).toEqual([201, 201]);
    expect(await refusal(await post())).toMatch(/^503 (?!handshakes)\w+ later$/);
  });
});

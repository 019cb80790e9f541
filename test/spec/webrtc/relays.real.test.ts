/**
 * Relays (docs/webrtc.md, Where UDP does not get through) against coturn, by a client that shares no code with the service: the
 * service reaches its relay by UDP, TCP and TLS, and clients get theirs.
 */
import { createSocket } from 'node:dgram';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TestService } from '../../support/process/service.ts';
import { stopAll } from '../../support/process/succession.ts';
import { Coturn, coturnMissing } from '../../support/webrtc/coturn.ts';
import { rawOffer } from '../../support/webrtc/raw-offer.ts';
import { WeriftCaller } from '../../support/webrtc/werift-caller.ts';
import { craft, secret } from '../tokens/craft.ts';

let coturn: Coturn;
let service: TestService;
const callers: WeriftCaller[] = [];
const whip = (): string => `http://${service.address('webrtc')}/whip`;

async function start(env: Readonly<Record<string, string>>): Promise<void> {
  service = await TestService.start({
    greeting: 'One two three four five six seven. '.repeat(10),
    env: {
      ...{ SVC_WEBRTC_ADDR: '127.0.0.1:0', SVC_TURN_PROVIDER: 'self_hosted_turn' },
      ...{ SVC_TURN_SECRET: coturn.secret, NODE_EXTRA_CA_CERTS: coturn.certificate, ...env },
    },
  });
}

const candidatesOf = (sdp: string): readonly string[] =>
  sdp.split('\r\n').flatMap((line) => /^a=candidate:.* typ (\w+)/.exec(line)?.[1] ?? []);

async function call(): Promise<WeriftCaller> {
  const caller = new WeriftCaller();
  callers.push(caller);
  expect((await caller.call(whip())).status).toBe(201);
  await caller.connected();
  await caller.until(() => caller.packets.length >= 20);
  return caller;
}

describe.skipIf(coturnMissing !== undefined)(`relays ${coturnMissing ?? ''}`, () => {
  beforeAll(async () => {
    coturn = await Coturn.start();
  });

  afterAll(() => coturn.stop());

  afterEach(async () => {
    for (const caller of callers.splice(0)) await caller.close();
    await stopAll(service);
  });

  it.each(['udp', 'tcp', 'tls'] as const)(
    'only, by %s: a call by the relay alone, which is given back with its end',
    async (transport) => {
      await start({ SVC_TURN_URLS: coturn.url(transport), SVC_WEBRTC_TURN_RELAY: 'only' });
      const caller = await call();
      expect(candidatesOf(caller.answerSdp)).toEqual(['relay']);
      expect((await caller.hangUp()).status).toBe(200);
      const before = coturn.lines.length;
      await coturn.until(() =>
        coturn.lines.slice(before - 40).some((line) => /refreshed.*lifetime=0|session.*closed/i.test(line)),
      );
      await service.readyWhen((body) => body['connections'] === 0);
    },
  );

  it('only: a call whose relay is lost with its server goes on by another one when its client comes back', async () => {
    await start({ SVC_TURN_URLS: coturn.url('udp'), SVC_WEBRTC_TURN_RELAY: 'only' });
    const caller = await call();
    await coturn.restart();
    const again = new WeriftCaller();
    callers.push(again);
    expect((await again.call(caller.sessionUrl)).status).toBe(201);
    await again.connected();
    await again.until(() => again.packets.length >= 20);
    expect((await again.hangUp()).status).toBe(200);
  });

  it('on: the relay is told beside the own address, and a host that an offer points at gets no packet', async () => {
    await start({ SVC_TURN_URLS: coturn.url('udp'), SVC_WEBRTC_TURN_RELAY: 'on' });
    const victim = createSocket('udp4');
    let packets = 0;
    victim.on('message', () => (packets += 1));
    await new Promise<void>((resolve) => victim.bind(0, '127.0.0.1', resolve));
    const offer = {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp' },
      body: rawOffer.replace('192.0.2.1 61764', `127.0.0.1 ${victim.address().port}`),
    };
    expect((await fetch(whip(), offer)).status).toBe(201);
    // As long as another call takes to be connected and heard.
    const caller = await call();
    expect(candidatesOf(caller.answerSdp)).toEqual(['host', 'relay']);
    expect(packets).toBe(0);
    victim.close();
  });

  it('on: a failed allocation is logged, and the call is answered normally', async () => {
    await start({
      ...{ SVC_TURN_URLS: coturn.url('udp'), SVC_WEBRTC_TURN_RELAY: 'on' },
      SVC_TURN_SECRET: 'another-secret',
    });
    const caller = await call();
    expect(candidatesOf(caller.answerSdp)).toEqual(['host']);
    const said = await service.says('a call has no relay');
    expect(said).toMatchObject({ reason: 'the server refused with 401' });
    expect(JSON.stringify(service.log)).not.toContain('another-secret');
  });

  it('only: a server that does not answer refuses the offer with 503 in the time of SVC_WEBRTC_TURN_RELAY_TIMEOUT', async () => {
    await start({
      ...{ SVC_TURN_URLS: 'turn:127.0.0.1:9?transport=udp', SVC_WEBRTC_TURN_RELAY: 'only' },
      SVC_WEBRTC_TURN_RELAY_TIMEOUT: '200ms',
    });
    const response = await fetch(whip(), {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp' },
      body: rawOffer,
    });
    expect([response.status, response.headers.get('cache-control')]).toEqual([503, 'no-store']);
    expect(response.headers.has('retry-after')).toBe(true);
    expect(await response.json()).toMatchObject({ code: 'no_relay' });
    await service.readyWhen((body) => body['connections'] === 0);
  });

  it('GET /whip/ice: credentials of SVC_TURN_TTL under the same token as an offer, which it does not use', async () => {
    await start({ SVC_TURN_URLS: coturn.url('udp'), SVC_TURN_TTL: '30', SVC_SESSION_SECRET: secret });
    const nowS = Math.floor(Date.now() / 1000);
    const token = craft({ aud: 'svc-webrtc', exp: nowS + 60, sid: 'ice-1' });
    const headers = { Authorization: `Bearer ${token}` };
    expect((await fetch(`${whip()}/ice`)).status).toBe(401);
    const response = await fetch(`${whip()}/ice`, { headers });
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const text = await response.text();
    expect(text).not.toContain(coturn.secret);
    const { iceServers } = JSON.parse(text) as { iceServers: { urls: string[]; username: string }[] };
    expect(iceServers).toHaveLength(1);
    expect(iceServers[0]?.urls).toEqual([coturn.url('udp')]);
    const expires = Number(iceServers[0]?.username.split(':')[0]);
    expect(expires - nowS).toBeGreaterThanOrEqual(29);
    expect(expires - nowS).toBeLessThanOrEqual(32);
    const offered = await fetch(whip(), {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp', ...headers },
      body: rawOffer,
    });
    expect(offered.status).toBe(201);
    expect(offered.headers.get('link')).toMatch(
      /^<turn:127\.0\.0\.1:\d+\?transport=udp>; rel="ice-server"; username="\d+:/,
    );
  });
});

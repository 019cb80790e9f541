/** What WebRTC signaling answers when a worker does not answer an offer, and to clients that wait at their session URL; on a real socket. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { systemWallClock } from '../../../shared/runtime/clock.ts';
import { newLog } from '../../../shared/runtime/log.ts';
import type { OfferSignals } from '../../../supervisor/handover/open-offer.ts';
import type { Answer } from '../../../supervisor/http/refusals.ts';
import { Signaling } from '../../../supervisor/webrtc/signaling.ts';
import { rawOffer } from '../../support/webrtc/raw-offer.ts';

const parsed = parseServerSettings(
  { SVC_AGENT_FILE: 'agent.toml', SVC_WEBRTC_ADDR: '127.0.0.1:0' },
  { cores: 2 },
);

let server: Server;
let origin: string;
let signals: OfferSignals | undefined;
let offered: () => void;
let released: number;
/** Offers that were counted against their address, and the answer to that. */
let counted: number;
let hurried: Answer | undefined;
let isAwaited: boolean;
let logged: string[];
/** Resolves when the worker has the offer. */
let hasOffer: Promise<void>;

beforeEach(async () => {
  hasOffer = new Promise((resolve) => (offered = resolve));
  released = 0;
  logged = [];
  counted = 0;
  hurried = undefined;
  isAwaited = false;
  if (!parsed.ok || parsed.value.settings.webrtc === undefined) throw new Error('the settings are wrong');
  const { settings } = parsed.value;
  const taken = (given: OfferSignals): number => {
    signals = given;
    offered();
    return 1;
  };
  const signaling = new Signaling({
    ...{ settings, webrtc: parsed.value.settings.webrtc, wallClock: systemWallClock },
    log: newLog({ role: 'test', level: 'warn', to: { write: (line: string) => void logged.push(line) } }),
    refusal: () => undefined,
    offered: () => {
      counted += 1;
      return Promise.resolve(hurried);
    },
    decide: () =>
      Promise.resolve({
        ...{ kind: 'admitted', transport: 'webrtc', signedMetadata: {}, connected: () => undefined },
        head: { method: 'POST', url: '/whip', headers: {} },
        release: () => (released += 1),
      }),
    signaled: {
      give: (_request, _release, given) => taken(given),
      comeBack: (_id, _offer, given) => taken(given) === 1,
      isAwaited: () => isAwaited,
      candidates: () => undefined,
      bring: () => false,
      hangUp: () => signals?.over(),
    },
  });
  server = createServer((request, response) => signaling.answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const post = (path = '/whip'): Promise<Response> =>
  fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/sdp' },
    body: rawOffer,
  });

describe('an offer that is not answered', () => {
  it.each([
    ['failed', 500, 'server_error', null],
    ['bad_offer', 400, 'bad_offer', null],
    ['no_relay', 503, 'no_relay', '2'],
    ['no_worker', 503, 'no_worker', '1'],
    ['overtaken', 409, 'overtaken', null],
  ] as const)('%s: %i', async (reason, status, code, retryAfter) => {
    const asked = post();
    await hasOffer;
    signals?.unanswered(reason);
    const answer = await asked;
    expect(await answer.json()).toMatchObject({ code });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, retryAfter]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});

describe('a client that goes in the middle of its offer', () => {
  it('is no failure of the service', async () => {
    const arrived = once(server, 'request') as Promise<[unknown, ServerResponse]>;
    const { port } = server.address() as AddressInfo;
    const client = connect(port, '127.0.0.1');
    client.write(
      'POST /whip HTTP/1.1\r\nHost: a\r\nContent-Type: application/sdp\r\nContent-Length: 9\r\n\r\nv=0',
    );
    const [, response] = await arrived;
    const gone = once(response, 'close');
    client.destroy();
    await gone;
    const next = post();
    await hasOffer;
    signals?.unanswered('failed');
    expect((await next).status).toBe(500);
    expect([logged, released]).toEqual([[], 0]);
  });
});

describe('a client that waits at its session URL', () => {
  let session: string;

  beforeEach(async () => {
    const asked = post();
    await hasOffer;
    signals?.answered('v=0\r\n');
    session = (await asked).headers.get('location') ?? '';
  });

  const look = (prefer?: string): Promise<Response> =>
    fetch(`${origin}${session}`, { headers: prefer === undefined ? {} : { Prefer: prefer } });

  /** Resolves with a request that the service has and does not answer yet. */
  async function wait(prefer = 'wait=25'): Promise<Promise<Response>[]> {
    const reached = once(server, 'request');
    const waiting = look(prefer);
    await reached;
    return [waiting];
  }

  it('is told at once that the call has lost its worker, and after that, until it has come back', async () => {
    const [waiting] = await wait('respond-async, wait=20');
    signals?.waysLost();
    const answer = await waiting!;
    expect([answer.status, await answer.json()]).toEqual([200, { connection: 'lost' }]);
    expect((await look('wait=20')).status).toBe(200);
    hasOffer = new Promise((resolve) => (offered = resolve));
    const back = post(session);
    await hasOffer;
    signals?.answered('v=0\r\n');
    expect((await back).status).toBe(201);
    const [again] = await wait();
    signals?.over();
    expect((await again!).status).toBe(204);
    expect((await look('wait=20')).status).toBe(404);
  });

  it('makes way for another one of the same call', async () => {
    const [first] = await wait();
    const [second] = await wait();
    expect((await first!).status).toBe(204);
    signals?.waysLost();
    expect((await second!).status).toBe(200);
  });

  it.each([undefined, 'wait=0', 'handling=strict'])(
    'is answered at once where it does not wait: %s',
    async (prefer) => {
      expect((await look(prefer)).status).toBe(204);
    },
  );

  it('is answered when the time is over that it wanted to wait', async () => {
    expect((await look('wait=1')).status).toBe(204);
  });
});

describe('an offer to a session URL', () => {
  const tooMany: Answer = { status: 429, code: 'too_many_offers', message: 'too many', retryAfterS: 12 };
  const session = async (): Promise<string> => {
    const asked = post();
    await hasOffer;
    signals?.answered('v=0\r\n');
    return (await asked).headers.get('location') ?? '';
  };

  it('counts against its address, and is refused where that has made too many', async () => {
    const path = await session();
    hurried = tooMany;
    const answer = await post(path);
    expect([answer.status, answer.headers.get('retry-after'), counted]).toEqual([429, '12', 1]);
  });

  it('of a call that has lost its worker counts for nothing', async () => {
    const path = await session();
    [hurried, isAwaited] = [tooMany, true];
    hasOffer = new Promise((resolve) => (offered = resolve));
    const asked = post(path);
    await hasOffer;
    signals?.answered('v=0\r\n');
    expect([(await asked).status, counted]).toEqual([201, 0]);
  });

  it.each(['GET', 'PATCH', 'DELETE'])('is none where it is a %s', async (method) => {
    const path = await session();
    hurried = tooMany;
    await fetch(`${origin}${path}`, { method });
    expect(counted).toBe(0);
  });
});

/** Session URLs of calls that began before a restart: asked at the new supervisor, answered by the old one. On real sockets. */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { readToPredecessor, readToSuccessor } from '../../../shared/protocol/takeover.ts';
import { systemWallClock } from '../../../shared/runtime/clock.ts';
import { newLog } from '../../../shared/runtime/log.ts';
import type { OfferSignals } from '../../../supervisor/handover/open-offer.ts';
import { Signaling } from '../../../supervisor/webrtc/signaling.ts';
import { SignalingTakeover } from '../../../supervisor/webrtc/takeover.ts';
import { rawOffer } from '../../support/webrtc/raw-offer.ts';

const parsed = parseServerSettings(
  { SVC_AGENT_FILE: 'agent.toml', SVC_WEBRTC_ADDR: '127.0.0.1:0' },
  { cores: 2 },
);

/** A supervisor as far as session URLs know one. */
interface Generation {
  readonly takeover: SignalingTakeover;
  readonly server: Server;
  readonly origin: string;
  signals: OfferSignals | undefined;
  hungUp: number;
  /** What the worker says to an offer, at once or when the test wants it. */
  answer: (given: OfferSignals) => void;
}

async function generation(): Promise<Generation> {
  if (!parsed.ok || parsed.value.settings.webrtc === undefined) throw new Error('the settings are wrong');
  const { settings } = parsed.value;
  const takeover = new SignalingTakeover({ full: () => undefined });
  const give = (given: OfferSignals): number => {
    made.signals = given;
    made.answer(given);
    return 1;
  };
  const signaling = new Signaling({
    ...{ settings, webrtc: parsed.value.settings.webrtc, wallClock: systemWallClock, takeover },
    log: newLog({ role: 'test', level: 'fatal', to: { write: () => undefined } }),
    refusal: () => undefined,
    offered: () => Promise.resolve(undefined),
    decide: () =>
      Promise.resolve({
        ...{ kind: 'admitted', transport: 'webrtc', signedMetadata: {}, connected: () => undefined },
        head: { method: 'POST', url: '/whip', headers: {} },
        release: () => undefined,
      }),
    signaled: {
      give: (_request, _release, given) => give(given),
      comeBack: (_id, _offer, given) => give(given) === 1,
      isAwaited: () => false,
      candidates: () => undefined,
      bring: () => false,
      hangUp: () => (made.hungUp += 1),
    },
  });
  const server = createServer((request, response) => signaling.answer(request, response)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer = (given: OfferSignals): unknown => setImmediate(() => given.answered('v=0\r\n'));
  const made: Generation = { takeover, server, origin, answer, signals: undefined, hungUp: 0 };
  return made;
}

/** Joins two as the message channel of a restart does. Returns what the new one has said. */
function follow(before: SignalingTakeover, after: SignalingTakeover): string[] {
  const said: string[] = [];
  const back = (message: object): void => {
    const read = readToSuccessor(JSON.parse(JSON.stringify(message)));
    if (!read.ok) throw new Error(read.error);
    if (read.value.type === 'webrtc.begin' || read.value.type === 'webrtc.answered')
      after.predecessorSaid(read.value);
  };
  after.follow((message) => {
    said.push(message.type);
    const read = readToPredecessor(JSON.parse(JSON.stringify(message)));
    if (!read.ok) throw new Error(read.error);
    if (read.value.type === 'webrtc.asked' || read.value.type === 'webrtc.left')
      before.successorSaid(read.value, back);
  });
  before.give(back);
  return said;
}

let generations: Generation[];
let session: string;

beforeEach(async () => {
  generations = [await generation(), await generation(), await generation()];
  const answer = await post(generations[0]!, '/whip');
  session = answer.headers.get('location') ?? '';
  follow(generations[0]!.takeover, generations[1]!.takeover);
});

afterEach(() => {
  for (const { server } of generations) {
    server.closeAllConnections();
    server.close();
  }
});

const post = ({ origin }: Generation, path: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/sdp' },
    body: rawOffer,
    ...(signal && { signal }),
  });

const wait = ({ origin }: Generation, signal?: AbortSignal): Promise<Response> =>
  fetch(`${origin}${session}`, { headers: { Prefer: 'wait=25' }, ...(signal && { signal }) });

describe('the session URL of a call from before a restart', () => {
  it('tells at the new supervisor that the call has lost its worker, and takes another offer there', async () => {
    const [old, fresh] = generations;
    const waiting = wait(fresh!);
    await once(fresh!.server, 'request');
    old!.signals?.waysLost();
    expect([(await waiting).status, await (await waiting).json()]).toEqual([200, { connection: 'lost' }]);
    const back = await post(fresh!, session);
    expect([back.status, back.headers.get('location'), await back.text()]).toEqual([201, session, 'v=0\r\n']);
    expect(back.headers.get('cache-control')).toBe('no-store');
    expect(fresh!.signals).toBeUndefined();
  });

  it('hangs up by DELETE, and is unknown after that', async () => {
    const [old, fresh] = generations;
    expect((await fetch(`${fresh!.origin}${session}`, { method: 'DELETE' })).status).toBe(200);
    expect(old!.hungUp).toBe(1);
    expect((await fetch(`${fresh!.origin}${session}`)).status).toBe(404);
  });

  it('is known two restarts later', async () => {
    const [, second, third] = generations;
    follow(second!.takeover, third!.takeover);
    expect((await post(third!, session)).status).toBe(201);
    expect((await fetch(`${third!.origin}/whip/sessions/${'0'.repeat(32)}`)).status).toBe(404);
  });

  it('is over with the process that had the call', async () => {
    const [, fresh] = generations;
    const waiting = wait(fresh!);
    await once(fresh!.server, 'request');
    fresh!.takeover.predecessorGone();
    expect((await waiting).status).toBe(404);
    expect((await wait(fresh!)).status).toBe(404);
  });

  it('is waited at by nobody once the client has left', async () => {
    const [, fresh, third] = generations;
    const said = follow(fresh!.takeover, third!.takeover);
    const gone = new AbortController();
    const waiting = wait(third!, gone.signal).catch(() => 'left');
    const [, response] = (await once(third!.server, 'request')) as [unknown, NodeJS.EventEmitter];
    const closed = once(response, 'close');
    gone.abort();
    expect(await waiting).toBe('left');
    await closed;
    expect(said).toEqual(['webrtc.asked', 'webrtc.left']);
  });
});

describe('a client that goes before its offer is answered', () => {
  it.each([
    { offers: 'a call', hungUp: 1 },
    { offers: 'another connection for its call, which waits for the next try', hungUp: 0 },
  ])('offers $offers', async ({ offers, hungUp }) => {
    const [made] = generations;
    const asked = new Promise<OfferSignals>((resolve) => (made!.answer = resolve));
    const gone = new AbortController();
    const waiting = post(made!, offers === 'a call' ? '/whip' : session, gone.signal).catch(() => 'left');
    const [, response] = (await once(made!.server, 'request')) as [unknown, NodeJS.EventEmitter];
    const closed = once(response, 'close');
    const signals = await asked;
    gone.abort();
    expect(await waiting).toBe('left');
    await closed;
    signals.answered('v=0\r\n');
    await new Promise((resolve) => setImmediate(resolve));
    expect(made!.hungUp).toBe(hungUp);
  });
});

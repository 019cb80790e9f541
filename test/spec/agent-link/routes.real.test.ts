/** Which agent process a call of the running service reaches, at each way in: a token leads where it says, whatever the client wants. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { mintSessionToken, type MintClaims } from '../../../shared/auth/mint.ts';
import { carrierEnv, FakeStream, postVoice, streamUrlOf } from '../../support/fakes/fake-twilio.ts';
import { Observed } from '../../support/process/observed.ts';
import { TestService } from '../../support/process/service.ts';
import { accepting, RawAgent, type AgentEvent } from '../../support/raw-agent.ts';
import { WeriftCaller } from '../../support/webrtc/werift-caller.ts';

const secret = 'a secret of more than thirty-two bytes';
let service: TestService;
let agents: Readonly<Record<'desk' | 'acme' | 'other', RawAgent>>;

beforeAll(async () => {
  const [desk, acme, other] = await Promise.all([1, 2, 3].map(() => RawAgent.start(accepting())));
  if (desk === undefined || acme === undefined || other === undefined) throw new Error('no agents');
  agents = { desk, acme, other };
  const turn = `
[agent_link]
url = "${desk.url}"
[[agent_link.routes]]
name = "acme"
url = "${acme.url}"
signed = true
[[agent_link.routes]]
name = "other"
url = "${other.url}"
signed = true
`;
  service = await TestService.start({
    turn,
    env: {
      ...carrierEnv,
      ...{ SVC_SESSION_SECRET: secret, SVC_WEBRTC_ADDR: '127.0.0.1:0', SVC_LOG_LEVEL: 'debug' },
    },
  });
});

afterAll(async () => {
  await service.stop();
  await Promise.all(Object.values(agents).map((agent) => agent.close()));
});

let sids = 0;

function tokenOf(aud: MintClaims['aud'], claims: Pick<MintClaims, 'agent' | 'meta'>): string {
  const minted = mintSessionToken(
    { aud, ttlS: 60, sid: `s-${(sids += 1)}`, ...claims },
    { secret, nowS: Math.floor(Date.now() / 1000) },
  );
  if (!minted.ok) throw new Error(minted.error);
  return minted.value;
}

/** A client of the WebSocket protocol that sends its start and keeps what comes back. */
class Client extends Observed {
  readonly said: Readonly<Record<string, unknown>>[] = [];
  closed: number | undefined;
  readonly socket: WebSocket;

  constructor(address: string, token: string, start: Readonly<Record<string, unknown>>) {
    super();
    this.socket = new WebSocket(`ws://${address}`, { headers: { Authorization: `Bearer ${token}` } });
    this.socket.on('open', () =>
      this.socket.send(JSON.stringify({ type: 'start', version: 1, sample_rate: 16_000, ...start })),
    );
    this.socket.on('error', () => undefined);
    this.socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) this.said.push(JSON.parse(data.toString()) as Readonly<Record<string, unknown>>);
      this.changed();
    });
    this.socket.on('close', (code) => {
      this.closed = code;
      this.changed();
    });
  }
}

/** The opening that an agent process gets while `begin` makes a call. */
async function openingAt(agent: RawAgent, begin: () => unknown): Promise<AgentEvent> {
  const at = agent.sessions.length;
  await begin();
  return await (await agent.session(at)).says('session.start');
}

const ways = ['websocket', 'webrtc'] as const;
const aud = { websocket: 'svc-ws', webrtc: 'svc-webrtc' } as const;
const addressOf = (way: (typeof ways)[number]): string =>
  way === 'websocket' ? service.address(way) : `${service.address(way)}/ws`;

describe.each(ways)('a call by the WebSocket of the listener %s', (way) => {
  const call = (claims: Pick<MintClaims, 'agent' | 'meta'>, start: Readonly<Record<string, unknown>>) =>
    new Client(addressOf(way), tokenOf(aud[way], claims), start);

  it('reaches the agent process of its token although its client names another one', async () => {
    const meta = { agent_route: 'acme', plan: 'gold', seats: 3 };
    let client: Client | undefined;
    const opening = await openingAt(agents.acme, () => {
      client = call({ agent: 'other', meta }, { call_id: 'mine', metadata: { agent_route: 'other' } });
    });
    const sid = `s-${sids}`;
    expect(opening).toMatchObject({
      session_id: sid,
      agent: 'test',
      route: 'acme',
      session: { sid, agent: 'other', meta: { agent_route: 'acme', plan: 'gold', seats: '3' } },
      metadata: { agent_route: 'other' },
    });
    await service.says('call started', (line) => line['call'] === 'mine' && line['route'] === 'acme');
    client?.socket.close();
    await service.counted('svc_route_calls_total{agent="test",route="acme",end="closed"}', 1);
  });

  it('is refused where no token names the route, and no other process hears of it', async () => {
    const before = Object.values(agents).map(({ sessions }) => sessions.length);
    const client = call({}, { call_id: `refused-${way}`, metadata: { agent_route: 'other' } });
    await client.until(() => client.closed !== undefined);
    expect(client.said).toMatchObject([{ type: 'error', code: 'invalid_message', fatal: true }]);
    expect(client.closed).toBe(1008);
    const isOurs = (line: Readonly<Record<string, unknown>>): boolean =>
      line['call'] === `refused-${way}` && line['route'] === 'other';
    await service.says('a call is refused: its route is led to by a signed word alone', isOurs);
    expect(Object.values(agents).map(({ sessions }) => sessions.length)).toEqual(before);
  });
});

describe('a call by WHIP', () => {
  it('reaches the agent process that its token names', async () => {
    const caller = new WeriftCaller();
    const token = tokenOf('svc-webrtc', { agent: 'acme' });
    const opening = await openingAt(agents.acme, async () => {
      await caller.call(`http://${service.address('webrtc')}/whip`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      await caller.connected();
    });
    expect(opening).toMatchObject({ route: 'acme', session: { agent: 'acme' } });
    await caller.close();
  });
});

describe('a call of carrier A', () => {
  it('reaches the agent process that the address of its number names', async () => {
    const address = service.address('carrier_a');
    const twiml = await (await postVoice(address, 'CA01', { query: '?agent_route=acme' })).text();
    const stream = new FakeStream(address, { callSid: 'CA01', url: streamUrlOf(twiml), streamSid: 'MZ01' });
    await stream.until(() => stream.status !== 0);
    const opening = await openingAt(agents.acme, () => stream.begin({ agent_route: 'acme' }));
    expect(opening).toMatchObject({ route: 'acme', metadata: { agent_route: 'acme' } });
    expect(opening['session_id']).not.toBe('CA01');
    expect(opening).not.toHaveProperty('session');
    stream.close();
  });
});

/**
 * Two tenants with two numbers each at both carriers and by SIP, and agents by token over WebSocket, WHIP and RTVI, all at once: each caller hears
 * the voice of the agent that was called, before and after every file changes and a worker is killed.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { decodeMulaw } from '../../../shared/audio/g711.ts';
import { mintSessionToken } from '../../../shared/auth/mint.ts';
import type { TokenAudience } from '../../../shared/auth/token-payload.ts';
import { carrierEnv, FakeStream, postVoice, streamUrlOf } from '../../support/fakes/fake-twilio.ts';
import { AgentFolder } from '../../support/process/agent-folder.ts';
import { Providers, TestService } from '../../support/process/service.ts';
import { stopAll } from '../../support/process/succession.ts';
import { FakeRtvi } from '../../support/rtvi/fake-rtvi.ts';
import { Phone } from '../../support/sip/phone.ts';
import { FakeTelnyx } from '../../support/telephony/fake-telnyx.ts';
import { WeriftCaller } from '../../support/webrtc/werift-caller.ts';

const secret = 'a secret of at least thirty-two bytes';
const agents = ['clinic/desk', 'clinic/night', 'diner/host', 'diner/bar'] as const;
type Id = (typeof agents)[number];
/** The agent that no other token names. */
const byWhipAlone: Id = 'diner/host';
/** The numbers of the agents, at the carriers and at the SIP trunk. */
const numberOf = (id: Id): string => `+1555010001${agents.indexOf(id)}`;
const extensionOf = (id: Id): string => `100${agents.indexOf(id)}`;
const routing = (id: Id): string =>
  `[routing]\nnumbers = ["${numberOf(id)}", "${extensionOf(id)}"]\nopen = ${String(id === 'diner/bar')}`;

/** A caller on whatever line: what was heard lately. */
interface Heard {
  readonly id: Id | 'own';
  readonly line: string;
  /** The newest sound, at least half a second of it since the last time that this was asked. */
  readonly next: () => Promise<{ readonly pcm: Int16Array; readonly rate: number }>;
}

let service: TestService;
let folder: AgentFolder;
let telnyx: FakeTelnyx;
const callers: Heard[] = [];
const close: (() => unknown)[] = [];

const token = (aud: TokenAudience, agent: string): string => {
  const minted = mintSessionToken(
    { aud, ttlS: 60, sid: randomUUID(), agent },
    { secret, nowS: Math.floor(Date.now() / 1000) },
  );
  if (!minted.ok) throw new Error(minted.error);
  return minted.value;
};

const pcmOf = (frames: readonly Buffer[]): Int16Array => {
  const bytes = Buffer.concat(frames);
  const pcm = new Int16Array(bytes.length);
  decodeMulaw(bytes, pcm);
  return pcm;
};

/** The sound of a source that grows, behind what was heard before. */
function follow(
  source: { until: (fits: () => boolean) => Promise<unknown> },
  {
    count,
    since,
    rate,
    frames,
  }: {
    count: () => number;
    since: (from: number) => Int16Array | Promise<Int16Array>;
    rate: number;
    frames: number;
  },
): Heard['next'] {
  return async () => {
    const from = count();
    await source.until(() => count() >= from + frames);
    return { pcm: await since(from), rate };
  };
}

async function byCarrierA(id: Id): Promise<void> {
  const callSid = `CA${id.replace('/', '')}`;
  const answer = await (await postVoice(service.address('carrier_a'), callSid, { to: numberOf(id) })).text();
  const url = streamUrlOf(answer);
  const parameter = /name="agent_chosen" value="([^"]+)"/.exec(answer)?.[1] ?? '';
  const stream = new FakeStream(service.address('carrier_a'), {
    callSid,
    url,
    streamSid: `MZ${id.replace('/', '')}`,
  });
  close.push(() => stream.close());
  await stream.until(() => stream.status !== 0);
  stream.begin({ agent_chosen: parameter });
  const media = (): Buffer[] =>
    stream
      .of('media')
      .map((message) => Buffer.from((message['media'] as { payload: string }).payload, 'base64'));
  const next = follow(stream, {
    count: () => media().length,
    since: (from) => pcmOf(media().slice(from)),
    rate: 8_000,
    frames: 30,
  });
  callers.push({ id, line: 'carrier A', next });
}

async function byCarrierB(id: Id): Promise<void> {
  const before = telnyx.streams.length;
  const incoming = {
    call_control_id: `v3:${id}`,
    direction: 'incoming',
    state: 'parked',
    from: '+15550100001',
    to: numberOf(id),
  };
  expect(await telnyx.tell('call.initiated', incoming)).toBe(200);
  await telnyx.until(() => telnyx.streams.length > before);
  const stream = telnyx.streams[before]!;
  close.push(() => stream.close());
  const media = (): Buffer[] =>
    stream
      .of('media')
      .map((message) => Buffer.from((message['media'] as { payload: string }).payload, 'base64'));
  const next = follow(stream, {
    count: () => media().length,
    since: (from) => pcmOf(media().slice(from)),
    rate: 8_000,
    frames: 30,
  });
  callers.push({ id, line: 'carrier B', next });
}

async function bySip(id: Id): Promise<void> {
  const listening = service.said('listening', (line) => line['listener'] === 'sip');
  const phone = await Phone.open(Number(String(listening?.['address']).split(':').at(-1)));
  phone.dials = extensionOf(id);
  close.push(() => phone.close());
  expect((await phone.invite()).status).toBe(200);
  phone.talk();
  const next = follow(phone, {
    count: () => phone.heard.length,
    since: (from) => phone.sound(from),
    rate: 8_000,
    frames: 30,
  });
  callers.push({ id, line: 'SIP', next });
}

async function byWebSocket(id: Id): Promise<void> {
  const client: CallClient = await service.call({ token: token('svc-ws', id) });
  close.push(() => client.hangUp());
  const next: Heard['next'] = async () => {
    const from = client.heard().length;
    while (client.heard().length < from + 9_600) await client.next((event) => event.type === 'audio');
    return { pcm: client.heard().slice(from), rate: 16_000 };
  };
  callers.push({ id, line: 'WebSocket', next });
}

/** What the address asks for says nothing beside the token. */
async function byWhip(id: Id): Promise<void> {
  const caller = new WeriftCaller();
  close.push(() => caller.close());
  const response = await caller.call(`http://${service.address('webrtc')}/whip?agent=diner/bar`, {
    headers: { Authorization: `Bearer ${token('svc-webrtc', id)}` },
  });
  expect(response.status).toBe(201);
  await caller.connected();
  const next = follow(caller, {
    count: () => caller.packets.length,
    since: async (from) => (await caller.heard()).subarray(from * 320),
    rate: 16_000,
    frames: 30,
  });
  callers.push({ id, line: 'WHIP', next });
}

async function byRtvi(id: Id): Promise<void> {
  const client = new FakeRtvi(`ws://${service.address('rtvi')}/?token=${token('svc-rtvi', id)}`, {});
  close.push(() => client.close());
  await client.until(() => client.status === 101);
  client.send('client-ready', { version: '1.0.0', about: { library: 'test' } });
  await client.until(() => client.audio.length > 0);
  const rate = client.audio[0]?.sampleRate ?? 0;
  const next = follow(client, {
    count: () => client.audio.length,
    since: (from) => {
      const bytes = Buffer.concat(client.audio.slice(from).map(({ samples }) => samples));
      return Int16Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(2 * at));
    },
    rate,
    frames: 10,
  });
  callers.push({ id, line: 'RTVI', next });
}

/** Everybody hears the voice of their own agent. Silence says nothing: somebody else's sound is listened to. */
async function allHearTheirOwn(): Promise<void> {
  const voices = await Promise.all(
    callers.map(async ({ id, line, next }) => {
      for (;;) {
        const { pcm, rate } = await next();
        const heard = folder.heard(pcm, rate);
        if (heard !== undefined) return { line, called: id, heard };
      }
    }),
  );
  for (const { line, called, heard } of voices) expect({ line, heard }).toEqual({ line, heard: called });
}

describe('agents of two tenants on every line', () => {
  beforeAll(async () => {
    folder = new AgentFolder();
    const providers = await new Providers().start();
    for (const id of agents) await folder.put({ id, more: routing(id) }, providers);
    telnyx = await new FakeTelnyx().start();
    service = await TestService.start({
      workers: 2,
      providers,
      agentText: await folder.textOf({ id: 'own' }, providers),
      env: {
        ...carrierEnv,
        ...telnyx.env,
        SVC_AGENTS_DIR: folder.dir,
        SVC_SESSION_SECRET: secret,
        SVC_SIP_ADDR: '127.0.0.1:0',
        SVC_SIP_RTP_PORTS: '33000-33998',
        SVC_RTVI_ADDR: '127.0.0.1:0',
        SVC_WEBRTC_ADDR: '127.0.0.1:0',
        SVC_WEBRTC_UDP_ADDR: '127.0.0.1:0',
      },
    });
    telnyx.listener = service.address('carrier_b');
  });
  afterAll(async () => {
    await Promise.all(close.map((one) => one()));
    await stopAll(service);
    await Promise.all([telnyx.close(), folder.close()]);
  });

  it('are each heard by those who called them, while files change and a worker is killed', async () => {
    await Promise.all([...agents.map(byCarrierA), ...agents.map(bySip), byWebSocket('clinic/desk')]);
    for (const id of ['clinic/night', 'diner/host'] as const) await byCarrierB(id);
    await Promise.all([byWhip(byWhipAlone), byRtvi('diner/bar')]);
    await allHearTheirOwn();
    for (const id of agents)
      await folder.put({ id, agent: 'farewell = "Another version."', more: routing(id) }, service.providers);
    await service.says(
      'an agent was changed: new calls get this version',
      (line) => line['agent'] === 'diner/bar',
    );
    const started = service.log.filter(({ msg }) => msg === 'call started');
    expect(started.map(({ agentBy }) => agentBy).toSorted()).toEqual([
      ...Array<string>(10).fill('number'),
      'signed',
      'signed',
      'signed',
    ]);
    // A call by WebRTC waits for its client to come back, which this one does not.
    const webrtc = started.find((line) => line['agentBy'] === 'signed' && line['agent'] === byWhipAlone);
    const pid = started.find((line) => line['pid'] !== webrtc?.['pid'])?.['pid'];
    process.kill(Number(pid), 'SIGKILL');
    await service.says('call taken up');
    await allHearTheirOwn();
  });
});

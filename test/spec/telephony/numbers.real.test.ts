/**
 * Phone numbers are told to the carriers and to nobody else (docs/telephony.md, What is checked): a service with everything
 * that tells of calls switched on, calls of both carriers and of SIP in which every number is a marked one, and a search through all of it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answer, sayAndCall } from '../../support/fakes/fake-chat.ts';
import {
  carrierEnv,
  FakeStream,
  postEvent,
  postVoice,
  streamUrlOf,
} from '../../support/fakes/fake-twilio.ts';
import { TestService } from '../../support/process/service.ts';
import { accepting, RawAgent, type AgentSession } from '../../support/raw-agent.ts';
import { Phone } from '../../support/sip/phone.ts';
import { FakeCollector } from '../../support/telemetry/fake-collector.ts';
import { FakeTwilioApi } from '../../support/telephony/fake-twilio-api.ts';
import { FakeTelnyx, type FakeBStream } from '../../support/telephony/fake-telnyx.ts';

/** Every number here begins so, whatever stands before it. */
const canary = /5550100/;
const [caller, called, billing, dialled] = ['+15550100001', '+15550100002', '+15550100077', '+15550100088'];
const secret = 'o'.repeat(32);
const liveToken = 'a-token-of-an-operator';
const turn = `
[telephony]
warm_transfer = true
caller_id = "${called}"
return_line = "Nobody was free."
[telephony.destinations]
billing = "${billing}"
`;

let service: TestService;
let api: FakeTwilioApi;
let carrier: FakeTelnyx;
let agent: RawAgent;
let collector: FakeCollector;
let folder: string;
/** What HTTP answered, by where it was asked. */
const told: string[] = [];

beforeEach(async () => {
  told.length = 0;
  folder = mkdtempSync(join(tmpdir(), 'svc-numbers-'));
  api = new FakeTwilioApi();
  carrier = new FakeTelnyx();
  collector = new FakeCollector();
  [agent] = await Promise.all([RawAgent.start(accepting()), api.start(), carrier.start(), collector.start()]);
  // What carriers say of a refusal names the number that they refuse.
  api.message = carrier.message = `The number ${billing} is not valid.`;
});

afterEach(async () => {
  for (const stream of [...api.streams.values(), ...carrier.streams]) stream.close();
  await service.stop();
  await Promise.all([api.close(), carrier.close(), agent.close(), collector.close()]);
  rmSync(folder, { recursive: true, force: true });
});

async function start(redacts: 'on' | 'off'): Promise<void> {
  service = await TestService.start({
    ...{ turn, greeting: 'Hello.', agent: '[recording]\nconsent = "Recorded."\nfacts = true' },
    env: {
      ...{ ...carrierEnv, ...api.env, ...carrier.env, SVC_CARRIER_A_RESUME_STREAM: '1' },
      ...{ SVC_CARRIER_B_CONNECTION_ID: 'conn-1', SVC_STATE_DIR: join(folder, 'state') },
      ...{ SVC_SIP_ADDR: '127.0.0.1:0', SVC_SIP_RTP_PORTS: '31000-31998' },
      ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: secret },
      ...{ SVC_OUTBOUND_FROM: called, SVC_OUTBOUND_ALLOW: '+1555' },
      ...{ SVC_AGENT_URL: agent.url, SVC_AGENT_CALLER_IDENTITY: '1', SVC_REDACT_PHONE_NUMBERS: redacts },
      ...{ SVC_RECORDING_DIR: join(folder, 'recordings'), SVC_LIVE_TOKEN: liveToken },
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_METRIC_EXPORT_INTERVAL: '1000' },
      SVC_LOG_LEVEL: 'trace',
    },
  });
  api.listener = service.address('carrier_a');
  carrier.listener = service.address('carrier_b');
}

/** Asks one of the service's pages, and keeps what it says. */
async function ask(path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`http://${service.address('callback')}${path}`, {
    ...{ method: body === undefined ? 'GET' : 'POST', headers: { authorization: `Bearer ${secret}` } },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  told.push(`${path} ${[...response.headers].join()} ${text}`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

async function look(): Promise<void> {
  const headers = { authorization: `Bearer ${liveToken}` };
  for (const path of ['/live', '/live/state', '/metrics', '/readyz'])
    told.push(`${path} ${await (await service.get(path, headers)).text()}`);
  await ask('/transfers');
  await ask('/calls');
}

type Stream = FakeStream | FakeBStream;

const press = (stream: Stream, digits: string): void => {
  for (const digit of digits) stream.press(digit);
};

const askedFor = (call: string, command: string): Promise<unknown> =>
  service.says('the carrier was asked', (line) => line['call'] === call && line['command'] === command);

async function callA(callSid: string): Promise<FakeStream> {
  const twiml = await (await postVoice(service.address('carrier_a'), callSid)).text();
  // The carrier passes on what the instructions name.
  const given = twiml.matchAll(/<Parameter name="([^"]+)" value="([^"]+)"/g);
  const parameters = Object.fromEntries([...given].map(([, name = '', value = '']) => [name, value]));
  const stream = new FakeStream(service.address('carrier_a'), { callSid, url: streamUrlOf(twiml) });
  api.streams.set(callSid, stream);
  await stream.until(() => stream.status !== 0);
  stream.begin(parameters);
  await stream.until(() => stream.of('mark').length > 0);
  return stream;
}

async function callB(callId: string): Promise<FakeBStream> {
  const before = carrier.streams.length;
  const payload = { call_control_id: callId, direction: 'incoming', from: caller, to: called };
  await carrier.tell('call.initiated', payload);
  await carrier.until(() => carrier.streams.length > before);
  const stream = carrier.streams.at(-1)!;
  await stream.until(() => stream.of('mark').length > 0);
  return stream;
}

async function callSip(): Promise<void> {
  const line = service.said('listening', ({ listener }) => listener === 'sip');
  const phone = await Phone.open(Number(String(line?.['address']).split(':').at(-1)));
  const asserted = [`P-Asserted-Identity: <sip:${caller}@127.0.0.1>`];
  expect((await phone.invite({ headers: asserted })).status).toBe(200);
  await service.says('call started', ({ call }) => call === phone.callId);
  await look();
  await phone.ask('BYE');
  phone.close();
}

/** A cold transfer that the carrier refuses, one to which nobody answers, and one that leads a caller away. */
async function transfersA(): Promise<void> {
  const { llm } = service.providers;
  const stream = await callA('CA1');
  const given = { destination: 'billing', reason: 'asked' };
  llm.script.push(sayAndCall('A moment.', 'transfer_call', given), answer('That did not work.'));
  api.replies.push(400);
  press(stream, '1#');
  await askedFor('CA1', 'transfer');
  await llm.until(() => llm.requests.length > 1);
  await stream.until(() => stream.of('mark').length > 2 && stream.handset.isIdle);
  llm.script.push(sayAndCall('Again.', 'transfer_call', given, 'call_b'));
  press(stream, '2#');
  await api.until(() => api.requests.length > 1);
  await api.dialled('CA1', 'busy');
  const back = api.streams.get('CA1')!;
  await back.until(() => back.of('mark').length > 0);
  back.stop();
}

/** A warm transfer, looked at by the desk, whose destination is a machine. */
async function transfersB(): Promise<void> {
  const stream = await callB('v3:one');
  const given = { destination: 'billing', mode: 'warm', summary: 'An invoice.' };
  service.providers.llm.script.push(sayAndCall('A moment.', 'transfer_call', given, 'call_c'));
  press(stream, '1#');
  const moved = (phase: string): Promise<Readonly<Record<string, unknown>>> =>
    service.says('a warm transfer has moved', (line) => line['phase'] === phase);
  const { transfer } = await moved('rung');
  stream.close();
  await look();
  await ask(`/transfers/${String(transfer)}/complete_warm`, {});
  const state = Buffer.from(`svc:leg:${String(transfer)}`).toString('base64');
  const leg = { call_control_id: 'v3:leg', client_state: state, from: called, to: billing };
  await carrier.tell('call.machine.detection.ended', { ...leg, result: 'machine' });
  await moved('back');
}

/** Calls that the service makes: one to a number that is not allowed, one that is refused, one that rings. */
async function outbound(): Promise<void> {
  await ask('/calls', { to: '+44205550100', carrier: 'carrier_a' });
  api.replies.push(400);
  await ask('/calls', { to: dialled, carrier: 'carrier_a' });
  const { id } = await ask('/calls', { to: dialled, carrier: 'carrier_a' });
  await ask('/calls', { to: dialled, carrier: 'carrier_a' });
  const form = { CallSid: api.newestMade, CallStatus: 'busy', From: called, To: dialled };
  await postEvent(service.address('carrier_a'), `/carrier_a/events/call/${String(id)}`, form);
  await ask(`/calls/${String(id)}`);
}

/** Everything that was written to the folder, by the path of the file. */
const files = (): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => {
      const bytes = readFileSync(path);
      return `${path} ${(path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1')}`;
    });

const startOf = (session: AgentSession): unknown => session.said('session.start')?.['call'];

describe('a phone number', () => {
  it('stands in no log line, trace, metric, tool result, recording, event of the agent link, page or answer', async () => {
    await start('on');
    await transfersA();
    await transfersB();
    await outbound();
    await callSip();
    await service.counted('svc_recordings_total{what="finished"}', 3);
    await collector.until(() => collector.spans.length > 3 && collector.metrics.length > 0);
    const events = agent.sessions.map((session) => JSON.stringify(session.events));
    expect(agent.sessions.length).toBeGreaterThan(3);
    expect(agent.sessions.map(startOf)).toContainEqual({ carrier: 'carrier_a', carrier_call_id: 'CA1' });
    const stored = files();
    expect(stored.some((text) => text.includes('facts.jsonl'))).toBe(true);
    expect(stored.some((text) => text.includes('transfers.jsonl'))).toBe(true);
    const all: Readonly<Record<string, readonly string[]>> = {
      ...{ 'the log': service.log.map((line) => JSON.stringify(line)), 'other output': service.text },
      ...{ 'answers and pages': told, 'events of the agent link': events, 'what is stored': stored },
      'traces and metrics': collector.sent.map((one) => JSON.stringify(one)),
      'what the model is asked': service.providers.llm.requests.map(({ body }) => JSON.stringify(body)),
    };
    for (const [where, texts] of Object.entries(all)) {
      expect(texts.length > 0 || where === 'other output', where).toBe(true);
      for (const text of texts) expect(canary.exec(text)?.input.slice(0, 2_000), where).toBeUndefined();
    }
    // It was there to be found.
    expect(JSON.stringify([api.requests, carrier.commands])).toMatch(canary);
  });

  it('of caller and called is told to the agent process where the operator wants that, and to no log', async () => {
    await start('off');
    const a = await callA('CA1');
    const b = await callB('v3:one');
    const [first, second] = await Promise.all([agent.session(0), agent.session(1)]);
    for (const session of [first, second])
      expect(startOf(session)).toMatchObject({ from: caller, to: called });
    for (const stream of [a, b]) stream.stop();
    await service.says('call ended', ({ call }) => call === 'CA1');
    expect(service.log.map((line) => JSON.stringify(line)).join('\n')).not.toMatch(canary);
  });
});

/**
 * The agent link (docs/reference/agent-link.md) on telephone calls of the running service: who calls, by which route, and `transfer` by the agent
 * process, with the carrier's side played by a fake.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { carrierEnv, FakeStream, postVoice, streamUrlOf } from '../../support/fakes/fake-twilio.ts';
import { TestService } from '../../support/process/service.ts';
import { accepting, RawAgent, type AgentSession } from '../../support/raw-agent.ts';
import { Phone } from '../../support/sip/phone.ts';
import { FakeTwilioApi } from '../../support/telephony/fake-twilio-api.ts';

let agent: RawAgent;
let routed: RawAgent;
let api: FakeTwilioApi;
let service: TestService;
const streams: FakeStream[] = [];

async function start(env: Readonly<Record<string, string>>): Promise<TestService> {
  const turn = `
[agent_link]
url = "${agent.url}"
caller_identity = true
[[agent_link.routes]]
name = "sales"
url = "${routed.url}"
`;
  const started = await TestService.start({
    greeting: 'Hello.',
    turn,
    env: { ...carrierEnv, ...api.env, SVC_LOG_LEVEL: 'debug', ...env },
  });
  api.listener = started.address('carrier_a');
  return started;
}

beforeAll(async () => {
  [agent, routed, api] = await Promise.all([RawAgent.start(), RawAgent.start(), new FakeTwilioApi().start()]);
  service = await start({
    SVC_REDACT_PHONE_NUMBERS: 'off',
    SVC_SIP_ADDR: '127.0.0.1:0',
    SVC_SIP_RTP_PORTS: '32000-32998',
  });
});

afterAll(async () => {
  for (const stream of streams) stream.close();
  await service.stop();
  await Promise.all([agent.close(), routed.close(), api.close()]);
});

let calls = 0;

interface Ringing {
  readonly callSid: string;
  readonly stream: FakeStream;
  readonly session: AgentSession;
}

/** A call of Twilio as its webhook leads to it, with its own words in the stream's start, and the link that it got. */
async function ring(
  by: RawAgent = agent,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Ringing> {
  const callSid = `CA0${(calls += 1)}`;
  const address = service.address('carrier_a');
  const twiml = await (await postVoice(address, callSid)).text();
  const named = [...twiml.matchAll(/<Parameter name="([^"]+)" value="([^"]*)"/g)];
  const own = Object.fromEntries(
    named.map(([, name = '', value = '']) => [name, value.replace('&#43;', '+')]),
  );
  const stream = new FakeStream(address, { callSid, url: streamUrlOf(twiml), streamSid: `MZ0${calls}` });
  streams.push(stream);
  api.streams.set(callSid, stream);
  await stream.until(() => stream.status !== 0);
  const at = by.sessions.length;
  stream.begin({ ...own, ...parameters });
  const session = await by.session(at);
  await session.says('session.start');
  return { callSid, stream, session };
}

const answered = (session: AgentSession, id: string) =>
  session.says('command.result', (event) => event['id'] === id);

const asked = (callSid: string) => api.requests.filter(({ path }) => path === `/Calls/${callSid}.json`);

describe('session.start: call', () => {
  it("carrier A: from, to and the carrier's id, and the call can be transferred", async () => {
    const { callSid, stream, session } = await ring();
    expect(session.said('session.start')).toMatchObject({
      capabilities: { transfer: true, tools: true },
      call: { from: '+15550100001', to: '+15550100002', carrier_call_id: callSid },
    });
    stream.stop();
    expect(await session.says('session.end')).toMatchObject({ reason: 'hangup' });
  });

  it('SIP: the numbers of the trunk, and no transfer', async () => {
    const listening = service.said('listening', (line) => line['listener'] === 'sip');
    const phone = await Phone.open(Number(String(listening?.['address']).split(':').at(-1)));
    const at = agent.sessions.length;
    const reply = phone.invite();
    const session = await agent.session(at);
    const opening = await session.says('session.start');
    expect(opening).toMatchObject({
      capabilities: { transfer: false },
      call: {
        from: expect.any(String) as string,
        to: expect.any(String) as string,
        carrier_call_id: phone.callId,
      },
    });
    await reply;
    await phone.ask('BYE');
    await session.closed();
    phone.close();
  });

  it('a WebSocket call has none, whatever its client claims', async () => {
    const at = agent.sessions.length;
    const call = await service.call({ metadata: { from: '+15550100009', to: '+15550100008' } });
    const session = await agent.session(at);
    expect(await session.says('session.start')).not.toHaveProperty('call');
    call.abandon();
    await session.closed();
  });
});

describe('Route choice', () => {
  it('the carrier A stream parameter agent_route names the route, which has its own caller_identity', async () => {
    const { stream, session } = await ring(routed, { agent_route: 'sales' });
    expect(session.said('session.start')).not.toHaveProperty('call');
    stream.stop();
    await session.closed();
  });

  it('an unknown route falls back to the default process', async () => {
    const { stream, session } = await ring(agent, { agent_route: 'nobody' });
    await service.says('a call names a route that is not there', ({ route }) => route === 'nobody');
    stream.stop();
    await session.closed();
  });
});

describe('transfer', () => {
  it("cold: asked of the carrier behind the bot's sentence, answered, and the link ends as transferred", async () => {
    const { callSid, stream, session } = await ring(agent);
    await session.says('turn.bot_started');
    session.send({ type: 'say', text: 'I connect you with billing now.' });
    const destination = '+15550100077';
    session.send({ type: 'transfer', id: 't1', destination, reason: 'a question of billing' });
    expect(await answered(session, 't1')).toMatchObject({ ok: true });
    expect(await session.says('session.end')).toMatchObject({ reason: 'transferred' });
    expect(await session.closed()).toBe(1000);
    // The carrier ends the stream, which is no caller who hangs up.
    const ended = await service.says('call ended', ({ call }) => call === callSid);
    expect(ended).toMatchObject({ end: 'engine', cause: 'transferred' });
    const types = session.events.map(({ type }) => type);
    expect(types.indexOf('command.result')).toBeGreaterThan(types.lastIndexOf('turn.bot_ended'));
    const [request, ...more] = asked(callSid);
    expect([request?.form['Twiml'], more]).toEqual([
      expect.stringContaining('<Number>+15550100077</Number>'),
      [],
    ]);
    expect(session.said('bot.tts_text')).toMatchObject({ text: 'I connect you with billing now.' });
    expect(stream.playedBytes / 8).toBeGreaterThan(300);
    const line = await service.says('the agent process transfers the call');
    expect(line['reason']).toBe('a question of billing');
  });

  it('the same id, given twice at once, is one transfer', async () => {
    const { callSid, session } = await ring();
    await session.says('turn.bot_ended');
    const transfer = { type: 'transfer', id: 'twice', destination: '+15550100077' };
    session.send(transfer);
    session.send(transfer);
    await session.says('session.end');
    expect(session.events.filter((event) => event['id'] === 'twice').map((event) => event['ok'])).toEqual([
      true,
      true,
    ]);
    expect(asked(callSid)).toHaveLength(1);
  });

  it('transfer_failed: the caller is still with the bot, and another one may be tried', async () => {
    const { callSid, session } = await ring();
    await session.says('turn.bot_ended');
    api.replies.push(404);
    session.send({ type: 'transfer', id: 'a', destination: '+15550100077' });
    expect(await answered(session, 'a')).toMatchObject({ ok: false, error: { code: 'transfer_failed' } });
    session.send({ type: 'say', id: 's', text: 'That did not work.' });
    expect(await answered(session, 's')).toMatchObject({ ok: true });
    session.send({ type: 'transfer', id: 'b', destination: '+15550100078' });
    expect(await answered(session, 'b')).toMatchObject({ ok: true });
    await session.closed();
    expect(asked(callSid)).toHaveLength(2);
  });

  it('outcome_unknown: the carrier may have taken it', async () => {
    const { callSid, stream, session } = await ring();
    await session.says('turn.bot_ended');
    api.replies.push(503);
    session.send({ type: 'transfer', id: 'a', destination: '+15550100077' });
    expect(await answered(session, 'a')).toMatchObject({ ok: false, error: { code: 'outcome_unknown' } });
    expect(asked(callSid)).toHaveLength(1);
    stream.stop();
    await session.closed();
  });

  it('unsupported: warm, where warm transfers are not enabled', async () => {
    const { callSid, stream, session } = await ring();
    session.send({ type: 'transfer', id: 'w', destination: '+15550100077', mode: 'warm' });
    expect(await answered(session, 'w')).toMatchObject({ ok: false, error: { code: 'unsupported' } });
    expect(asked(callSid)).toEqual([]);
    stream.stop();
    await session.closed();
  });

  it('a destination that is no E.164 number is refused with its rule, and nothing is asked', async () => {
    const { callSid, stream, session } = await ring();
    session.send({ type: 'transfer', id: 'x', destination: '0555 0100' });
    expect(await answered(session, 'x')).toMatchObject({ ok: false, error: { code: 'invalid_message' } });
    expect(asked(callSid)).toEqual([]);
    stream.stop();
    await session.closed();
  });

  it('no number of a caller or of a destination stands in a log line', () => {
    const log = service.log.map((line) => JSON.stringify(line)).join('\n');
    for (const number of ['5550100077', '5550100001', '5550100002']) expect(log).not.toContain(number);
  });
});

describe('while the server redacts phone numbers', () => {
  it("the carrier's id is sent, and no number", async () => {
    agent.onEvent = accepting();
    await service.stop();
    service = await start({});
    const { callSid, stream, session } = await ring();
    expect(session.said('session.start')?.['call']).toEqual({
      carrier: 'carrier_a',
      carrier_call_id: callSid,
    });
    stream.stop();
    await session.closed();
  });
});

/** Calls that the service makes through both carriers: a person, a machine with and without a message, refusals, and who may ask. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import { beep, joined, silence } from '../../support/audio/answers.ts';
import { carrierEnv, FakeStream, postEvent, streamUrlOf } from '../../support/fakes/fake-twilio.ts';
import { samplesOf } from '../../support/fakes/fake-speech.ts';
import { TestService } from '../../support/process/service.ts';
import { restarted, stopAll } from '../../support/process/succession.ts';
import { FakeTwilioApi } from '../../support/telephony/fake-twilio-api.ts';
import { FakeTelnyx } from '../../support/telephony/fake-telnyx.ts';

let service: TestService;
let api: FakeTwilioApi;
let telnyx: FakeTelnyx;
const streams: FakeStream[] = [];
const secret = 'o'.repeat(32);

beforeAll(async () => {
  api = await new FakeTwilioApi().start();
  telnyx = await new FakeTelnyx().start();
  service = await TestService.start({
    greeting: 'Hello {{metadata.name | you}}.',
    workers: 2,
    env: {
      ...{ ...carrierEnv, ...api.env, ...telnyx.env, SVC_CARRIER_B_CONNECTION_ID: 'conn-1' },
      ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: secret, SVC_LOG_LEVEL: 'debug' },
      ...{ SVC_OUTBOUND_FROM: '+15550100002', SVC_OUTBOUND_ALLOW: '+1555' },
    },
  });
  api.listener = service.address('carrier_a');
  telnyx.listener = service.address('carrier_b');
});

afterAll(async () => {
  for (const stream of streams) stream.close();
  await stopAll(service);
  await api.close();
  await telnyx.close();
});

type Fields = Readonly<Record<string, unknown>>;
let last = 10;
const newNumber = (): string => `+155501000${(last += 1)}`;

async function ask(
  path: string,
  {
    method = 'GET',
    body,
    headers = {},
  }: { method?: string; body?: Fields; headers?: Record<string, string> } = {},
): Promise<{ readonly status: number; readonly body: Fields }> {
  const response = await fetch(`http://${service.address('callback')}${path}`, {
    method,
    headers: { authorization: `Bearer ${secret}`, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Fields };
}

/** Makes a call; resolves with its id and the carrier's. */
async function make(
  carrier: string,
  more: Fields = {},
): Promise<{ readonly id: string; readonly call: string }> {
  const { status, body } = await ask('/calls', {
    method: 'POST',
    body: { to: newNumber(), carrier, ...more },
  });
  expect([status, body['phase']]).toEqual([202, 'ringing']);
  return { id: String(body['id']), call: String(body['call']) };
}

const viewOf = async (id: string): Promise<Fields> => (await ask(`/calls/${id}`)).body;

/** Twilio has found out who answered, and asks what to do. */
async function answered(id: string, call: string, by: string): Promise<string> {
  const form = { CallSid: call, AnsweredBy: by, From: '+15550100002', To: '+15550100077' };
  const response = await postEvent(service.address('carrier_a'), `/carrier_a/events/answered/${id}`, form);
  expect(response.status).toBe(200);
  return await response.text();
}

describe('a call by carrier A', () => {
  it('is made with answering machine detection, and a person talks with the agent', async () => {
    const { id, call } = await make('carrier_a', { metadata: { name: 'Ada' }, route: 'sales' });
    const { path, form } = api.requests.at(-1) ?? { path: '', form: {} };
    expect([path, form['From'], form['MachineDetection'], form['Timeout']]).toEqual([
      '/Calls.json',
      '+15550100002',
      'DetectMessageEnd',
      '30',
    ]);
    expect(form['Url']).toBe(`https://voice.example.com/carrier_a/events/answered/${id}`);
    const twiml = await answered(id, call, 'human');
    expect(twiml).toContain(
      '<Parameter name="name" value="Ada"/><Parameter name="agent_route" value="sales"/>',
    );
    const stream = new FakeStream(service.address('carrier_a'), { callSid: call, url: streamUrlOf(twiml) });
    streams.push(stream);
    await stream.until(() => stream.status !== 0);
    stream.begin({ name: 'Ada' });
    await stream.until(() => stream.pieces > 0);
    expect(service.providers.tts.inputs.join(' ')).toContain('Hello Ada.');
    expect((await viewOf(id))['phase']).toBe('person');
    stream.stop();
    const over = { CallSid: call, CallStatus: 'completed' };
    await postEvent(service.address('carrier_a'), `/carrier_a/events/call/${id}`, over);
    expect(await viewOf(id)).toMatchObject({ phase: 'over', end: 'talked' });
  });

  it('leaves a message behind the beep of a machine, and nothing with a fax or without a message', async () => {
    const first = await make('carrier_a', { voicemail: 'Please call <us>.', language: 'en-GB' });
    expect(await answered(first.id, first.call, 'machine_end_beep')).toContain(
      '<Response><Say language="en-GB">Please call &lt;us&gt;.</Say></Response>',
    );
    const second = await make('carrier_a');
    expect(await answered(second.id, second.call, 'machine_end_beep')).toContain('<Response></Response>');
    expect(await viewOf(second.id)).toMatchObject({ end: 'voicemail' });
    const fax = await make('carrier_a', { voicemail: 'Hello.' });
    expect(await answered(fax.id, fax.call, 'fax')).toContain('<Response></Response>');
  });

  it('that another process made is connected when a person has answered, and is ended at a machine', async () => {
    expect(await answered('somebody-elses', 'CA777', 'human')).toContain('<Stream url="wss://');
    expect(await answered('somebody-elses', 'CA777', 'machine_end_beep')).toContain('<Response></Response>');
  });

  it('that the carrier refuses has not happened; one without an answer may ring', async () => {
    api.replies.push(400);
    const to = newNumber();
    const refused = await ask('/calls', { method: 'POST', body: { to, carrier: 'carrier_a' } });
    expect([refused.status, refused.body['code']]).toEqual([502, 'refused']);
    api.replies.push(503);
    const unknown = await ask('/calls', { method: 'POST', body: { to, carrier: 'carrier_a' } });
    expect([unknown.status, unknown.body['phase']]).toEqual([202, 'ringing']);
    expect(api.requests.filter(({ form }) => form['To'] === to).length).toBe(2);
  });
});

describe('a call that the service listens to itself', () => {
  const message = 'This is Blue Door. Please call us back.';
  const greetingText = 'This is the mailbox of Ada. Speak after the tone.';
  const heardAs = (id: string, heard: string): Promise<Fields> =>
    service.says(
      'who has answered was listened to',
      (line) => line['outbound'] === id && line['heard'] === heard,
    );

  /** Somebody has answered: the stream of the call. */
  async function pickedUp(given: Fields): Promise<{ id: string; stream: FakeStream }> {
    const { id, call } = await make('carrier_a', { machine_detection: 'own', ...given });
    expect(api.requests.at(-1)?.form['MachineDetection']).toBeUndefined();
    const form = { CallSid: call, From: '+15550100002', To: '+15550100077' };
    const response = await postEvent(service.address('carrier_a'), `/carrier_a/events/answered/${id}`, form);
    const twiml = await response.text();
    expect(twiml).toContain(`<Parameter name="outbound_screening" value="${id}"/>`);
    const stream = new FakeStream(service.address('carrier_a'), { callSid: call, url: streamUrlOf(twiml) });
    streams.push(stream);
    await stream.until(() => stream.status !== 0);
    stream.begin({ outbound_screening: id });
    return { id, stream };
  }

  const synthesized = async (text: string): Promise<Int16Array> =>
    (await loadFlite())(text, { voice: 'slt', speed: 1 });
  const kill = (line: Fields): void => void process.kill(Number(line['pid']), 'SIGKILL');

  it('hears a person, whose first words are answered with the greeting and known to the next answer', async () => {
    const words = [await synthesized('Hello?'), await synthesized('Who is calling?')] as const;
    const { stt, tts, llm } = service.providers;
    stt.utterances.splice(0, Infinity, 'Hello?', 'Who is calling?');
    const before = tts.inputs.length;
    const { id, stream } = await pickedUp({ metadata: {} });
    await stream.say(joined([silence(300), words[0]]));
    await heardAs(id, 'human');
    await stream.until(() => stream.pieces > 0);
    expect((await viewOf(id))['phase']).toBe('person');
    expect(tts.inputs.slice(before).filter((text) => text === 'Hello you.').length).toBe(1);
    await stream.say(words[1]);
    await stream.until(() => stream.pieces > 1);
    expect(llm.requests.at(-1)?.body['messages']).toMatchObject([
      ...[{}, { content: 'Hello?' }, { content: 'Hello you.' }, { content: 'Who is calling?' }],
    ]);
    stream.stop();
    // The carrier's word of that is lost.
    const isOver = (line: Fields): boolean => line['outbound'] === id && line['end'] === 'talked';
    await service.says('an outbound call has moved', isOver);
  });

  it('leaves its message behind the beep, once, although its worker dies before and within', async () => {
    const { id, stream } = await pickedUp({ voicemail: message });
    await stream.say(await synthesized(greetingText));
    kill(await heardAs(id, 'machine'));
    await service.says(
      'a call is listened to',
      (line) => line['outbound'] === id && line['isMachine'] === true,
    );
    await stream.say(joined([silence(300), beep(1_000, 400), silence(400)]));
    await heardAs(id, 'beep');
    await stream.until(() => stream.handset.heardMs >= 500);
    const { call } = await viewOf(id);
    kill(await service.says('call started', (line) => line['call'] === call));
    await stream.until(() => stream.closeCode !== undefined);
    expect(Math.abs(stream.handset.heardMs - samplesOf(message) / 24)).toBeLessThanOrEqual(60);
    expect(await viewOf(id)).toMatchObject({ phase: 'over', end: 'message_left' });
  });

  it('says nothing to a machine without a message', async () => {
    const { id, stream } = await pickedUp({});
    stream.handset.say(await synthesized(greetingText));
    await stream.until(() => stream.closeCode !== undefined);
    expect(stream.handset.heardMs).toBe(0);
    expect(await viewOf(id)).toMatchObject({ phase: 'over', end: 'voicemail' });
  });
});

describe('a call by carrier B', () => {
  const state = (id: string): string => Buffer.from(`svc:out:${id}`).toString('base64');
  const tell = async (type: string, id: string, more: Fields = {}): Promise<void> => {
    const payload = { call_control_id: 'v3:leg', client_state: state(id), ...more };
    expect(await telnyx.tell(type, payload)).toBe(200);
  };

  it('is made with answering machine detection, and a person talks with the agent', async () => {
    const { id } = await make('carrier_b', { metadata: { name: 'Eve' } });
    expect(telnyx.commands.at(-1)).toMatchObject({
      path: '/calls',
      fields: { connection_id: 'conn-1', from: '+15550100002', answering_machine_detection: 'greeting_end' },
    });
    await tell('call.answered', id);
    await tell('call.machine.detection.ended', id, { result: 'human' });
    await telnyx.until(() => telnyx.streams.length > 0);
    const stream = telnyx.streams.at(-1);
    await stream?.until(() => stream.pieces > 0);
    expect(telnyx.of('streaming_start').length).toBe(1);
    expect(service.providers.tts.inputs.join(' ')).toContain('Hello Eve.');
    expect((await ask(`/calls/${id}/hang_up`, { method: 'POST' })).status).toBe(202);
    await telnyx.until(() => telnyx.of('hangup').length > 0);
    expect((await ask(`/calls/${id}/hang_up`, { method: 'POST' })).status).toBe(409);
    await tell('call.hangup', id, { hangup_cause: 'normal_clearing' });
    expect(await viewOf(id)).toMatchObject({ phase: 'over', end: 'talked' });
  });

  it('leaves a message behind the beep of a machine, and hangs up', async () => {
    const { id } = await make('carrier_b', { voicemail: 'Please call us.' });
    await tell('call.machine.detection.ended', id, { result: 'machine' });
    expect(telnyx.of('speak').length).toBe(0);
    const before = telnyx.of('hangup').length;
    await tell('call.machine.greeting.ended', id, { result: 'beep_detected' });
    await telnyx.until(() => telnyx.of('speak').length > 0);
    expect(telnyx.of('speak')[0]?.fields).toMatchObject({ payload: 'Please call us.', language: 'en-US' });
    await tell('call.speak.ended', id);
    await telnyx.until(() => telnyx.of('hangup').length > before);
    expect(await viewOf(id)).toMatchObject({ end: 'message_left' });
  });
});

describe('POST /calls', () => {
  const post = (body: Fields, headers: Record<string, string> = {}): ReturnType<typeof ask> =>
    ask('/calls', { method: 'POST', body, headers });

  it.each([
    ['without the secret', { to: '+15550100099' }, { authorization: 'Bearer x' }, 401, 'unauthorized'],
    [
      'from a page of another site',
      { to: '+15550100099' },
      { 'sec-fetch-site': 'cross-site' },
      403,
      'other_site',
    ],
    [
      'to a number that is not allowed',
      { to: '+442079460000', carrier: 'carrier_a' },
      {},
      403,
      'not_allowed',
    ],
    ['without a carrier, where there are two', { to: '+15550100099' }, {}, 400, 'carrier'],
    ['that cannot be read', { to: 5 }, {}, 400, 'bad_request'],
    ['with a key that is none', { to: '+15550100099' }, { 'idempotency-key': 'a b' }, 400, 'bad_request'],
    ['that is too large', { to: 'x'.repeat(40_000) }, {}, 413, 'too_large'],
  ])('%s is refused', async (_, body, headers, status, code) => {
    const answer = await post(body, headers);
    expect([answer.status, answer.body['code']]).toEqual([status, code]);
    expect(JSON.stringify(answer.body)).not.toContain('79460000');
  });

  it('no number stands in a log line, a metric or an answer', async () => {
    const { body } = await ask('/calls');
    const metrics = await (await fetch(`http://${service.address('health')}/metrics`)).text();
    expect(metrics).toContain('svc_outbound_calls_total{carrier="carrier_a",end="talked"} 2');
    for (const text of [service.text.join('\n'), metrics, JSON.stringify(body)])
      expect(text).not.toMatch(/555010|79460000/);
  });
});

describe('a call that rings while another supervisor takes over', () => {
  it('is made once whoever is asked again, and its person is greeted by name', async () => {
    const body = { to: newNumber(), carrier: 'carrier_a', metadata: { name: 'Ada' } };
    const asking = { method: 'POST', body, headers: { 'idempotency-key': 'across' } };
    const made = await ask('/calls', asking);
    const before = api.requests.length;
    await restarted(service);
    // What is asked on a connection of the old supervisor's is to be asked again on a new one.
    await vi.waitFor(async () => expect(await ask('/calls', asking)).toEqual(made));
    expect(api.requests.length).toBe(before);
    const twiml = await answered(String(made.body['id']), String(made.body['call']), 'human');
    expect(twiml).toContain('<Parameter name="name" value="Ada"/>');
  });
});

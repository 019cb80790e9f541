/**
 * Callers whom nobody took (decision 0071), in real processes: they come back to the agent, which goes on where it was, whatever was killed
 * meanwhile; a caller who has talked with the destination does not come back.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answer, sayAndCall } from '../../../support/fakes/fake-chat.ts';
import { carrierEnv, FakeStream, postVoice, streamUrlOf } from '../../../support/fakes/fake-twilio.ts';
import { TestService, type TestServiceOptions } from '../../../support/process/service.ts';
import { stopAll } from '../../../support/process/succession.ts';
import { FakeTwilioApi } from '../../../support/telephony/fake-twilio-api.ts';
import { FakeTelnyx, type FakeBStream } from '../../../support/telephony/fake-telnyx.ts';

let service: TestService;
let api: FakeTwilioApi;
let carrier: FakeTelnyx;
const greeting = 'Hello there.';
const returnLine = 'Sorry, nobody was free.';
const turn = `
[telephony]
return_line = "${returnLine}"
[telephony.destinations]
billing = "+15550100077"
`;

beforeEach(async () => {
  [api, carrier] = await Promise.all([new FakeTwilioApi().start(), new FakeTelnyx().start()]);
});

afterEach(async () => {
  await stopAll(service);
  await Promise.all([api.close(), carrier.close()]);
});

async function start(options: TestServiceOptions = {}): Promise<void> {
  const env = { ...carrierEnv, ...api.env, ...carrier.env, SVC_CARRIER_A_RESUME_STREAM: '1' };
  service = await TestService.start({
    ...{ turn, greeting, agent: 'farewell = "Bye."', prompt: 'You talk with {{metadata.name|nobody}}.' },
    ...options,
    env: { ...env, ...options.env },
  });
  api.listener = service.address('carrier_a');
  carrier.listener = service.address('carrier_b');
}

type Stream = FakeStream | FakeBStream;

/** Keys are pressed, and the agent gives the caller over. */
async function givenOver(stream: Stream): Promise<void> {
  await stream.until(() => stream.pieces > 0);
  service.providers.llm.script.push(sayAndCall('One moment.', 'transfer_call', { destination: 'billing' }));
  for (const digit of '1#') stream.press(digit);
  await service.says('the carrier was asked', (line) => line['command'] === 'transfer');
  await service.says('call ended');
}

async function callOfA(): Promise<FakeStream> {
  const callSid = 'CA0001';
  const response = await postVoice(service.address('carrier_a'), callSid);
  const stream = new FakeStream(service.address('carrier_a'), {
    callSid,
    url: streamUrlOf(await response.text()),
  });
  api.streams.set(callSid, stream);
  await stream.until(() => stream.status !== 0);
  stream.begin({ name: 'Ada' });
  return stream;
}

const callId = 'v3:caller-1';
async function callOfB(): Promise<FakeBStream> {
  await carrier.tell('call.initiated', { call_control_id: callId, direction: 'incoming' });
  await carrier.until(() => carrier.streams.length > 0);
  return newestOfB();
}

function newestOfB(): FakeBStream {
  const stream = carrier.streams.at(-1);
  if (stream === undefined) throw new Error('no stream');
  return stream;
}

/** Telnyx tells of the destination's leg, as it was told to name it. */
const legOfB = (type: string, more: object = {}): Promise<number> =>
  carrier.tell(type, {
    call_control_id: 'v3:leg',
    client_state: carrier.of('transfer').at(-1)?.fields['target_leg_client_state'],
    ...more,
  });

/** The caller is on a stream of the agent, hears why, and is known. */
async function isBack(stream: Stream, { knows = true } = {}): Promise<void> {
  await stream.until(() => stream.pieces > 0);
  service.providers.llm.script.push(answer('Fine.'));
  const before = service.providers.llm.requests.length;
  for (const digit of '2#') stream.press(digit);
  await service.providers.llm.until(() => service.providers.llm.requests.length > before);
  const messages = JSON.stringify(service.providers.llm.requests.at(-1)?.body['messages']);
  const said = (text: string): number => messages.split(text).length - 1;
  // What was heard before is known, and nothing is said twice.
  expect([greeting, 'keys: 1', 'One moment.', returnLine].map(said)).toEqual(
    knows ? [1, 1, 1, 1] : [0, 0, 0, 1],
  );
}

describe('carrier A: the destination of a cold transfer', () => {
  it('is busy: the caller is back, with the conversation and what came with the call', async () => {
    await start();
    await givenOver(await callOfA());
    expect(await api.dialled('CA0001', 'busy')).toContain('<Connect><Stream url="wss://');
    const stream = api.streams.get('CA0001');
    if (stream === undefined) throw new Error('no stream');
    await isBack(stream);
    for (const { body } of service.providers.llm.requests)
      expect(String((body['messages'] as { content: unknown }[])[0]?.content)).toBe('You talk with "Ada".');
  });

  it('has talked with the caller: the call is over', async () => {
    await start();
    await givenOver(await callOfA());
    expect(await api.dialled('CA0001', 'completed')).not.toContain('<Connect>');
  });

  it('does not answer, and the service was killed meanwhile: the next one has the caller, and does not greet', async () => {
    await start();
    await givenOver(await callOfA());
    service.signal('SIGKILL');
    await service.ended;
    await service.providers.close();
    await start();
    await api.dialled('CA0001', 'no-answer');
    const stream = api.streams.get('CA0001');
    if (stream === undefined) throw new Error('no stream');
    await isBack(stream, { knows: false });
  });

  it('does not answer, and the worker was killed while the carrier was asked: the caller is back', async () => {
    await start({ workers: 2 });
    const stream = await callOfA();
    await stream.until(() => stream.pieces > 0);
    service.providers.llm.script.push(sayAndCall('One moment.', 'transfer_call', { destination: 'billing' }));
    for (const digit of '1#') stream.press(digit);
    await api.until(() => api.requests.length > 0);
    process.kill(Number((await service.says('call started'))['pid']), 'SIGKILL');
    await service.says('the carrier was asked', (line) => line['command'] === 'transfer');
    await api.dialled('CA0001', 'no-answer');
    const again = api.streams.get('CA0001');
    if (again === undefined) throw new Error('no stream');
    await isBack(again);
    expect(api.requests.length).toBe(1);
  });
});

describe('carrier B: the destination of a cold transfer', () => {
  it('does not answer: the caller is back, with the conversation', async () => {
    await start();
    await givenOver(await callOfB());
    await legOfB('call.hangup', { hangup_cause: 'timeout' });
    await carrier.until(() => carrier.streams.length > 1);
    await isBack(newestOfB());
    expect(carrier.of('hangup').length).toBe(0);
  });

  it('has talked with the caller: nobody is brought back', async () => {
    await start();
    await givenOver(await callOfB());
    await legOfB('call.answered');
    await legOfB('call.hangup', { hangup_cause: 'normal_clearing' });
    expect(carrier.of('streaming_start').length).toBe(1);
  });

  it('was refused once the stream had been stopped: the caller is back', async () => {
    await start();
    carrier.refusals.set('transfer', [
      { status: 422, code: '90045' },
      { status: 422, code: '10015' },
    ]);
    const stream = await callOfB();
    await stream.until(() => stream.pieces > 0);
    service.providers.llm.script.push(sayAndCall('One moment.', 'transfer_call', { destination: 'billing' }));
    for (const digit of '1#') stream.press(digit);
    await carrier.until(() => carrier.of('transfer').length > 1);
    stream.stop();
    await carrier.until(() => carrier.streams.length > 1);
    await isBack(newestOfB());
  });

  it('does not answer, and the service was killed meanwhile: the next one brings the caller back', async () => {
    await start();
    await givenOver(await callOfB());
    service.signal('SIGKILL');
    await service.ended;
    await service.providers.close();
    await start();
    await legOfB('call.hangup', { hangup_cause: 'timeout' });
    await carrier.until(() => carrier.streams.length > 1);
    await isBack(newestOfB(), { knows: false });
  });
});

/** Transfers and keys (docs/telephony.md) on calls of Twilio against the whole service: cold transfers and keys, and what the caller notices. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answer, sayAndCall } from '../../../support/fakes/fake-chat.ts';
import { carrierEnv, FakeStream, postVoice, streamUrlOf } from '../../../support/fakes/fake-twilio.ts';
import { FakeTwilioApi } from '../../../support/telephony/fake-twilio-api.ts';
import { TestService, type TestServiceOptions } from '../../../support/process/service.ts';
import { stopAll } from '../../../support/process/succession.ts';

let service: TestService;
let api: FakeTwilioApi;
const streams: FakeStream[] = [];

const telephony = `
[telephony]
settle_timeout_ms = 8000
caller_id = "+15550100002"
[telephony.destinations]
billing = "+15550100077"
`;

beforeEach(async () => {
  api = await new FakeTwilioApi().start();
});

afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  await stopAll(service);
  await api.close();
});

async function start(options: TestServiceOptions = {}): Promise<void> {
  const env = { ...carrierEnv, ...api.env, SVC_LOG_LEVEL: 'debug', ...options.env };
  service = await TestService.start({ turn: telephony, ...options, env });
  api.listener = service.address('carrier_a');
}

async function call(callSid = 'CA0001'): Promise<FakeStream> {
  const response = await postVoice(service.address('carrier_a'), callSid);
  const stream = new FakeStream(service.address('carrier_a'), {
    callSid,
    url: streamUrlOf(await response.text()),
  });
  streams.push(stream);
  api.streams.set(callSid, stream);
  await stream.until(() => stream.status !== 0);
  stream.begin();
  return stream;
}

let made = 0;
const transfer = (said: string): ReturnType<typeof answer> =>
  sayAndCall(said, 'transfer_call', { destination: 'billing', summary: 'an invoice' }, `call_${(made += 1)}`);

describe('transfer_call, cold, carrier A', () => {
  it('is asked of the carrier once the hand-off sentence was heard, and the bot leaves', async () => {
    await start();
    const stream = await call();
    service.providers.llm.script.push(transfer('I will connect you with billing now.'));
    for (const digit of '1#') stream.press(digit);
    await api.until(() => api.requests.length > 0);
    const playedMs = stream.playedBytes / 8;
    expect(playedMs).toBeGreaterThan(500);
    expect(api.requests[0]?.path).toBe('/Calls/CA0001.json');
    expect(api.twiml(0)).toContain(
      '<Response><Dial callerId="+15550100002" answerOnBridge="true" timeout="30"><Number>+15550100077</Number></Dial></Response>',
    );
    await service.says('the carrier was asked', (line) => line['outcome'] === 'ok');
    await service.says('call ended');
    expect(api.requests.length).toBe(1);
    expect(service.providers.llm.requests.length).toBe(1);
    const log = service.log.map((line) => JSON.stringify(line)).join('\n');
    for (const number of ['5550100077', '5550100001', '5550100002']) expect(log).not.toContain(number);
  });

  it('is refused by the carrier: the model is told, and may try again', async () => {
    await start();
    api.replies.push(404);
    const stream = await call();
    service.providers.llm.script.push(transfer('One moment.'), transfer('I try again.'));
    for (const digit of '1#') stream.press(digit);
    await api.until(() => api.requests.length > 1);
    await service.says('call ended');
    const [, second] = service.providers.llm.requests;
    expect(JSON.stringify(second?.body['messages'])).toContain('the transfer was not made (rejected)');
    expect(JSON.stringify(second?.body['messages'])).not.toContain('5550100077');
  });

  it('has an unknown outcome where the carrier breaks off: it is not repeated', async () => {
    await start();
    api.replies.push(503);
    const stream = await call();
    service.providers.llm.script.push(transfer('One moment.'), transfer('Again.'), answer('Sorry.'));
    for (const digit of '1#') stream.press(digit);
    await service.providers.llm.until(() => service.providers.llm.requests.length > 2);
    const [, second, third] = service.providers.llm.requests;
    expect(JSON.stringify(second?.body['messages'])).toContain('outcome_unknown');
    expect(JSON.stringify(third?.body['messages'])).toContain('there is one in a call');
    expect(api.requests.length).toBe(1);
  });

  it('goes on in another worker where its own dies: asked once, and the caller is given over', async () => {
    await start({ workers: 2 });
    api.replies.push('silent');
    const stream = await call();
    service.providers.llm.script.push(transfer('I will connect you.'));
    for (const digit of '1#') stream.press(digit);
    await api.until(() => api.requests.length > 0);
    process.kill(Number((await service.says('call started'))['pid']), 'SIGKILL');
    await service.says('the carrier was asked', (line) => line['outcome'] === 'unknown');
    expect(api.requests.length).toBe(1);
  });
});

describe('send_dtmf, carrier A', () => {
  const press = sayAndCall('I press one.', 'send_dtmf', { digits: '1wD#' });

  it('is not offered unless the stream may be resumed', async () => {
    await start();
    const stream = await call();
    service.providers.llm.script.push(answer('Hello.'));
    for (const digit of '1#') stream.press(digit);
    await service.providers.llm.until(() => service.providers.llm.requests.length > 0);
    const tools = JSON.stringify(service.providers.llm.requests[0]?.body['tools']);
    expect(tools).toContain('transfer_call');
    expect(tools).not.toContain('send_dtmf');
  });

  it('presses the keys, and the conversation goes on in the stream that comes back', async () => {
    await start({ env: { SVC_CARRIER_A_RESUME_STREAM: '1' }, greeting: 'Hello there.' });
    const stream = await call();
    await stream.until(() => stream.pieces > 0);
    service.providers.llm.script.push(press, answer('We are through.'), answer('Yes.'));
    for (const digit of '7#') stream.press(digit);
    await api.until(() => api.requests.length > 0 && api.streams.get('CA0001') !== stream);
    expect(api.twiml(0)).toContain('<Play digits="1wD#"/><Connect><Stream url="wss://');
    const second = api.streams.get('CA0001');
    await second?.until(() => second.status === 101);
    await service.says(
      'call started',
      (line) =>
        service.log.filter(({ msg }) => msg === 'call started').length > 1 && line['call'] === 'CA0001',
    );
    const before = service.providers.llm.requests.length;
    for (const digit of '8#') second?.press(digit);
    await service.providers.llm.until(() => service.providers.llm.requests.length > before);
    const messages = JSON.stringify(service.providers.llm.requests.at(-1)?.body['messages']);
    expect(messages).toContain('pressed the keys: 7');
    expect(messages).toContain('pressed the keys: 8');
    expect(messages).toContain('Hello there.');
    expect(messages).toContain('[The keys were sent: 1wD#]');
    expect(service.said('call ended')).toMatchObject({ end: 'engine', cause: 'keys' });
  });
});

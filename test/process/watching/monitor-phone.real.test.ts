/** Operators in a telephone call: heard on both sides, through the death of its worker, and written down in its record. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import { KeptRecords } from '../../support/calls/kept.ts';
import { answer } from '../../support/fakes/fake-chat.ts';
import { carrierEnv } from '../../support/fakes/fake-twilio.ts';
import { TestOperator } from '../../support/process/operator.ts';
import { beforeAskingAgain, TestService } from '../../support/process/service.ts';
import { FakeTwilioApi } from '../../support/telephony/fake-twilio-api.ts';
import { phoneAtA, type Stream } from '../../support/telephony/phones.ts';

const token = 'take-over-token';
const kept = new KeptRecords();
let api: FakeTwilioApi;
let service: TestService;
let question: Int16Array;

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 });
  api = await new FakeTwilioApi().start();
  service = await TestService.start({
    ...{ turn: 'speculate = false', greeting: 'Hello, harbour office.', workers: 2 },
    env: {
      ...{ ...carrierEnv, ...api.env, ...kept.env, SVC_CARRIER_A_RESUME_STREAM: '1' },
      ...{ SVC_LIVE_TOKEN: 'live-token', SVC_MONITOR_TAKE_OVER_TOKEN: token },
    },
  });
  api.listener = service.address('carrier_a');
});

afterAll(async () => {
  await service.stop();
  await api.close();
  kept.remove();
});

const operator = (call: string): TestOperator =>
  new TestOperator(`ws://${service.address('health')}/live/calls/${call}/monitor`, token, { by: 'Maria' });

/** Asks again until the worker that has taken the call up lets the operator in. */
async function comesBack(call: string): Promise<TestOperator> {
  for (;;) {
    const one = operator(call);
    await one.until(() => one.closed !== undefined || one.told.length > 0);
    if (one.closed === undefined) return one;
    await beforeAskingAgain();
  }
}

/** So much more is heard on the telephone. */
async function heard(stream: Stream, ms: number): Promise<void> {
  const before = stream.handset.heardMs;
  await stream.until(() => stream.handset.heardMs >= before + ms);
}

it('takes a call of carrier A over, keeps it in the next worker, and hands it back', async () => {
  const { stt, llm } = service.providers;
  const stream = await phoneAtA(service, api).call('CA1');
  const call = String((await service.says('call started'))['call']);
  const one = operator(call);
  expect(await one.ready()).toMatchObject({ call, role: 'take_over', rate: 8_000 });
  await one.until(() => one.heard.agent > 300);
  stt.utterances.push('what time is it');
  llm.script.push(answer('It is noon.'));
  await stream.say(question);
  await one.until(() => one.texts('bot.text').length > 0);
  expect(one.heard.caller).toBeGreaterThan(300);
  one.send({ type: 'whisper', id: 'w', text: 'Offer tea.' });
  expect(await one.answer('w')).toBe('done');
  one.send({ type: 'take_over', at: 'once' });
  await one.takeover('operator');
  stt.utterances.push('hello I am Maria');
  await Promise.all([one.speak(1_200), heard(stream, 800)]);
  await one.speak(1_200, 0);
  await one.until(() => one.texts('operator.text').length > 0);

  const worker = Number(service.said('call started')?.['pid']);
  process.kill(worker, 'SIGKILL');
  await service.says('call taken up');
  const again = await comesBack(call);
  again.send({ type: 'take_over', at: 'once' });
  expect(await again.takeover('operator')).toMatchObject({ yours: true });
  await Promise.all([again.speak(1_200), heard(stream, 800)]);
  stt.utterances.push('my order is late');
  await stream.say(question);
  await again.until(() => again.texts('user.text').length > 0);
  const asked = llm.requests.length;
  llm.script.push(answer('It comes tomorrow.'));
  again.send({ type: 'hand_back', note: 'Order 7 comes tomorrow.' });
  await llm.until(() => llm.requests.length > asked);
  await heard(stream, 300);
  const texts = JSON.stringify(llm.requests.at(-1)?.body['messages']);
  for (const part of ['hello I am Maria', 'my order is late', 'Order 7 comes tomorrow.', 'Offer tea.'])
    expect(texts).toContain(part);
  stream.stop();

  const record = await kept.of(call);
  expect(record).toMatchObject({ transport: 'carrier_a', takeovers: [{}] });
  expect(record.operators.map(({ role, name, until_ms }) => [role, name, until_ms !== undefined])).toEqual([
    ['listen', 'Maria', false],
    ['whisper', 'Maria', false],
    ['take_over', 'Maria', false],
    ['listen', 'Maria', true],
    ['take_over', 'Maria', true],
  ]);
  expect(record.transcript.map(({ role, text }) => `${role}: ${text}`)).toContain(
    'operator: hello I am Maria',
  );
  expect(JSON.stringify(record)).not.toContain('Offer tea.');
  const audits = service.log.filter(({ msg }) => msg === 'an operator and a call');
  expect(audits.every((line) => line['audit'] === true)).toBe(true);
  expect(audits.map((line) => line['what'])).toEqual([
    ...['listens', 'whispers', 'asks for the call', 'takes over'],
    ...['listens', 'asks for the call', 'takes over', 'hands back', 'leaves'],
  ]);
}, 90_000);

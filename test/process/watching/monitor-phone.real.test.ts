/** Operators in a telephone call: heard on both sides, through the death of its worker, and written down in its record. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import { writeWav } from '../../../shared/audio/wav.ts';
import { chromiumMissing, openChromium } from '../../support/chromium.ts';
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
/** What the operator says in a browser. */
let voice: Int16Array;

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 });
  voice = flite('Hello, my name is Maria, and I am a person. '.repeat(12), { voice: 'slt', speed: 1 });
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
  await service.says('an operator and a call', ({ what }) => what === 'leaves');
  const audits = service.log.filter(({ msg }) => msg === 'an operator and a call');
  expect(audits.every((line) => line['audit'] === true)).toBe(true);
  expect(audits.map((line) => line['what'])).toEqual([
    ...['listens', 'whispers', 'asks for the call', 'takes over'],
    ...['listens', 'asks for the call', 'takes over', 'hands back', 'leaves'],
  ]);
}, 90_000);

it.skipIf(chromiumMissing !== undefined)(
  `does the same from a real browser ${chromiumMissing ?? ''}`,
  async () => {
    const { stt, llm } = service.providers;
    await service.readyWhen((body) => body['workers'] === 2 && body['connections'] === 0);
    const folder = mkdtempSync(join(tmpdir(), 'svc-operator-'));
    writeFileSync(join(folder, 'operator.wav'), writeWav(voice, 16_000));
    const chromium = await openChromium(join(folder, 'operator.wav'));
    try {
      const { page } = chromium;
      const stream = await phoneAtA(service, api).call('CA2');
      await heard(stream, 500);
      const call = String(service.said('call started')?.['call']);
      await page.goto(`http://${service.address('health')}/live`);
      await page.getByLabel('Token', { exact: true }).fill('live-token');
      await page.getByLabel('Token for listening').fill(token);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: `Listen to call ${call}` }).click();
      const state = page.locator('#monitor-state');
      await expect.poll(() => state.textContent(), { timeout: 20_000 }).toContain('You are listening');
      await page.getByRole('button', { name: 'Take over' }).click();
      await expect.poll(() => state.textContent(), { timeout: 20_000 }).toContain('You speak to the caller');
      await heard(stream, 1_000);

      const worker = Number(service.said('call started')?.['pid']);
      process.kill(worker, 'SIGKILL');
      await service.says(
        'an operator and a call',
        ({ what, pid }) => what === 'takes over' && pid !== worker,
      );
      await expect.poll(() => state.textContent(), { timeout: 20_000 }).toContain('You speak to the caller');
      await heard(stream, 1_000);
      stt.utterances.push('my parcel is lost');
      await stream.say(question);
      await expect
        .poll(() => page.getByRole('log').textContent(), { timeout: 20_000 })
        .toContain('Caller: my parcel is lost');
      const asked = llm.requests.length;
      llm.script.push(answer('I look for it.'));
      await page.getByLabel('Note for the agent').fill('Be kind.');
      await page.getByRole('button', { name: 'Hand back' }).click();
      await llm.until(() => llm.requests.length > asked);
      expect(JSON.stringify(llm.requests.at(-1)?.body)).toContain('Note of the person: Be kind.');
      await expect.poll(() => state.textContent(), { timeout: 20_000 }).toContain('You are listening');
      stream.stop();
      await expect.poll(() => state.textContent(), { timeout: 20_000 }).toBe('The call is over.');
      const { operators, takeovers } = await kept.of(call);
      expect(takeovers).toHaveLength(1);
      expect(operators.map(({ role }) => role)).toEqual(['listen', 'take_over', 'listen', 'take_over']);
    } finally {
      await chromium.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  90_000,
);

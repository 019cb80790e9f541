/** Operators in the call of a model that hears and speaks by itself. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import { FakeOpenAiRealtime } from '../../support/fakes/fake-openai-realtime.ts';
import { loudMs, TestOperator } from '../../support/process/operator.ts';
import { TestService } from '../../support/process/service.ts';

const token = 'take-over-token';
let vendor: FakeOpenAiRealtime;
let service: TestService;
let question: Int16Array;

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 });
  vendor = new FakeOpenAiRealtime();
  await vendor.start();
  service = await TestService.start({
    tables: `[realtime]
provider = "openai_realtime"
api_key_env = "MODEL_KEY"
[realtime.openai_realtime]
base_url = "${vendor.baseUrl}"
`,
    env: { MODEL_KEY: 'k', SVC_LIVE_TOKEN: 'live-token', SVC_MONITOR_TAKE_OVER_TOKEN: token },
  });
});

afterAll(async () => {
  await service.stop();
  await vendor.close();
});

const answersAsked = (): number =>
  vendor.sessions.reduce((sum, one) => sum + one.of('response.create').length, 0);

/** What the newest session was told, in order: texts, and turns of the caller, which it hears. */
const told = (): string[] =>
  vendor.last.heard.flatMap((event) => {
    if (event.type === 'input_audio_buffer.commit') return ['(the caller)'];
    return event.type === 'conversation.item.create' ? [JSON.stringify(event.item)] : [];
  });

it('silences the model, which knows afterwards what both said', async () => {
  const caller = await service.call();
  vendor.replies.push({ items: [{ speech: 'It is noon.', ms: 600 }] });
  service.providers.stt.utterances.push('what time is it');
  await caller.say(question);
  await caller.next(({ type }) => type === 'mark-played');
  const path = `/live/calls/${caller.callId}/monitor`;
  const one = new TestOperator(`ws://${service.address('health')}${path}`, token);
  await one.ready();
  one.send({ type: 'take_over' });
  await one.takeover('operator');
  const [asked, heard] = [answersAsked(), loudMs(caller.heard())];
  service.providers.stt.utterances.push('hello I am Maria');
  await one.speak(1_600);
  await one.speak(1_200, 0);
  await one.until(() => one.texts('operator.text').length > 0);
  expect(loudMs(caller.heard()) - heard).toBeGreaterThan(1_000);
  service.providers.stt.utterances.push('my order is late');
  await caller.say(question);
  await one.until(() => one.texts('user.text').length > 0);
  await one.passes(1_500);
  expect(answersAsked()).toBe(asked);
  vendor.replies.push({ items: [{ speech: 'It comes tomorrow.', ms: 600 }] });
  one.send({ type: 'hand_back', note: 'Order 7 comes tomorrow.' });
  await vendor.until(() => answersAsked() > asked);
  await caller.next(({ type }) => type === 'mark-played');
  expect(told()).toEqual(
    [
      '(the caller)',
      'has taken the call over',
      'hello I am Maria',
      '(the caller)',
      'Note of the person: Order 7',
    ].map((part) => expect.stringContaining(part) as string),
  );
  one.close();
  expect(await caller.hangUp()).toEqual({ code: 1000, reason: 'ended' });
}, 60_000);

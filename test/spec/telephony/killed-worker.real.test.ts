/**
 * A telephone call whose worker is killed in the middle of each thing that happens in it, with both carriers: nothing is said twice,
 * nothing the caller did is lost, and no carrier is asked twice. What was said is judged by how much of it was heard.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import { answer, sayAndCall } from '../../support/fakes/fake-chat.ts';
import { samplesOf } from '../../support/fakes/fake-speech.ts';
import { carrierEnv } from '../../support/fakes/fake-twilio.ts';
import { TestService } from '../../support/process/service.ts';
import { everyNth } from '../../support/sampled.ts';
import { FakeTwilioApi } from '../../support/telephony/fake-twilio-api.ts';
import { FakeTelnyx } from '../../support/telephony/fake-telnyx.ts';
import { phoneAtA, phoneAtB, type Asked, type Phone, type Stream } from '../../support/telephony/phones.ts';

let service: TestService;
let api: FakeTwilioApi;
let carrier: FakeTelnyx;
let question: Int16Array;
let callId = '';
let calls = 0;
const secret = 'o'.repeat(32);
const greeting = 'Hello, harbour office.';
const handOff = 'I connect you.';
const returnLine = 'Sorry, nobody was free.';
const short = 'It is noon, and the sun shines on it.';
const long = 'This goes on and on for quite a while, as some answers do, and then it goes on still more.';
const turn = `
# A script answers each request once.
speculate = false
[telephony]
warm_transfer = true
caller_id = "+15550100002"
return_line = "${returnLine}"
[telephony.destinations]
billing = "+15550100077"
`;
/** Where one worker stops and another goes on a part of a frame is padded or left out. */
const seamMs = 60;
const lengthMs = (...texts: readonly string[]): number =>
  texts.reduce((ms, text) => ms + samplesOf(text) / 24, 0);

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 });
  [api, carrier] = await Promise.all([new FakeTwilioApi().start(), new FakeTelnyx().start()]);
  service = await TestService.start({
    ...{ turn, greeting, workers: 2 },
    env: {
      ...{ ...carrierEnv, ...api.env, ...carrier.env, SVC_CARRIER_A_RESUME_STREAM: '1' },
      ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: secret, SVC_CARRIER_B_CONNECTION_ID: 'c' },
    },
  });
  api.listener = service.address('carrier_a');
  carrier.listener = service.address('carrier_b');
});

afterAll(async () => {
  await service.stop();
  await Promise.all([api.close(), carrier.close()]);
});

beforeEach(async () => {
  await service.readyWhen((body) => body['workers'] === 2 && body['connections'] === 0);
  const { llm, stt } = service.providers;
  llm.script.length = stt.utterances.length = llm.requests.length = 0;
  api.requests.length = carrier.commands.length = 0;
});

afterEach(() => {
  api.before = carrier.before = undefined;
  for (const stream of [...api.streams.values(), ...carrier.streams]) stream.close();
});

const ofCall = (line: Readonly<Record<string, unknown>>): boolean => line['call'] === callId;

/** The worker that has the call dies. Resolves when another one has it. */
async function kill(): Promise<void> {
  const has = service.log.findLast(
    (line) => ofCall(line) && ['call started', 'call taken up'].includes(line.msg),
  );
  process.kill(Number(has?.['pid']), 'SIGKILL');
  await service.says('call taken up', (line) => ofCall(line) && line['pid'] !== has?.['pid']);
}

/** Kills the worker in the middle of the next request of this kind. */
const killWhenAsked = (phone: Phone, what: Asked): Promise<void> =>
  new Promise((resolve) => {
    phone.whenAsked(what, async () => {
      api.before = carrier.before = undefined;
      await kill();
      resolve();
    });
  });

const heard = (stream: Stream, ms: number): Promise<void> => stream.until(() => stream.handset.heardMs >= ms);

/** All of these texts were heard, once. */
async function saidOnce(stream: Stream, ...texts: readonly string[]): Promise<void> {
  // The last mark was reached: a key that is pressed now cuts nothing.
  const isOver = (): boolean => stream.handset.isIdle && stream.messages.at(-1)?.['event'] === 'mark';
  await stream.until(() => stream.handset.heardMs >= lengthMs(...texts) - seamMs && isOver());
  wasSaidOnce(stream, ...texts);
}

function wasSaidOnce(stream: Stream, ...texts: readonly string[]): void {
  expect(Math.abs(stream.handset.heardMs - lengthMs(...texts))).toBeLessThanOrEqual(seamMs);
}

async function greeted(phone: Phone): Promise<Stream> {
  calls += 1;
  callId = phone.name === 'A' ? `CA${calls}` : `v3:call-${calls}`;
  const stream = await phone.call(callId);
  await saidOnce(stream, greeting);
  return stream;
}

/** A further turn: what is known of the call stands in what the LLM is asked, and nothing more is said than its answer. */
async function goesOn(stream: Stream, ...said: readonly string[]): Promise<string> {
  const { llm } = service.providers;
  const before = llm.requests.length;
  llm.script.push(answer('Fine.'));
  for (const digit of '9#') stream.press(digit);
  await llm.until(() => llm.requests.length > before);
  await saidOnce(stream, ...said, 'Fine.');
  const messages = JSON.stringify(llm.requests.at(-1)?.body['messages']);
  for (const text of [greeting, 'keys: 9', ...said]) expect(messages.split(text).length, text).toBe(2);
  return messages;
}

/** What was sent before is read and written down: what a worker reads in the instant of its death, nobody has. */
const isRead = (stream: Stream): Promise<void> => stream.say(new Int16Array(8_000));

const press = (stream: Stream, digits: string): void => {
  for (const digit of digits) stream.press(digit);
};

async function warm(phone: Phone, stream: Stream): Promise<string> {
  const args = { destination: 'billing', mode: 'warm', summary: 'An invoice.' };
  service.providers.llm.script.push(sayAndCall(handOff, 'transfer_call', args, `call_${calls}`));
  press(stream, '1#');
  const line = await moved('rung');
  if (phone.name === 'B') stream.close();
  return String(line['transfer']);
}

const moved = (phase: string): Promise<Readonly<Record<string, unknown>>> =>
  service.says('a warm transfer has moved', (line) => ofCall(line) && line['phase'] === phase);

/** The stream on which the caller comes back. */
async function back(phone: Phone, before: Stream): Promise<Stream> {
  await moved('back');
  const about = phone.name === 'A' ? api : carrier;
  await about.until(() => phone.stream(callId) !== before);
  return phone.stream(callId);
}

/** Rows in which a carrier does something other than sending and taking audio. */
const isAskedOfCarrier = (row: string): boolean => /transferred|voicemail|back/.test(row);

const rows: Readonly<Record<string, (phone: Phone) => Promise<void>>> = {
  'a question is answered': async (phone) => {
    const { llm, stt } = service.providers;
    const stream = await greeted(phone);
    // Both workers hear it.
    stt.utterances.push('what time is it', 'what time is it');
    llm.script.push(answer('It is noon.'));
    const asking = stream.say(question);
    await stream.until(() => stream.handset.unsaid < question.length / 640);
    await kill();
    await asking;
    await llm.until(() => llm.requests.length > 0);
    await saidOnce(stream, greeting, 'It is noon.');
    const messages = await goesOn(stream, greeting, 'It is noon.');
    expect(messages.split('what time is it').length).toBe(2);
  },
  'an answer is given': async (phone) => {
    const stream = await greeted(phone);
    service.providers.llm.script.push(answer(short));
    press(stream, '1#');
    await heard(stream, lengthMs(greeting) + 500);
    await kill();
    await saidOnce(stream, greeting, short);
    await goesOn(stream, greeting, short);
  },
  'the bot is interrupted': async (phone) => {
    const { llm, stt } = service.providers;
    const stream = await greeted(phone);
    llm.script.push(answer(long));
    press(stream, '1#');
    await heard(stream, lengthMs(greeting) + 500);
    stt.utterances.push('stop that please now', 'stop that please now');
    llm.script.push(answer('It is noon.'));
    void stream.say(question);
    await stream.until(() => stream.handset.unsaid < question.length / 640);
    await kill();
    await llm.until(() => llm.requests.length > 1);
    expect(stream.of('clear').length).toBeGreaterThan(0);
    await stream.until(() => stream.handset.unsaid === 0);
    const messages = llm.requests.at(-1)?.body['messages'] as { role: string; content: string }[];
    const cut = messages.filter(({ role }) => role === 'assistant').at(-1)?.content ?? '';
    expect(long.startsWith(cut.slice(0, 10))).toBe(true);
    expect(cut.length).toBeLessThan(long.length);
    const isAnswered = (): boolean =>
      stream.handset.heardMs >= lengthMs(greeting, cut, 'It is noon.') - 500 &&
      stream.handset.isIdle &&
      stream.messages.at(-1)?.['event'] === 'mark';
    await stream.until(isAnswered);
    const { length } = llm.requests;
    llm.script.push(answer('Fine.'));
    press(stream, '9#');
    await llm.until(() => llm.requests.length > length);
    const text = JSON.stringify(llm.requests.at(-1)?.body['messages']);
    expect(text.split('It is noon.').length).toBe(2);
    expect(text.split('stop that please now').length).toBe(2);
    expect(text.split(cut).length).toBe(2);
    expect(stream.handset.heardMs).toBeLessThan(lengthMs(greeting, long, 'It is noon.', 'Fine.') - 500);
  },
  'keys are pressed': async (phone) => {
    const { llm } = service.providers;
    const stream = await greeted(phone);
    llm.script.push(answer('It is noon.'));
    press(stream, '4');
    await isRead(stream);
    await kill();
    press(stream, '2#');
    await llm.until(() => llm.requests.length > 0);
    await saidOnce(stream, greeting, 'It is noon.');
    const messages = await goesOn(stream, greeting, 'It is noon.');
    expect(messages.split('pressed the keys: 42').length).toBe(2);
  },
  'the caller is transferred, cold': async (phone) => {
    const stream = await greeted(phone);
    const args = { destination: 'billing' };
    service.providers.llm.script.push(sayAndCall(handOff, 'transfer_call', args, `call_${calls}`));
    const killed = killWhenAsked(phone, 'transfer');
    press(stream, '1#');
    await killed;
    await service.says('the carrier was asked', (line) => ofCall(line) && line['command'] === 'transfer');
    await service.says('call ended', ofCall);
    expect(phone.asked('transfer')).toBe(1);
    wasSaidOnce(stream, greeting, handOff);
  },
  'the caller is transferred, warm': async (phone) => {
    const stream = await greeted(phone);
    const killed = killWhenAsked(phone, 'park');
    await warm(phone, stream);
    await killed;
    expect([phone.asked('park'), phone.asked('ring')]).toEqual([1, 1]);
    wasSaidOnce(stream, greeting, handOff);
  },
  'a voicemail is refused': async (phone) => {
    const stream = await greeted(phone);
    const handle = await warm(phone, stream);
    phone.whenAsked('hang_up', async () => {
      api.before = carrier.before = undefined;
      const pid = service.said('call started', ofCall)?.['pid'];
      process.kill(Number(pid), 'SIGKILL');
      await service.says('child process died', (line) => JSON.stringify(line).includes(String(pid)));
    });
    await phone.machine(handle);
    const again = await back(phone, stream);
    await saidOnce(again, returnLine);
    const asked = (['park', 'ring', 'hang_up', 'put_back'] as const).map((what) => phone.asked(what));
    expect(asked).toEqual([1, 1, 1, 1]);
  },
  'the caller is back': async (phone) => {
    const stream = await greeted(phone);
    await phone.machine(await warm(phone, stream));
    const again = await back(phone, stream);
    await heard(again, 500);
    await kill();
    await saidOnce(again, returnLine);
    const { llm } = service.providers;
    const before = llm.requests.length;
    llm.script.push(answer('Fine.'));
    press(again, '2#');
    await llm.until(() => llm.requests.length > before);
    await saidOnce(again, returnLine, 'Fine.');
    const messages = JSON.stringify(llm.requests.at(-1)?.body['messages']);
    for (const text of [greeting, 'keys: 1', handOff, returnLine, 'keys: 2'])
      expect(messages.split(text).length, text).toBe(2);
  },
};

describe.each(['A', 'B'] as const)('carrier %s: the worker is killed while', (name) => {
  // What a worker that takes over a stream says, hears and remembers is the same code at both: in a build each is asked for half of it.
  const streams = Object.entries(rows).filter(([row]) => !isAskedOfCarrier(row));
  const asked = Object.entries(rows).filter(([row]) => isAskedOfCarrier(row));
  it.each([...everyNth(streams, 2, name === 'A' ? 0 : 1), ...asked])('%s', async (_, row) => {
    await row(name === 'A' ? phoneAtA(service, api) : phoneAtB(carrier));
  });
});

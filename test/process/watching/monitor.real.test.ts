/** Operators listen to running calls, whisper to the agent, and speak to the caller in its place. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { answer } from '../../support/fakes/fake-chat.ts';
import { loudMs, TestOperator } from '../../support/process/operator.ts';
import { beforeAskingAgain, TestService, type TestServiceOptions } from '../../support/process/service.ts';

const tokens = {
  SVC_LIVE_TOKEN: 'live-token',
  SVC_MONITOR_LISTEN_TOKEN: 'listen-token',
  SVC_MONITOR_WHISPER_TOKEN: 'whisper-token',
  SVC_MONITOR_TAKE_OVER_TOKEN: 'take-over-token/+=',
};
const [listens, whispers, takes] = ['listen-token', 'whisper-token', 'take-over-token/+='];

let service: TestService;
let question: Int16Array;
let operators: TestOperator[] = [];

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 });
});

afterEach(async () => {
  for (const operator of operators) operator.close();
  operators = [];
  await service.stop();
});

const start = (options: TestServiceOptions = {}): Promise<TestService> =>
  TestService.start({ ...options, env: { ...tokens, ...options.env } });

function operator(
  call: Pick<CallClient, 'callId'>,
  token: string,
  by?: string,
  says: readonly object[] = [],
): TestOperator {
  const path = `/live/calls/${encodeURIComponent(call.callId)}/monitor`;
  const one = new TestOperator(`ws://${service.address('health')}${path}`, token, {
    ...(by !== undefined && { by }),
    says,
  });
  operators.push(one);
  return one;
}

/** The caller asks something, and STT understands it. */
async function ask(caller: CallClient, text: string): Promise<void> {
  service.providers.stt.utterances.push(text);
  await caller.say(question);
}

/** Everything that the LLM was asked with last, in order. */
const asked = (): string => {
  const messages = service.providers.llm.requests.at(-1)?.body['messages'] as { content: string | null }[];
  return messages.map(({ content }) => content).join('\n');
};

describe('an operator who listens', () => {
  it('hears both sides on channels of their own, reads along, and is in the log', async () => {
    service = await start({ greeting: 'Good morning to you.' });
    service.providers.llm.script.push(answer('It is noon.'));
    const caller = await service.call({ callId: 'order/7' });
    const one = operator(caller, listens, 'Maria K.');
    expect(await one.ready()).toMatchObject({
      call: caller.callId,
      role: 'listen',
      rate: 16_000,
      frame_ms: 20,
    });
    await one.until(() => one.heard.agent > 300);
    expect(one.heard.caller).toBe(0);
    await caller.next(({ type }) => type === 'mark-played');
    const before = one.heard.agent;
    await ask(caller, 'what time is it');
    await one.until(() => one.texts('bot.text').length > 0);
    await one.until(() => one.heard.caller > 300 && one.heard.agent > before + 300);
    expect(one.texts('user.text')).toEqual(['what time is it']);
    expect(service.said('an operator and a call')).toMatchObject({
      call: caller.callId,
      what: 'listens',
      may: 'listen',
      by: 'Maria K.',
    });
    expect(service.said('an operator has asked for a call')).toMatchObject({
      by: 'Maria K.',
      may: 'listen',
    });
    for (const message of [
      { type: 'whisper', id: 'a', text: 'Psst.' },
      { type: 'take_over', id: 'b' },
    ])
      one.send(message);
    expect([await one.answer('a'), await one.answer('b')]).toEqual(['forbidden', 'forbidden']);
    await caller.hangUp();
    await one.until(() => one.closed !== undefined);
    expect(one.closed).toBe(4404);
    expect(one.told.at(-1)).toEqual({ type: 'ended' });
  });

  it('needs the token of a role, a call that is there, and a place', async () => {
    service = await start();
    const caller = await service.call();
    for (const wrong of ['', 'wrong', 'live-token', 'listen-tokenx']) {
      const one = operator(caller, wrong);
      await one.until(() => one.closed !== undefined);
      expect(one.closed).toBe(401);
    }
    const nowhere = operator({ callId: 'nowhere' }, takes);
    await nowhere.until(() => nowhere.closed !== undefined);
    expect(nowhere.closed).toBe(404);
    for (let count = 0; count < 3; count += 1) await operator(caller, listens).ready();
    const fourth = operator(caller, takes);
    await fourth.ready();
    const fifth = operator(caller, takes, '', [{ type: 'take_over', at: 'once' }]);
    await fifth.until(() => fifth.closed !== undefined);
    expect(fifth.closed).toBe(4429);
    fourth.send({ type: 'take_over', id: 'mine' });
    expect(await fourth.answer('mine')).toBe('done');
    const [first] = operators.filter(({ closed }) => closed === undefined);
    first?.send({ type: 'nonsense' });
    await first?.until(() => first.closed !== undefined);
    expect(first?.closed).toBe(4400);
    expect(await caller.hangUp()).toEqual({ code: 1000, reason: 'ended' });
  });

  it('is not there without a token in the settings', async () => {
    service = await TestService.start({ env: { SVC_LIVE_TOKEN: 'live-token' } });
    const caller = await service.call();
    const one = operator(caller, takes);
    await one.until(() => one.closed !== undefined);
    expect(await (await service.get('/live')).text()).not.toContain('id="monitor');
    expect((await service.get('/live/monitor.js')).status).toBe(401);
  });

  it('that is slow loses sound, is told how much, and costs the call nothing', async () => {
    service = await start({ turn: 'speculate = false' });
    const caller = await service.call();
    const [slow, quick] = [operator(caller, listens), operator(caller, listens)];
    await Promise.all([slow.ready(), quick.ready()]);
    slow.stall();
    await quick.passes(12_000);
    service.providers.llm.script.push(answer('It is noon.'));
    await ask(caller, 'what time is it');
    await caller.next(({ type }) => type === 'mark-played');
    slow.readOn();
    await slow.until(() => slow.closed !== undefined || slow.told.some(({ type }) => type === 'lost'));
    expect(await caller.hangUp()).toEqual({ code: 1000, reason: 'ended' });
  }, 60_000);

  it('that is dead while it has the call costs the caller some seconds, and then the agent is there', async () => {
    service = await start({ turn: 'speculate = false' });
    const caller = await service.call();
    const [dead, quick] = [operator(caller, takes), operator(caller, listens)];
    await Promise.all([dead.ready(), quick.ready()]);
    dead.send({ type: 'take_over', at: 'once' });
    await quick.takeover('operator');
    dead.stall();
    await quick.takeover('away');
    await quick.takeover('agent');
    await caller.next(({ type }) => type === 'mark-played');
    expect(service.providers.tts.inputs.join('')).toContain('my colleague is gone');
    await ask(caller, 'what time is it');
    await caller.next(({ type }) => type === 'mark-played');
    expect(await caller.hangUp()).toEqual({ code: 1000, reason: 'ended' });
  }, 60_000);

  it('is announced to the caller once, where the agent file says so', async () => {
    service = await start({ agent: '[monitor]\nnotice = "A colleague listens."' });
    const { tts } = service.providers;
    const caller = await service.call();
    await operator(caller, listens).ready();
    await caller.next(({ type }) => type === 'mark-played');
    await operator(caller, listens).ready();
    await ask(caller, 'what time is it');
    await caller.next(({ type }) => type === 'mark-played');
    expect(tts.inputs.filter((text) => text === 'A colleague listens.')).toHaveLength(1);
    expect(asked()).toContain('A colleague listens.');
  });
});

describe('a whisper', () => {
  it('reaches the LLM with what the caller says next, and nobody hears it', async () => {
    service = await start({ turn: 'speculate = false' });
    const caller = await service.call();
    const one = operator(caller, whispers);
    await one.ready();
    one.send({ type: 'whisper', id: 'a', text: 'Offer a discount.' });
    expect(await one.answer('a')).toBe('done');
    await ask(caller, 'that is too much');
    await one.until(() => one.texts('bot.text').length > 0);
    expect(asked()).toContain('Offer a discount.');
    expect(asked().indexOf('Offer a discount.')).toBeLessThan(asked().indexOf('that is too much'));
    expect(service.providers.tts.inputs.join(' ')).not.toContain('discount');
    expect(JSON.stringify(service.log)).not.toContain('discount');
  });
});

describe('an operator who takes over', () => {
  it('speaks to the caller while the agent is silent, and hands back with a note', async () => {
    service = await start({ turn: 'speculate = false' });
    const caller = await service.call();
    const [one, other] = [operator(caller, takes, 'Maria'), operator(caller, takes)];
    await Promise.all([one.ready(), other.ready()]);
    one.send({ type: 'take_over' });
    expect(await one.takeover('operator')).toMatchObject({ yours: true });
    expect(await other.takeover('operator')).toMatchObject({ yours: false, by: 'Maria' });
    other.send({ type: 'take_over', id: 'mine' });
    expect(await other.answer('mine')).toBe('taken');
    other.send({ type: 'hand_back', id: 'yours' });
    expect(await other.answer('yours')).toBe('not_yours');

    const silence = energyOf(caller);
    await other.speak(400);
    expect(energyOf(caller) - silence).toBe(0);
    // The fake STT hears the operator first.
    service.providers.stt.utterances.push('hello I am Maria');
    await one.speak(1_600);
    await one.speak(1_200, 0);
    await one.until(() => one.texts('operator.text').length > 0);
    expect(energyOf(caller) - silence).toBeGreaterThan(1_000);
    expect(other.heard.agent).toBeGreaterThan(1_000);
    const spoken = energyOf(caller);
    await ask(caller, 'my order is late');
    await one.until(() => one.texts('user.text').length > 0);
    await one.passes(1_500);
    expect(energyOf(caller)).toBe(spoken);
    expect(service.providers.llm.requests).toHaveLength(0);

    one.send({ type: 'hand_back', id: 'back', note: 'Order 7 comes tomorrow.' });
    expect(await one.answer('back')).toBe('done');
    await one.takeover('agent');
    await caller.next(({ type }) => type === 'mark-played');
    const order = [
      'has taken the call over',
      'said to the caller: \"hello I am Maria\"',
      'my order is late',
      'The call is yours again.',
      'Note of the person: Order 7 comes tomorrow.',
    ].map((part) => asked().indexOf(part));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).not.toContain(-1);
    expect(service.said('an operator speaks in place of the agent')).toBeDefined();
    expect(service.said('the agent speaks again')).toMatchObject({ how: 'handed_back' });
  }, 60_000);

  it('keeps the call when its worker is killed, and takes it up again', async () => {
    service = await start({ workers: 2, env: { SVC_SPARE_WORKER: 'on' } });
    const caller = await service.call();
    const one = operator(caller, takes);
    await one.ready();
    one.send({ type: 'take_over', at: 'once' });
    await one.takeover('operator');
    // Not in the instant in which the mode is written down.
    await service.readiness();
    process.kill(await service.workerOf(caller), 'SIGKILL');
    await one.until(() => one.closed !== undefined);
    await service.says('call taken up');
    const again = await comesBack(caller);
    expect(await again.takeover('away')).toMatchObject({ yours: false });
    again.send({ type: 'take_over', at: 'once' });
    expect(await again.takeover('operator')).toMatchObject({ yours: true });
    const before = energyOf(caller);
    await again.speak(800);
    await again.passes(400);
    expect(energyOf(caller) - before).toBeGreaterThan(500);
    await ask(caller, 'are you there');
    await again.until(() => again.texts('user.text').length > 0);
    expect(service.providers.llm.requests).toHaveLength(0);
    again.send({ type: 'hand_back' });
    await caller.next(({ type }) => type === 'mark-played');
    expect(service.providers.llm.requests).toHaveLength(1);
  }, 60_000);

  it('leaves the caller to the agent without a microphone, and keeps it where that comes back in time', async () => {
    service = await start();
    const caller = await service.call();
    const one = operator(caller, takes);
    await one.ready();
    one.send({ type: 'take_over' });
    await one.takeover('operator');
    one.isMicrophoneOn = false;
    await one.takeover('away');
    one.isMicrophoneOn = true;
    expect(await one.takeover('operator')).toMatchObject({ yours: true });
    const uses = (): unknown[] => service.log.filter(({ what }) => what === 'takes over');
    expect(uses()).toHaveLength(1);
    one.isMicrophoneOn = false;
    await service.says('the agent speaks again', ({ how }) => how === 'lost');
    expect(await one.takeover('agent')).toMatchObject({ yours: false });
    await caller.next(({ type }) => type === 'mark-played');
    expect(service.providers.tts.inputs.join('')).toContain('my colleague is gone');
    one.isMicrophoneOn = true;
    one.send({ type: 'take_over', id: 'again', at: 'once' });
    expect(await one.answer('again')).toBe('done');
    expect(await one.takeover('operator')).toMatchObject({ yours: true });
    await expect.poll(uses).toHaveLength(2);
  }, 60_000);

  it('leaves the caller to the agent when nobody comes back within two seconds', async () => {
    service = await start();
    const caller = await service.call();
    const one = operator(caller, takes);
    await one.ready();
    one.send({ type: 'take_over' });
    await one.takeover('operator');
    one.close();
    await service.says('the agent speaks again', ({ how }) => how === 'lost');
    await caller.next(({ type }) => type === 'mark-played');
    expect(service.providers.tts.inputs.join('')).toContain('my colleague is gone');
  }, 60_000);
});

/** Milliseconds of sound that the caller has heard. */
const energyOf = (caller: CallClient): number => loudMs(caller.heard());

/** As the page does it: asks again until the worker that has taken the call up lets the operator in. */
async function comesBack(caller: CallClient): Promise<TestOperator> {
  for (;;) {
    const one = operator(caller, takes);
    await one.until(() => one.closed !== undefined || one.told.length > 0);
    if (one.closed === undefined) return one;
    await beforeAskingAgain();
  }
}

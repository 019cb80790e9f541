/**
 * Errors planted in the callbacks of single calls while 50 others run: a thrown error, a rejected promise and an error event, in each
 * kind of callback that a call has. That call alone ends, under its own id in the log; the others keep their voice.
 *
 * The errors are planted from outside by a module that is loaded into the workers (test/support/process/chaos-plant.mjs).
 */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import type { CallClient, CallerEvent } from '../../../cli/commands/call/caller.ts';
import { choice, stream } from '../../support/fakes/fake-chat.ts';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';
import { RawCaller, startFrame } from '../raw-caller.ts';

const bystanders = 50;
/** More than a busy machine causes, less than a pause that a caller would take for the end. */
const longestHoleMs = 1_500;
const longGreeting = 'This goes on and on. '.repeat(45);
const preload = `--import ${new URL('../../support/process/chaos-plant.mjs', import.meta.url).href}`;

const hows = ['throw', 'reject', 'emit'] as const;
/** Callbacks by who calls them: the client's socket, a timer, provider streams, the bell of inference, the ticker. */
const kinds = ['socket', 'timer', 'stt', 'llm', 'tts', 'bell', 'ticker'] as const;

const asked = 'could you tell me what time it is please';

let service: TestService;
let question: Int16Array;

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite(asked, { voice: 'slt', speed: 1 });
});

afterEach(async () => {
  await service.stop();
});

/** An answer that begins and never ends: its deadlines pass, its text is spoken. */
const endless = stream([choice({ content: 'Hold on a moment. I am looking ' })], 'hold');

function start(options: TestServiceOptions = {}): Promise<TestService> {
  return TestService.start({
    workers: 2,
    greeting: longGreeting,
    ...options,
    env: { NODE_OPTIONS: preload, SVC_MAX_SESSIONS: '200', ...options.env },
  });
}

/** Follows the agent's voice of a call: the longest hole in it so far. */
function listen(call: CallClient): { longestMs: number; frames: number } {
  const found = { longestMs: 0, frames: 0 };
  let last: number | undefined;
  call.on((event: CallerEvent) => {
    if (event.type !== 'audio') return;
    if (last !== undefined) found.longestMs = Math.max(found.longestMs, event.atMs - last);
    last = event.atMs;
    found.frames += 1;
  });
  return found;
}

async function openMany(count: number): Promise<CallClient[]> {
  const calls: CallClient[] = [];
  for (let i = 0; i < count; i += 1) calls.push(await service.call({ microphone: i < 5 }));
  return calls;
}

/** A call that fails in this way once it is armed. */
async function plantedCall(kind: string, how: string): Promise<CallClient> {
  const call = await service.call({ callId: `plant:${kind}:${how}` });
  await call.next((event) => event.type === 'audio');
  return call;
}

/** Speaks again and again: on a busy machine the ticker often finds what the bell would have told. */
async function talk(call: CallClient): Promise<void> {
  while ((await call.say(question)) !== undefined) {
    // Silence for three seconds: the turn ends and is answered.
    for (let frames = 0; frames < 150; frames += 1)
      if ((await call.next((event) => event.type === 'frame-sent')) === undefined) return;
  }
}

/** Makes the plant ready; for the service it is a key like any other. */
const arm = (call: CallClient): void => call.sendDtmf('D');

describe('an error planted in one call', () => {
  it('ends that call alone, whatever kind of callback and of error it is', async () => {
    service = await start();
    service.providers.llm.script.push(...Array.from({ length: kinds.length * hows.length }, () => endless));
    service.providers.stt.utterances.push(...Array.from({ length: 1_000 }, () => asked));
    const others = await openMany(bystanders);
    const names = kinds.flatMap((kind) => hows.map((how) => [kind, how] as const));
    const planted = await Promise.all(names.map(([kind, how]) => plantedCall(kind, how)));
    const heard = others.map(listen);

    for (const call of planted) {
      arm(call);
      void talk(call);
    }
    const ends = await Promise.all(planted.map(async (call) => [call.callId, (await call.closed).code]));
    expect(ends).toEqual(planted.map((call) => [call.callId, 1011]));
    for (const { callId } of planted) {
      const line = service.said('call failed', (said) => said['call'] === callId);
      expect([callId, line?.['error']]).toEqual([callId, expect.stringContaining(`planted ${callId}`)]);
      expect(service.said('call ended', (said) => said['call'] === callId)?.['end']).toBe('fault');
    }
    expect(service.log.filter(({ msg }) => msg === 'call failed')).toHaveLength(planted.length);

    const frames = heard.map((found) => found.frames);
    await Promise.all(
      others.map((call, index) => call.next(() => heard[index]!.frames > frames[index]! + 50)),
    );
    expect(Math.max(...heard.map((found) => found.longestMs))).toBeLessThan(longestHoleMs);
    const goodbyes = await Promise.all(others.map((call) => call.hangUp()));
    expect(goodbyes).toEqual(others.map(() => ({ code: 1000, reason: 'ended' })));
    // What escaped a call leaves its worker in doubt: both are replaced as soon as they are empty.
    await service.readyWhen((body) => body['workers'] === 2 && body['connections'] === 0);
    expect((await (await service.call()).hangUp()).code).toBe(1000);
  });
});

describe('an error planted where the worker builds a call', () => {
  it.each(hows)('ends that connection alone: %s', async (how) => {
    service = await start();
    const others = await openMany(10);
    const heard = others.map(listen);

    const planted = new RawCaller(service.port, startFrame(), { path: `/?plant:serve:${how}` });

    await planted.closed();
    const line = await service.says('a connection could not be served');
    expect(line['error']).toContain(`planted plant:serve:${how}`);
    const frames = heard.map((found) => found.frames);
    await Promise.all(
      others.map((call, index) => call.next(() => heard[index]!.frames > frames[index]! + 50)),
    );
    expect(Math.max(...heard.map((found) => found.longestMs))).toBeLessThan(longestHoleMs);
    expect(await Promise.all(others.map((call) => call.hangUp()))).toEqual(
      others.map(() => ({ code: 1000, reason: 'ended' })),
    );
    await service.readyWhen((body) => body['workers'] === 2 && body['connections'] === 0);
  });
});

describe('an error planted in what the supervisor tells a call', () => {
  // What is rejected or emitted comes after the call was told to stop.
  it.each(['reject', 'emit'] as const)('is the fault of that call and of no other: %s', async (how) => {
    service = await start();
    const others = await openMany(10);
    const planted = await plantedCall('ipc', how);

    arm(planted);

    for (let frames = 0; frames < 10; frames += 1) await planted.next((event) => event.type === 'frame-sent');
    service.signal('SIGTERM');
    const ends = await Promise.all(others.map((call) => call.closed));
    expect(ends).toEqual(others.map(() => ({ code: 1001, reason: 'shutdown' })));
    expect([1001, 1011]).toContain((await planted.closed).code);
    expect((await service.ended).code).toBe(0);
    const errors = service.log.filter((line) => 'error' in line);
    expect(errors.map(({ error }) => error)).toContainEqual(
      expect.stringContaining(`planted plant:ipc:${how}`),
    );
    // The call may be over before the error comes; it is nobody else's then.
    expect(errors.map(({ call }) => call ?? planted.callId)).toEqual(errors.map(() => planted.callId));
  });

  it('ends that call as a fault; the others are told to stop like the rest', async () => {
    service = await start();
    const others = await openMany(10);
    const planted = await plantedCall('ipc', 'throw');

    arm(planted);

    // The key is there before the signal: frames that were sent after it come back as sound.
    for (let frames = 0; frames < 10; frames += 1) await planted.next((event) => event.type === 'frame-sent');
    service.signal('SIGTERM');
    const ends = await Promise.all(others.map((call) => call.closed));
    expect(ends).toEqual(others.map(() => ({ code: 1001, reason: 'shutdown' })));
    expect((await planted.closed).code).toBe(1011);
    expect(service.said('call failed')).toMatchObject({ call: planted.callId });
    expect((await service.ended).code).toBe(0);
  });
});

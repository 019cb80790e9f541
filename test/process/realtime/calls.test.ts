/**
 * Calls of an agent whose model hears and speaks by itself, with a server that speaks the protocol: what the caller hears, what the
 * model is told, and what becomes of a call whose session, worker or vendor goes away.
 */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { FakeOpenAiRealtime } from '../../support/fakes/fake-openai-realtime.ts';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';

const asked = 'could you tell me what time it is please';

let vendor: FakeOpenAiRealtime;
let service: TestService;
let question: Int16Array;
let interruption: Int16Array;

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite(asked, { voice: 'slt', speed: 1 });
  interruption = flite('stop that now please', { voice: 'slt', speed: 1 });
});

beforeEach(async () => {
  vendor = new FakeOpenAiRealtime();
  await vendor.start();
});

afterEach(async () => {
  await service.stop();
  await vendor.close();
});

const tables = (lines = ''): string => `
[realtime]
provider = "openai_realtime"
api_key_env = "MODEL_KEY"
${lines}
[realtime.openai_realtime]
base_url = "${vendor.baseUrl}"
`;

const start = (options: TestServiceOptions = {}, lines = ''): Promise<TestService> =>
  TestService.start({
    workers: 1,
    ...options,
    tables: tables(lines),
    env: { MODEL_KEY: 'k', ...options.env },
  });

/** The caller asks and STT writes it down. */
async function ask(call: CallClient): Promise<void> {
  service.providers.stt.utterances.push(asked);
  await call.say(question);
}

/** Instructions that the newest session was opened with. */
const instructions = (): string =>
  JSON.stringify(vendor.last.of('session.update').map(({ session }) => session));

/** Texts that were added to the conversation of the newest session. */
const added = (): string =>
  JSON.stringify(vendor.last.of('conversation.item.create').map(({ item }) => item));

describe('a question', () => {
  it('is heard by the model, and answered in its voice', async () => {
    service = await start({ greeting: 'Hello there.' });
    vendor.replies.push({ items: [{ speech: 'It is noon.', ms: 1_000 }] });
    const call = await service.call();
    await call.next((event) => event.type === 'mark-played');
    await ask(call);
    await vendor.until(() => vendor.sessions.some((one) => one.of('response.create').length > 0));
    await call.next((event) => event.type === 'mark-played');
    expect(instructions()).toContain('You are under test.');
    expect(added()).toContain('Hello there.');
    const [heardMs] = vendor.last.turnsMs;
    expect(heardMs).toBeGreaterThan((question.length / 16) * 0.8);
    expect(service.providers.llm.requests).toHaveLength(0);
    // Only the greeting came from the voice beside the model.
    expect(service.providers.tts.inputs).not.toContain('It is noon.');
    await call.hangUp();
  });

  it('gives STT nothing where the vendor writes down what was said', async () => {
    service = await start({}, 'words = "vendor"');
    vendor.replies.push({ items: [{ speech: 'It is noon.' }] }, { items: [{ speech: 'Goodbye.' }] });
    vendor.transcripts.push(asked, asked);
    const call = await service.call();
    await call.say(question);
    await call.next((event) => event.type === 'mark-played');
    expect(service.providers.stt.connections.map(({ samples }) => samples)).toEqual([0]);
    expect(vendor.last.turnsMs).toHaveLength(1);
    await call.hangUp();
  });
});

describe('an agent with a model alone', () => {
  it('has its lines read and its questions answered by the model', async () => {
    service = await start({ isAlone: true, greeting: 'Hello there.' });
    vendor.replies.push({ items: [{ speech: 'Hello there.' }] });
    const call = await service.call();
    await call.next((event) => event.type === 'mark-played');
    const reader = vendor.sessions.find((one) => one.turnsMs.length === 0 && one.items.size > 1);
    expect(JSON.stringify(reader?.heard)).toContain('word for word');
    vendor.replies.unshift({ items: [{ speech: 'It is noon.' }] });
    vendor.transcripts.push(asked);
    await call.say(question);
    await vendor.until(() => vendor.sessions.some((one) => one.turnsMs.length === 1));
    await call.next((event) => event.type === 'mark-played');
    await call.hangUp();
  });

  it('ends a call with the recorded announcement where the model is gone', async () => {
    service = await start({ isAlone: true, agent: '[agent.outage]\nkeep_s = 0' });
    vendor.refuseWith = 401;
    const call = await service.call();
    await call.say(question);
    await call.next((event) => event.type === 'audio');
    expect((await call.closed).reason).toBe('ended');
  });
});

describe('a caller who interrupts', () => {
  it('stops the answer, and the model forgets what was not heard', async () => {
    service = await start();
    vendor.replies.push(
      {
        items: [{ speech: 'This is a long story about a king who had three sons and a castle.', ms: 12_000 }],
      },
      { items: [{ speech: 'Sure.' }] },
    );
    const call = await service.call();
    await ask(call);
    await call.next((event) => event.type === 'audio');
    for (let frames = 0; frames < 100; frames += 1) await call.next((event) => event.type === 'audio');
    service.providers.stt.utterances.push('stop that now please');
    const cleared = call.next((event) => event.type === 'clear');
    void call.say(interruption);
    await cleared;
    await vendor.until(() => vendor.last.of('response.create').length === 2);
    const [cut] = vendor.last.of('conversation.item.truncate');
    expect(cut?.audio_end_ms).toBeGreaterThan(1_000);
    expect(cut?.audio_end_ms).toBeLessThan(6_000);
    await call.hangUp();
  });
  it('is heard where the vendor writes down what was said, though all of the answer had come', async () => {
    service = await start({}, 'words = "vendor"');
    const story = 'This is a long story about a king who had three sons and a castle.';
    vendor.replies.push({ items: [{ speech: story, ms: 4_500 }] }, { items: [{ speech: 'Sure.' }] });
    vendor.transcripts.push(asked, 'stop that now please');
    const call = await service.call();
    await call.say(question);
    for (let frames = 0; frames < 60; frames += 1) await call.next((event) => event.type === 'audio');
    service.providers.stt.utterances.push('stop that now please');
    const cleared = call.next((event) => event.type === 'clear');
    void call.say(interruption);
    await cleared;
    await vendor.until(() => vendor.last.turnsMs.length === 2);
    expect(vendor.last.of('conversation.item.truncate')).toHaveLength(1);
    await call.hangUp();
  });
});

describe('a call outlives', () => {
  it('the session of its model', async () => {
    service = await start();
    vendor.replies.push({ items: [{ speech: 'It is noon.' }] }, { items: [{ speech: 'It is still noon.' }] });
    const call = await service.call();
    await ask(call);
    await call.next((event) => event.type === 'mark-played');
    vendor.last.vanish();
    await vendor.until(() => vendor.sessions.length === 2);
    await ask(call);
    await call.next((event) => event.type === 'mark-played');
    expect(instructions()).toContain('It is noon.');
    expect(vendor.last.turnsMs).toHaveLength(1);
    await call.hangUp();
  });

  it('its worker', async () => {
    service = await start({ workers: 2 });
    vendor.replies.push({ items: [{ speech: 'It is noon.' }] }, { items: [{ speech: 'It is still noon.' }] });
    const call = await service.call();
    await ask(call);
    await call.next((event) => event.type === 'mark-played');
    process.kill(await service.workerOf(call), 'SIGKILL');
    await vendor.until(() => vendor.sessions.length >= 2);
    await ask(call);
    await call.next((event) => event.type === 'mark-played');
    expect(instructions()).toContain(asked);
    // The answer may have been on its way when the worker died.
    expect(instructions() + added()).toContain('It is noon.');
    await call.hangUp();
  });

  it('its vendor, with the providers beside it', async () => {
    service = await start();
    vendor.refuseWith = 401;
    const call = await service.call();
    await ask(call);
    await call.next((event) => event.type === 'mark-played');
    expect(service.providers.llm.requests).toHaveLength(1);
    await call.hangUp();
  });
});

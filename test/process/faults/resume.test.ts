/** Workers die or hang, and their calls go on in another one: nothing is said twice, nothing heard is lost. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import type { CallClient, CallerEvent } from '../../../cli/commands/call/caller.ts';
import { answer, toolCall } from '../../support/fakes/fake-chat.ts';
import { FakeHttpServer, reply, silence, type FakeRequest } from '../../support/fakes/fake-http.ts';
import { samplesOf, speakBody } from '../../support/fakes/fake-speech.ts';
import { TestService, type LogLine } from '../../support/process/service.ts';
import { RawCaller, startFrame } from '../raw-caller.ts';

let service: TestService;
const spare = { SVC_SPARE_WORKER: 'on' };
let question: Int16Array;
const greeting =
  'Good morning and welcome to the harbour office. My name is Ada, and I can help you with your boat.';
/** Two frames: where one worker stops and another goes on, a part of one is padded or left out. */
const seamMs = 40;
/** The fakes speak at 24 kHz. */
const lengthMs = (text: string): number => samplesOf(text) / 24;

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 });
});

afterEach(async () => {
  await service.stop();
});

/** A call that keeps its own account of what it hears. */
class Listener {
  heardMs = 0;
  /** Those behind pieces. */
  readonly marks: string[] = [];
  readonly cleared: number[] = [];
  call!: CallClient;

  static async join(): Promise<Listener> {
    const listener = new Listener();
    listener.call = await service.call({}, (event) => listener.#note(event));
    return listener;
  }

  #note(event: CallerEvent): void {
    if (event.type === 'audio') this.heardMs += event.durationMs;
    // Others stand within long pieces.
    if (event.type === 'mark-played' && event.id.startsWith('m')) this.marks.push(event.id);
  }

  async hear(ms: number): Promise<void> {
    while (this.heardMs < ms) {
      const event = await this.call.next(({ type }) => type === 'audio');
      if (event === undefined) throw new Error('the call ended');
    }
  }
}

const lastMessages = (): { role: string; content: string | null }[] =>
  service.providers.llm.requests.at(-1)?.body['messages'] as { role: string; content: string | null }[];

describe('a call whose worker is killed', () => {
  it('while the bot speaks: hears the rest once, keeps its context, and talks on', async () => {
    service = await TestService.start({ workers: 2, greeting, env: spare });
    service.providers.llm.script.push(answer('It is noon.'));
    const caller = await Listener.join();
    await caller.hear(1_000);
    const worker = await service.workerOf(caller.call);
    // Not in the instant in which a frame is written: then nobody could say whether it was.
    await service.readiness();
    process.kill(worker, 'SIGKILL');
    const taken = await service.says('call taken up');
    expect(taken).toMatchObject({ call: caller.call.callId });
    expect(taken['pid']).not.toBe(worker);
    await caller.hear(lengthMs(greeting) - seamMs);
    while (caller.marks.length < 2) await caller.call.next(({ type }) => type === 'mark-played');
    expect(Math.abs(caller.heardMs - lengthMs(greeting))).toBeLessThanOrEqual(seamMs);
    expect(new Set(caller.marks).size).toBe(caller.marks.length);

    service.providers.stt.utterances.push('what time is it');
    await caller.call.say(question);
    await service.providers.llm.until(() => service.providers.llm.requests.length > 0);
    expect(lastMessages().filter(({ role }) => role !== 'system')).toEqual([
      { role: 'user', content: '.' },
      { role: 'assistant', content: greeting },
      { role: 'user', content: 'what time is it' },
    ]);
    await caller.hear(lengthMs(greeting) + lengthMs('It is noon.') - seamMs);
    expect(await caller.call.hangUp()).toEqual({ code: 1000, reason: 'ended' });
    expect(await service.metric('svc_handovers_total{outcome="resumed"}')).toBe(1);
    await service.readyWhen((body) => body['connections'] === 0 && body['workers'] === 2);
  });

  it('before the answer came: the LLM is asked again and the answer is spoken once', async () => {
    // The one request is the turn's own, made after its end.
    service = await TestService.start({ env: spare, turn: 'speculate = false' });
    const { llm, stt } = service.providers;
    llm.script.push(() => undefined, answer('It is noon.'));
    stt.utterances.push('what time is it');
    const caller = await Listener.join();
    await caller.call.say(question);
    await llm.until(() => llm.requests.length === 1);
    process.kill(await service.workerOf(caller.call), 'SIGKILL');
    await llm.until(() => llm.requests.length === 2);
    expect(llm.requests[1]?.body['messages']).toEqual(llm.requests[0]?.body['messages']);
    await caller.hear(lengthMs('It is noon.'));
    while (caller.marks.length < 1) await caller.call.next(({ type }) => type === 'mark-played');
    expect(await caller.call.hangUp()).toEqual({ code: 1000, reason: 'ended' });
  });

  it('after a tool has said as much as it may: loses nothing of the conversation', async () => {
    const shop = new FakeHttpServer(silence);
    await shop.start();
    const catalogue = 'There are many boats. '.repeat(2_950);
    shop.script.push(reply({ headers: { 'content-type': 'text/plain' }, chunks: [catalogue] }));
    service = await TestService.start({
      env: spare,
      llm: 'context_window_tokens = 32000',
      turn: 'speculate = false',
      agent: `
[[tools]]
name = "boats"
description = "All boats."
kind = "read_only"
[tools.http]
method = "POST"
url = "${shop.baseUrl}/boats"
body = { which = "all" }
allow_private = true
`,
    });
    const { llm, stt } = service.providers;
    llm.script.push(toolCall('boats', {}), () => undefined, answer('There are many.'), answer('It is noon.'));
    stt.utterances.push('which boats are there', 'what time is it');
    const caller = await Listener.join();
    await caller.call.say(question);
    await llm.until(() => llm.requests.length === 2);
    process.kill(await service.workerOf(caller.call), 'SIGKILL');
    await llm.until(() => llm.requests.length === 3);
    const saidBy = (at: number): unknown =>
      (llm.requests[at]?.body['messages'] as object[]).map((one) => JSON.stringify(one).length);
    expect(saidBy(2)).toEqual(saidBy(1));
    await caller.hear(lengthMs('There are many.'));
    while (caller.marks.length < 1) await caller.call.next(({ type }) => type === 'mark-played');
    const second = Number((await service.says('call taken up'))['pid']);
    await service.readyWhen((body) => body['workers'] === 1);
    process.kill(second, 'SIGKILL');
    await service.says('call taken up', ({ pid }) => pid !== second);
    await caller.call.say(question);
    await llm.until(() => llm.requests.length === 4);
    // A failure would print all of it.
    const said = lastMessages().map(({ role, content }) => [
      role,
      (content ?? '').length > 99 ? content?.length : content,
    ]);
    expect(said.filter(([role]) => role !== 'system')).toEqual([
      ['user', 'which boats are there'],
      ['assistant', null],
      ['tool', catalogue.length],
      ['assistant', 'There are many.'],
      ['user', 'what time is it'],
    ]);
    expect((await caller.call.hangUp()).code).toBe(1000);
    await shop.close();
  });

  it('that had not started: may start in another worker', async () => {
    service = await TestService.start({ greeting, env: spare });
    const raw = new RawCaller(service.port);
    await raw.until(() => raw.head !== undefined);
    // The worker answers this when it has done what came before: the connection is on record.
    await service.metric('svc_handovers_total{outcome="taken"}');
    process.kill(service.children('worker')[0]!, 'SIGKILL');
    await service.says('child process died');
    raw.socket.write(startFrame());
    await raw.received('started');
    expect(raw.gone).toBe(false);
    raw.socket.destroy();
  });

  it('again and again: goes on each time', async () => {
    service = await TestService.start({ greeting: greeting.repeat(3), env: spare });
    const caller = await Listener.join();
    for (let round = 1; round <= 3; round += 1) {
      await caller.hear(round * 1_000);
      await service.readiness();
      const last = service.said('call taken up')?.['pid'] ?? (await service.workerOf(caller.call));
      process.kill(Number(last), 'SIGKILL');
      await service.says('call taken up', (line) => line['pid'] !== last);
      await service.readyWhen((body) => body['workers'] === 1);
    }
    await caller.hear(5_000);
    expect((await caller.call.hangUp()).code).toBe(1000);
  });

  it('while the service drains, by the last worker too: goes on, and the drain ends with it', async () => {
    service = await TestService.start({ greeting: greeting.repeat(3), env: { SVC_DRAIN_TIMEOUT: '60s' } });
    const caller = await Listener.join();
    await caller.hear(1_000);
    service.signal('SIGTERM');
    await service.says('draining');
    const first = await service.workerOf(caller.call);
    process.kill(first, 'SIGKILL');
    const second = Number((await service.says('call taken up'))['pid']);
    process.kill(second, 'SIGKILL');
    await service.says('call taken up', ({ pid }) => pid !== second);
    await caller.hear(4_000);
    expect(await caller.call.hangUp()).toEqual({ code: 1000, reason: 'ended' });
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('and dies with its successor before that has made a sound: hears the rest once', async () => {
    service = await TestService.start({ workers: 2, greeting, env: spare });
    const caller = await Listener.join();
    await caller.hear(2_000);
    const first = await service.workerOf(caller.call);
    await service.readiness();
    const { tts } = service.providers;
    const isRest = ({ body }: FakeRequest): boolean => greeting.includes(String(body['input']).trim());
    for (let i = 0; i < 20; i += 1)
      tts.script.push((request) => (isRest(request) ? undefined : speakBody(request)));
    process.kill(first, 'SIGKILL');
    const second = Number((await service.says('call taken up'))['pid']);
    process.kill(second, 'SIGKILL');
    tts.script.length = 0;
    await service.says('call taken up', ({ pid }) => pid !== second);
    while (caller.marks.length < 2) await caller.call.next(({ type }) => type === 'mark-played');
    expect(Math.abs(caller.heardMs - lengthMs(greeting))).toBeLessThanOrEqual(2 * seamMs);
    expect((await caller.call.hangUp()).code).toBe(1000);
  });

  it('and has no other: each goes on in its successor, in a slot that no other call waits for, and outlives that one too', async () => {
    service = await TestService.start({ greeting: '' });
    const callers = [await Listener.join(), await Listener.join(), await Listener.join()];
    // A free slot before the others, so that they do not fall into those that they had.
    await callers.shift()?.call.hangUp();
    const ids = callers.map(({ call }) => call.callId);
    for (let round = 1; round <= 3; round += 1) {
      const [worker] = service.children('worker');
      process.kill(worker!, 'SIGKILL');
      for (const call of ids)
        await service.says('call taken up', (line) => line['call'] === call && isOfRound(line, worker));
      await service.readyWhen((body) => body['workers'] === 1 && body['connections'] === ids.length);
    }
    const ends = await Promise.all(callers.map(({ call }) => call.hangUp()));
    expect(ends.map(({ code }) => code)).toEqual([1000, 1000]);
  });
});

/** Said by the worker after the one that died. */
const isOfRound = (line: LogLine, died: number | undefined): boolean =>
  line['pid'] === service.children('worker')[0] && line['pid'] !== died;

describe('SVC_CALL_RESUME=off', () => {
  it('calls end with their worker', async () => {
    service = await TestService.start({ greeting, env: { SVC_CALL_RESUME: 'off' } });
    const caller = await Listener.join();
    await caller.hear(500);
    process.kill(await service.workerOf(caller.call), 'SIGKILL');
    expect((await caller.call.closed).code).toBe(1006);
  });
});

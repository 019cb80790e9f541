/** Processes of the service die: what ends, what goes on, and what comes back. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import type { CallClient, CallerEvent } from '../../../cli/commands/call/caller.ts';
import { answer } from '../../support/fakes/fake-chat.ts';
import { TestService } from '../../support/process/service.ts';

/** Far more than a busy machine causes, far less than the start of a process. */
const longestHoleMs = 250;

let service: TestService;
const noResume = { SVC_CALL_RESUME: 'off' };
/** A question at 16 kHz. */
let question: Int16Array;
const longGreeting = 'This goes on and on. '.repeat(45);

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 });
});

afterEach(async () => {
  await service.stop();
});

const isAudio = (event: CallerEvent): boolean => event.type === 'audio';

/** Resolves when the call has heard this many more frames; with the longest time between two of them. */
async function hear(call: CallClient, frames: number): Promise<number> {
  let last = call.nowMs();
  let longestMs = 0;
  for (let i = 0; i < frames; i += 1) {
    const event = await call.next(isAudio);
    if (event === undefined) throw new Error('the call ended');
    longestMs = Math.max(longestMs, event.atMs - last);
    last = event.atMs;
  }
  return longestMs;
}

/** The caller asks, and hears the answer. */
async function ask(call: CallClient, words: string): Promise<void> {
  const { stt, llm } = service.providers;
  stt.utterances.push(words);
  const before = llm.requests.length;
  await call.say(question);
  await llm.until(() => llm.requests.length > before);
  expect(JSON.stringify(llm.requests.at(-1)?.body['messages'])).toContain(words);
  await hear(call, 10);
  const last = await call.next((event) => event.type === 'mark-played');
  expect(last).toBeDefined();
}

describe('kill -9 of a worker whose calls are not taken up', () => {
  it('ends its calls alone; slots are free, new calls work, and the worker is replaced', async () => {
    service = await TestService.start({ workers: 2, greeting: longGreeting, env: noResume });
    const calls = await Promise.all(Array.from({ length: 6 }, () => service.call()));
    const workers = await Promise.all(calls.map((call) => service.workerOf(call)));
    const victim = workers[0]!;
    const doomed = calls.filter((_, index) => workers[index] === victim);
    const others = calls.filter((_, index) => workers[index] !== victim);
    expect([doomed.length, others.length]).toEqual([3, 3]);
    await Promise.all(others.map((call) => hear(call, 5)));

    process.kill(victim, 'SIGKILL');
    const gaps = Promise.all(others.map((call) => hear(call, 50)));
    expect(await Promise.all(doomed.map((call) => call.closed))).toEqual(
      doomed.map(() => ({ code: 1006, reason: undefined })),
    );
    const fresh = await service.call();
    await hear(fresh, 5);
    expect(Math.max(...(await gaps))).toBeLessThan(longestHoleMs);
    await service.readyWhen((body) => body['connections'] === 4 && body['workers'] === 2);
    expect(service.children('worker')).toHaveLength(2);
    expect(service.children('worker')).not.toContain(victim);
    expect(await service.metric('svc_restarts_total{role="worker"}')).toBe(1);
    expect(service.said('child process died')).toMatchObject({
      role: 'supervisor',
      child: 'worker',
      signal: 'SIGKILL',
    });
  });

  it('again and again, it comes back each time', async () => {
    service = await TestService.start({ env: noResume });
    for (let round = 0; round < 3; round += 1) {
      const call = await service.call();
      process.kill(await service.workerOf(call), 'SIGKILL');
      expect((await call.closed).code).toBe(1006);
      await service.readyWhen((body) => body['workers'] === 1 && body['connections'] === 0);
    }
    expect((await (await service.call()).hangUp()).code).toBe(1000);
  });
});

describe('kill -9 of inference', () => {
  it('ends no call: turns are heard by energy meanwhile, and by the model once it is back', async () => {
    service = await TestService.start();
    service.providers.llm.script.push(answer('It is noon.'), answer('Still noon.'), answer('Noon it is.'));
    const call = await service.call();
    await ask(call, 'first question');
    const judged = await service.metric('svc_inference_frames{state="judged"}');
    expect(judged).toBeGreaterThan(0);

    const [inference] = service.children('inference');
    process.kill(inference!, 'SIGSTOP');
    await ask(call, 'second question');
    process.kill(inference!, 'SIGKILL');
    await service.says('inference ready', (line) => line['pid'] !== inference);
    await service.counted('svc_inference_up', 1);
    const judgedBefore = await service.metric('svc_inference_frames{state="judged"}');
    await ask(call, 'third question');
    expect(await service.metric('svc_inference_frames{state="judged"}')).toBeGreaterThan(judgedBefore);
    expect(await call.hangUp()).toEqual({ code: 1000, reason: 'ended' });
    const ended = await service.says('call ended');
    expect(ended).toMatchObject({ end: 'hangup', turns: 3 });
    expect(Number(ended['energyFrames'])).toBeGreaterThan(0);
  });

  it('in the middle of a sentence: the turn is still answered', async () => {
    service = await TestService.start();
    const call = await service.call();
    const asking = ask(call, 'a question');
    const { stt } = service.providers;
    await stt.until(() => (stt.connections[0]?.frames.length ?? 0) > 20);
    process.kill(service.children('inference')[0]!, 'SIGKILL');
    await asking;
  });

  it('while the bot speaks: its audio goes on', async () => {
    service = await TestService.start({ greeting: longGreeting });
    const call = await service.call();
    await hear(call, 5);
    process.kill(service.children('inference')[0]!, 'SIGKILL');
    expect(await hear(call, 50)).toBeLessThan(longestHoleMs);
    await service.readyWhen((body) => body['ready'] === 1);
  });
});

describe('kill -9 of the supervisor', () => {
  it('calls are told stop{shutdown}, and no process is left', async () => {
    service = await TestService.start({ workers: 2, greeting: longGreeting });
    const calls = await Promise.all(Array.from({ length: 4 }, () => service.call()));
    await Promise.all(calls.map((call) => hear(call, 2)));
    service.signal('SIGKILL');
    expect(await Promise.all(calls.map((call) => call.closed))).toEqual(
      calls.map(() => ({ code: 1001, reason: 'shutdown' })),
    );
    expect(await service.ended).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('whose children are stopped: they wake, calls are told, and no process is left', async () => {
    service = await TestService.start({ workers: 2 });
    const call = await service.call();
    const children = [...service.children('worker'), ...service.children('inference')];
    for (const child of children) process.kill(child, 'SIGSTOP');
    service.signal('SIGKILL');
    expect(await call.closed).toEqual({ code: 1001, reason: 'shutdown' });
    expect((await service.ended).signal).toBe('SIGKILL');
  });

  it('whose process of records is stopped, or still loads: it wakes, and no process is left', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'deaths-'));
    const env = { SVC_CALLS_DB: join(folder, 'calls.db') };
    service = await TestService.start({ env });
    await service.readyWhen((body) => body['ready'] === 1);
    for (const child of service.children('records')) process.kill(child, 'SIGSTOP');
    service.signal('SIGKILL');
    expect((await service.ended).signal).toBe('SIGKILL');

    service = await TestService.launch({ env });
    await service.says('listening', (line) => line['listener'] === 'health');
    await expect.poll(() => service.children('records')).toHaveLength(1);
    service.signal('SIGKILL');
    expect((await service.ended).signal).toBe('SIGKILL');
    expect(service.said('an exception escaped a call; this worker takes no new calls')).toBeUndefined();
    rmSync(folder, { recursive: true });
  });

  it('without calls: no process is left', async () => {
    service = await TestService.start({ workers: 2 });
    service.signal('SIGKILL');
    expect((await service.ended).signal).toBe('SIGKILL');
  });

  it('while it starts: no process is left', async () => {
    service = await TestService.launch({ workers: 2 });
    await service.says('listening', (line) => line['listener'] === 'health');
    service.signal('SIGKILL');
    expect((await service.ended).signal).toBe('SIGKILL');
  });
});

describe('a terminal that is closed (SIGHUP to all of its processes)', () => {
  it('drains the service: running calls go on until then, and are told', async () => {
    service = await TestService.start({ env: { SVC_DRAIN_TIMEOUT: '200ms' } });
    const call = await service.call();
    for (const child of service.children('worker')) process.kill(child, 'SIGHUP');
    service.signal('SIGHUP');
    await service.says('draining');
    expect(await call.closed).toEqual({ code: 1001, reason: 'shutdown' });
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });
});

describe('SIGTERM', () => {
  it('ends calls behind the farewell, within the grace that they have', async () => {
    service = await TestService.start({
      agent: 'farewell = "We close now. Goodbye."',
      env: { SVC_CANCEL_GRACE: '20s' },
    });
    const { tts } = service.providers;
    const call = await service.call();
    await service.says('call started');
    service.signal('SIGTERM');
    expect(await call.next((event) => event.type === 'audio')).toBeDefined();
    expect(await call.closed).toEqual({ code: 1001, reason: 'shutdown' });
    expect(tts.requests.map(({ body }) => body['input'])).toEqual(
      expect.arrayContaining(['We close now.', 'Goodbye.']),
    );
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('ends them without a word where there is no time for one', async () => {
    service = await TestService.start({ env: { SVC_CANCEL_GRACE: '0ms' } });
    const call = await service.call();
    await service.says('call started');
    let heard = 0;
    call.on((event) => (heard += Number(event.type === 'audio')));
    service.signal('SIGTERM');
    expect(await call.closed).toEqual({ code: 1001, reason: 'shutdown' });
    expect(heard).toBe(0);
  });
});

describe('SIGTERM while all workers hang', () => {
  it('ends their calls as a stop of the service', async () => {
    const env = { SVC_DRAIN_TIMEOUT: '100ms', SVC_CANCEL_GRACE: '100ms', SVC_HANG_TIMEOUT: '1h' };
    service = await TestService.start({ workers: 2, env });
    const calls = [await service.call(), await service.call()];
    // A worker that is stopped inside its first write leaves a call whose frames nobody can trust: another story.
    for (const role of ['worker 0', 'worker 1'])
      await service.says('call started', (line) => line['role'] === role);
    for (const child of service.children('worker')) process.kill(child, 'SIGSTOP');
    service.signal('SIGTERM');
    expect(await Promise.all(calls.map((call) => call.closed))).toEqual(
      calls.map(() => ({ code: 1001, reason: 'shutdown' })),
    );
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });
});

describe('a supervisor that a signal has stopped', () => {
  it('is woken by its workers, and the calls of one that died meanwhile go on', async () => {
    service = await TestService.start({
      workers: 2,
      greeting: 'This goes on and on. '.repeat(45),
      env: { SVC_SPARE_WORKER: 'on' },
    });
    const call = await service.call();
    await call.next((event) => event.type === 'audio');
    const worker = await service.workerOf(call);
    process.kill(service.pid, 'SIGSTOP');
    process.kill(worker, 'SIGKILL');
    await service.says('a signal has stopped the supervisor: it is woken');
    await service.says('call taken up');
    expect(await call.next((event) => event.type === 'audio')).toBeDefined();
    expect((await call.hangUp()).code).toBe(1000);
  });
});

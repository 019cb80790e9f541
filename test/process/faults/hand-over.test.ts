/** Connections on their way from the supervisor to a worker: every byte arrives, whatever happens to the worker meanwhile. */
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { TestService } from '../../support/process/service.ts';
import { audioFrame, RawCaller, startFrame, textFrame } from '../raw-caller.ts';

const connections = 40;
const unknowns = 15;

let service: TestService;
const callers: RawCaller[] = [];

afterEach(async () => {
  for (const caller of callers.splice(0)) caller.socket.destroy();
  await service.stop();
});

/** Twenty keys that name the connection and then run on: a lost, doubled or moved one shows. */
const keysOf = (index: number): string =>
  `${String(index).padStart(2, '0')}${Array.from({ length: 18 }, (_, at) => (index * 7 + at * 3) % 10).join('')}`;

/** Keys, messages that are answered one by one, and audio of changing length, mixed. */
function framesOf(index: number): Buffer[] {
  const frames = Array.from(keysOf(index), (digit) => textFrame({ type: 'dtmf', digit }));
  for (let i = 0; i < unknowns; i += 1) frames.splice(2 * i + 1, 0, textFrame({ type: `unknown-${i}` }));
  for (let i = 0; i < 5; i += 1) frames.splice(7 * i, 0, audioFrame(2 * (100 + 50 * i + index)));
  return frames;
}

/** Upgrade, start and some frames in one packet, then a frame every millisecond. */
async function callEagerly(index: number): Promise<RawCaller> {
  const frames = framesOf(index);
  const early = index % 8;
  const caller = new RawCaller(service.port, Buffer.concat([startFrame(), ...frames.slice(0, early)]));
  callers.push(caller);
  for (const frame of frames.slice(early)) {
    await new Promise<void>((resolve) => void systemClock.after(1, resolve));
    caller.send(frame);
  }
  return caller;
}

const callAll = (): Promise<RawCaller[]> =>
  Promise.all(Array.from({ length: connections }, (_, index) => callEagerly(index)));

/** What reached the LLM as pressed keys, sorted. */
async function keysHeard(): Promise<string[]> {
  const { llm } = service.providers;
  await llm.until(() => llm.requests.length >= connections);
  const keys = llm.requests.map(
    (request) => /keys: ([^\]]*)\]/.exec(JSON.stringify(request.body))?.[1] ?? '',
  );
  return keys.toSorted();
}

const allKeys = Array.from({ length: connections }, (_, index) => keysOf(index)).toSorted();

async function expectNothingLost(all: readonly RawCaller[]): Promise<void> {
  await Promise.all(all.map((caller) => caller.received('error', unknowns)));
  expect(all.map((caller) => caller.of('error').length)).toEqual(all.map(() => unknowns));
  expect(all.every((caller) => caller.status === 101 && !caller.gone)).toBe(true);
  expect(await keysHeard()).toEqual(allKeys);
}

describe('a connection that talks from its first packet on', () => {
  it('loses no byte on its way to a worker', async () => {
    service = await TestService.start({ workers: 2 });
    await expectNothingLost(await callAll());
  });

  it('loses no byte while its worker is busy', async () => {
    service = await TestService.start();
    const [worker] = service.children('worker');
    process.kill(worker!, 'SIGSTOP');
    const calling = callAll();
    await service.readyWhen((body) => body['connections'] === connections);
    process.kill(worker!, 'SIGCONT');
    await expectNothingLost(await calling);
  });

  it('is served by the replacement when its worker dies before taking it', async () => {
    service = await TestService.start();
    const [worker] = service.children('worker');
    process.kill(worker!, 'SIGSTOP');
    const calling = callAll();
    await service.readyWhen((body) => body['connections'] === connections);
    process.kill(worker!, 'SIGKILL');
    await expectNothingLost(await calling);
    expect(service.children('worker')).not.toContain(worker);
    expect(await service.metric('svc_handovers_total{outcome="moved"}')).toBe(connections);
  });

  it('is served by another worker when one dies before taking it', async () => {
    service = await TestService.start({ workers: 2 });
    const [worker] = service.children('worker');
    process.kill(worker!, 'SIGSTOP');
    const calling = callAll();
    await service.readyWhen((body) => body['connections'] === connections);
    process.kill(worker!, 'SIGKILL');
    await expectNothingLost(await calling);
  });
});

describe('a worker that dies while connections come in', () => {
  it('leaves every client with a whole call or a closed connection, and no slot taken', async () => {
    service = await TestService.start({ workers: 2, env: { SVC_CALL_RESUME: 'off' } });
    for (let round = 0; round < 6; round += 1) {
      const some = Array.from({ length: 30 }, () => new RawCaller(service.port, startFrame()));
      callers.push(...some);
      await Promise.race(some.map((caller) => caller.until(() => caller.head !== undefined)));
      process.kill(service.children('worker')[round % 2]!, 'SIGKILL');
      await Promise.all(some.map((caller) => caller.received('started')));
      const alive = some.filter((caller) => !caller.gone);
      for (const caller of alive) caller.send(textFrame({ type: 'unknown' }));
      await Promise.all(alive.map((caller) => caller.received('error')));
      // A second answer to one upgrade would be read as a frame.
      expect(alive.every((caller) => caller.gone || caller.of('error').length === 1)).toBe(true);
      expect(some.every((caller) => caller.of('started').length <= 1 && caller.closeCode === undefined)).toBe(
        true,
      );
      for (const caller of some) caller.socket.destroy();
      await service.readyWhen((body) => body['connections'] === 0 && body['workers'] === 2);
    }
  });
});

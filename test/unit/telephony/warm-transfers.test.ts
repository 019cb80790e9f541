/** Warm transfers at work: a service that dies at each step of one and is started again, and a folder that cannot be used. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CarrierOutcome } from '../../../shared/telephony/call-control.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import type { WarmCarrier } from '../../../supervisor/telephony/carrier.ts';
import { newSaga } from '../../../supervisor/telephony/saga.ts';
import { SagaStore, whyNoState } from '../../../supervisor/telephony/saga-store.ts';
import { WarmTransfers } from '../../../supervisor/telephony/warm-transfers.ts';
import { newVirtualClock, type VirtualClock } from '../../support/core/virtual-clock.ts';

type Step = 'park' | 'ring' | 'join' | 'hang_up' | 'put_back';

/** The carrier and both telephones, which live on when the service dies. */
class World {
  caller: 'bot' | 'parked' | 'joined' | 'gone' = 'bot';
  leg: 'none' | 'ringing' | 'joined' | 'ended' = 'none';
  readonly done: Step[] = [];
  /** The step whose answer never comes, because the service dies before it. */
  silentAt: Step | undefined;
  readonly reached: Promise<void>;
  #reach: () => void = () => undefined;

  constructor() {
    this.reached = new Promise((resolve) => (this.#reach = resolve));
  }

  get carrier(): WarmCarrier {
    return {
      park: () => this.#do('park', () => (this.caller = 'parked')),
      ring: async () => {
        const outcome = await this.#do('ring', () => (this.leg = 'ringing'));
        return outcome.kind === 'ok' ? { kind: 'ok', id: 'leg-1' } : outcome;
      },
      join: () => this.#do('join', () => (this.caller = this.leg = 'joined')),
      hangUp: () => this.#do('hang_up', () => (this.leg = 'ended')),
      putBack: () => this.#do('put_back', () => (this.caller = 'bot')),
      isOver: () => Promise.resolve(this.caller === 'gone'),
    };
  }

  async #do(step: Step, effect: () => void): Promise<CarrierOutcome> {
    this.done.push(step);
    effect();
    if (step !== this.silentAt) return { kind: 'ok' };
    this.#reach();
    return await new Promise(() => undefined);
  }
}

const command: Parameters<WarmTransfers['begin']>[0] = {
  type: 'transfer',
  attempt: 1,
  mode: 'warm',
  commandId: 'c-1',
  carrier: 'carrier_a',
  callId: 'CA1',
  to: '+15550100077',
  from: '+15550100002',
  summary: 'a secret of the caller',
  language: 'en',
  carried: { context: [], after: 'transfer', metadata: {} },
};

let folder: string;
const lines: unknown[][] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-warm-'));
  lines.length = 0;
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

/** A service on this folder, as it is after a start. */
function start(
  world: World,
  now = 0,
): { readonly warm: WarmTransfers; readonly die: () => void; readonly clock: VirtualClock } {
  const store = new SagaStore(folder);
  const clock = newVirtualClock();
  const note = (...line: unknown[]): unknown => lines.push(line);
  const warm = new WarmTransfers({
    store,
    clock,
    wallClock: { now: () => now },
    log: { info: note, warn: note, error: note } as unknown as Log,
    warmOf: () => world.carrier,
    counted: () => undefined,
    full: () => lines.push(['full']),
    taken: () => undefined,
    begun: () => undefined,
  });
  warm.open();
  // The system closes what a dead process had open; nothing else of it happens.
  return { warm, die: () => store.close(), clock };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const phases = (warm: WarmTransfers): string[] => warm.views.map(({ phase }) => phase);
const written = (): string => readFileSync(join(folder, 'transfers.jsonl'), 'utf8');

/** Goes as far as to the step at which the service dies. */
async function begun(world: World, diesAt: Step): Promise<void> {
  world.silentAt = diesAt;
  const { warm, die } = start(world);
  void warm.begin(command, { mayReturn: true });
  await settled();
  const [view] = warm.views;
  const handle = view?.handle ?? '';
  if (diesAt === 'join') {
    warm.told(handle, { type: 'leg.answered', leg: 'leg-1' });
    expect(warm.command(handle, 'complete')).toBeUndefined();
  } else if (diesAt === 'hang_up' || diesAt === 'put_back') warm.command(handle, 'abort');
  await world.reached;
  world.silentAt = undefined;
  die();
}

describe('a service that dies while it', () => {
  it.each(['park', 'ring', 'join', 'hang_up', 'put_back'] as const)(
    'does the step %s finds the caller again, repeats nothing, and an operator brings them back',
    async (diesAt) => {
      const world = new World();
      await begun(world, diesAt);
      const before = [...world.done];
      const { warm } = start(world);
      await settled();
      expect(world.done.filter((step) => step === 'ring' || step === 'park')).toEqual(
        before.filter((step) => step === 'ring' || step === 'park'),
      );
      const [view] = warm.views;
      if (diesAt === 'put_back') expect(['parked', 'unsure']).toContain(view?.phase);
      if (view !== undefined) expect(warm.command(view.handle, 'abort')).toBeUndefined();
      await settled();
      expect(world.caller).toBe('bot');
      expect(phases(warm)).toEqual([]);
      expect(world.done.filter((step) => step === 'join').length).toBe(diesAt === 'join' ? 1 : 0);
      expect(world.done.filter((step) => step === 'ring').length).toBeLessThanOrEqual(1);
    },
  );

  it('waits for nothing finds it where it was: a person who answers later can still be joined', async () => {
    const world = new World();
    const first = start(world);
    void first.warm.begin(command, { mayReturn: true });
    await settled();
    first.die();
    const { warm } = start(world);
    const handle = warm.views[0]?.handle ?? '';
    expect(phases(warm)).toEqual(['rung']);
    warm.told(handle, { type: 'leg.answered', leg: 'leg-1' });
    expect(warm.command(handle, 'complete')).toBeUndefined();
    await settled();
    expect([world.caller, phases(warm)]).toEqual(['joined', []]);
  });
});

it('a caller who waits for an operator and is gone waits no more, as soon as the carrier says so', async () => {
  const world = new World();
  await begun(world, 'park');
  const { warm, clock } = start(world);
  clock.advance(5_000);
  await settled();
  expect(phases(warm)).toEqual(['parked']);
  world.caller = 'gone';
  clock.advance(55_000);
  await settled();
  expect(phases(warm)).toEqual(['parked']);
  clock.advance(5_000);
  await settled();
  expect(phases(warm)).toEqual([]);
});

it.each([
  ['ends with the talk when the caller hangs up', undefined, ['hang_up']],
  ['that is over is left alone', 'leg.ended', []],
] as const)('a leg that was joined %s', async (_, first, ended) => {
  const world = new World();
  const { warm } = start(world);
  void warm.begin(command, { mayReturn: true });
  await settled();
  const handle = warm.views[0]?.handle ?? '';
  warm.told(handle, { type: 'leg.answered', leg: 'leg-1' });
  warm.command(handle, 'complete');
  await settled();
  expect(world.caller).toBe('joined');
  if (first !== undefined) warm.told(handle, { type: first, leg: 'leg-1' });
  for (let told = 0; told < 2; told += 1) warm.toldOfCall(command.callId, { type: 'caller.gone' });
  expect(world.done).toEqual(['park', 'ring', 'join', ...ended]);
});

describe('what is written down', () => {
  it('is for the owner alone, holds no number, and goes when the transfer is over', async () => {
    const world = new World();
    const { warm } = start(world);
    void warm.begin(command, { mayReturn: true });
    await settled();
    expect(written()).toContain('a secret of the caller');
    expect(written()).not.toContain('5550100');
    expect(statSync(join(folder, 'transfers.jsonl')).mode & 0o777).toBe(0o600);
    warm.command(warm.views[0]?.handle ?? '', 'abort');
    await settled();
    expect(written()).toBe('');
  });

  it('that was cut by a death, or is no transfer, is left out', async () => {
    const world = new World();
    const first = start(world);
    void first.warm.begin(command, { mayReturn: true });
    await settled();
    first.die();
    appendFileSync(join(folder, 'transfers.jsonl'), '{"handle":5}\n[]\n{"handle":"x","phase":"rung"}\n{"han');
    expect(phases(start(world).warm)).toEqual(['rung']);
  });

  it('has to be: a transfer that cannot be written down is refused before anybody is parked', async () => {
    const world = new World();
    const { warm } = start(world);
    rmSync(folder, { recursive: true });
    expect(await warm.begin(command, { mayReturn: true })).toEqual({ kind: 'refused', code: 'unavailable' });
    expect(world.done).toEqual([]);
    expect(lines).toContainEqual([
      expect.objectContaining({ call: command.callId, folder }),
      'a warm transfer could not be written down',
    ]);
    mkdirSync(folder);
  });

  it('may be on a disk that fills up: what is written down afterwards is found', (context) => {
    const small = ['-t', 'tmpfs', '-o', 'size=8k', 'none', folder];
    if (spawnSync('mount', small, { stdio: 'ignore' }).status !== 0)
      return context.skip('this user may not mount a small disk');
    try {
      const store = new SagaStore(folder);
      const sagaOf = (summary: string) =>
        newSaga({ ...command, handle: 'one', carrier: 'carrier_a', mayReturn: true, summary }, 0).saga;
      expect(store.save(sagaOf('x'.repeat(10_000)))).toBe('its disk is full');
      execFileSync('mount', ['-o', 'remount,size=64k', folder]);
      expect(store.save(sagaOf('short'))).toBeUndefined();
      expect(new SagaStore(folder).load()).toMatchObject([{ summary: 'short' }]);
    } finally {
      execFileSync('umount', ['-l', folder]);
    }
  });
});

describe('SVC_STATE_DIR', () => {
  const why = (path: string | undefined, isSuccessor = false): string | undefined =>
    whyNoState(path, { isSuccessor });

  it('may be unset, or a folder that is made', () => {
    expect([why(undefined), why(join(folder, 'new'))]).toEqual([undefined, undefined]);
    expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o700);
  });

  it.each([
    ['below a file', 'file/state'],
    ['a file', 'file'],
    ['with transfers.jsonl as a folder', 'odd'],
  ])('%s is refused by name, without the path', (_, name) => {
    writeFileSync(join(folder, 'file'), '');
    mkdirSync(join(folder, 'odd', 'transfers.jsonl'), { recursive: true });
    const problem = why(join(folder, name));
    expect(problem).toMatch(/^SVC_STATE_DIR must name a folder that can be written to: /);
    expect(problem).not.toContain(folder);
  });

  it('is refused, too, where no folder can be made and Node would try for ever', () => {
    expect(why('/proc/state')).toMatch(/^SVC_STATE_DIR must name a folder that can be written to: /);
  });

  it('is one service: a second is refused, one that takes over waits until it is let go', async () => {
    const world = new World();
    const first = start(world);
    expect(why(folder)).toBe(
      'SVC_STATE_DIR must name a folder of this service alone: another one is using it',
    );
    expect(why(folder, true)).toBeUndefined();
    const second = start(world);
    expect(await second.warm.begin(command, { mayReturn: true })).toMatchObject({ code: 'unavailable' });
    first.warm.leave();
    second.clock.advance(100);
    void second.warm.begin(command, { mayReturn: true });
    await settled();
    expect(phases(second.warm)).toEqual(['rung']);
    second.warm.leave();
    expect(why(folder)).toBeUndefined();
  });
});

it('is refused and counted while 1,024 others are under way', async () => {
  const world = new World();
  world.silentAt = 'park';
  const { warm } = start(world);
  const begin = (call: number): Promise<CarrierOutcome> =>
    warm.begin({ ...command, callId: `CA${call}`, commandId: `c-${call}` }, { mayReturn: true });
  for (let call = 0; call < 1_024; call += 1) void begin(call);
  const isFull = (): boolean => lines.some(([what]) => what === 'full');
  expect(isFull()).toBe(false);
  expect(await begin(1_024)).toEqual({ kind: 'refused', code: 'unavailable' });
  expect(isFull()).toBe(true);
});

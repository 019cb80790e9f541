/** How much of the service agents and tenants may use: what is counted, for whom, and since when. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Log } from '../../../shared/runtime/log.ts';
import { UsedMinutes } from '../../../supervisor/agents/used-minutes.ts';
import { AgentLimits, countCalls, tenantKey } from '../../../supervisor/agents/agent-limits.ts';
import { AgentsInUse, mostNamed } from '../../../supervisor/agents/agents-in-use.ts';
import { noRouting } from '../../../shared/agents/routing.ts';
import type { Limits } from '../../../shared/agents/limits.ts';
import type { AgentVersion } from '../../../shared/agents/version.ts';
import { newSupervisorMetrics } from '../../../shared/runtime/metrics.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const day = 86_400_000;
const noon = 20_000 * day + day / 2;

function limited(limits: Readonly<Record<string, Limits>>): AgentLimits {
  const made = new AgentLimits();
  made.set(new Map(Object.entries(limits)));
  return made;
}

const running = (...ids: readonly string[]): Map<string, number> => countCalls(ids);

describe('calls at the same time', () => {
  const limits = (): AgentLimits =>
    limited({ 'clinic/desk': { calls: 2 }, [tenantKey('clinic')]: { calls: 3 } });

  it('are those of the agent, and of its tenant in all', () => {
    const of = limits();
    const at = { now: noon };
    expect(of.refusal('clinic/desk', running('clinic/desk'), at)).toBeUndefined();
    expect(of.refusal('clinic/desk', running('clinic/desk', 'clinic/desk'), at)).toEqual({
      limit: 'calls',
      retryAfterS: 1,
    });
    const full = running('clinic/desk', 'clinic/night', 'clinic/night');
    expect(of.refusal('clinic/desk', full, at)?.limit).toBe('calls');
    expect(of.refusal('clinic/night', full, at)?.limit).toBe('calls');
    expect(of.refusal('diner/desk', full, at)).toBeUndefined();
    expect(of.refusal('clinic', full, at)).toBeUndefined();
  });

  it('are promised to callers who were told to come, for as long as they may take', () => {
    const of = limited({ a: { calls: 1 } });
    of.expect('a', noon);
    expect(of.refusal('a', running(), { now: noon + 9_999 })?.limit).toBe('calls');
    of.came('a', noon + 5_000);
    expect(of.refusal('a', running(), { now: noon + 5_000 })).toBeUndefined();
    of.expect('a', noon + 6_000);
    expect(of.refusal('a', running(), { now: noon + 16_000 })).toBeUndefined();
  });

  it('hold a call once that goes from one agent to another one of its tenant', () => {
    const of = limited({ [tenantKey('clinic')]: { calls: 1, callsPerMinute: 1 }, 'clinic/b': { calls: 1 } });
    of.began('clinic/a', { now: noon });
    const at = { now: noon, before: 'clinic/a' };
    expect(of.refusal('clinic/b', running('clinic/a'), at)).toBeUndefined();
    expect(of.refusal('clinic/b', running('clinic/a', 'clinic/b'), at)?.limit).toBe('calls');
    expect(of.refusal('clinic/a', running('clinic/a'), { now: noon })?.limit).toBe('calls');
  });
});

describe('calls in a minute', () => {
  it('are those that began in the sixty seconds before', () => {
    const of = limited({ a: { callsPerMinute: 2 } });
    of.began('a', { now: noon });
    of.began('a', { now: noon + 20_000 });
    expect(of.refusal('a', running(), { now: noon + 30_000 })).toEqual({
      limit: 'callsPerMinute',
      retryAfterS: 30,
    });
    expect(of.refusal('a', running(), { now: noon + 60_000 })).toBeUndefined();
    of.began('a', { now: noon + 60_000 });
    expect(of.refusal('a', running(), { now: noon + 61_000 })?.retryAfterS).toBe(19);
  });
});

describe('minutes of a day', () => {
  it('are those of all calls together, and begin anew at midnight by UTC', () => {
    const of = limited({ [tenantKey('clinic')]: { minutesPerDay: 10 } });
    of.meter(running('clinic/a', 'clinic/b'), 299_000, noon);
    expect(of.refusal('clinic/a', running(), { now: noon })).toBeUndefined();
    of.meter(running('clinic/a', 'clinic/b'), 1_000, noon);
    expect(of.refusal('clinic/c', running(), { now: noon })).toEqual({
      limit: 'minutesPerDay',
      retryAfterS: day / 2 / 1000,
    });
    expect(of.refusal('clinic/c', running(), { now: noon + day / 2 })).toBeUndefined();
  });

  it('stay used when the files change, and when another supervisor goes on', () => {
    const of = limited({ a: { minutesPerDay: 1 } });
    of.meter(running('a'), 60_000, noon);
    of.set(new Map([['a', { minutesPerDay: 2 }]]));
    expect(of.refusal('a', running(), { now: noon })).toBeUndefined();
    of.set(new Map([['a', { minutesPerDay: 1, callsPerMinute: 1 }]]));
    of.began('a', { now: noon });
    const next = limited({ a: { callsPerMinute: 1, minutesPerDay: 1 } });
    next.inherit(JSON.parse(JSON.stringify(of.give())) as ReturnType<AgentLimits['give']>);
    expect(next.refusal('a', running(), { now: noon + 1 })?.limit).toBe('callsPerMinute');
    expect(next.refusal('a', running(), { now: noon + 61_000 })?.limit).toBe('minutesPerDay');
  });
});

const version = (id: string, limits?: Limits): AgentVersion => ({
  id,
  hash: `hash of ${id}`,
  name: id,
  text: '',
  files: { texts: {}, recordings: {} },
  routing: noRouting,
  ...(limits !== undefined && { limits }),
});

function inUse(versions: readonly AgentVersion[]) {
  const calls = new Map<number, string>();
  const metrics = newSupervisorMetrics();
  const use = new AgentsInUse({ clock: newVirtualClock(), wallClock: { now: () => noon } });
  use.change(versions);
  const refOf = (id: string) => ({ id, hash: `hash of ${id}` });
  use.serve({
    metrics,
    ofCalls: () => [...calls.values()].map(refOf),
    agentOf: (offer) => (calls.has(offer) ? refOf(calls.get(offer)!) : undefined),
  });
  let offer = 0;
  const call = (id: string, isExpected = false): boolean => {
    offer += 1;
    const asked = { type: 'agent.asked', ask: 1, offer, agent: refOf(id), isExpected } as const;
    const isGranted = use.grants(asked);
    if (isGranted) calls.set(offer, id);
    return isGranted;
  };
  return { use, calls, call, metrics };
}

describe('agents in use', () => {
  it('a call that was told to come takes the room that was kept for it, and no other one does', () => {
    const { use, call } = inUse([version('a', { calls: 1 })]);
    expect(use.look('a')).toBeUndefined();
    use.expect('a');
    expect(use.look('a')?.limit).toBe('calls');
    expect(call('a')).toBe(false);
    expect(call('a', true)).toBe(true);
    expect(call('a', true)).toBe(false);
  });

  it('a call that is over leaves its place, and calls of the supervisor before count until that is gone', () => {
    const { use, calls, call } = inUse([version('a', { calls: 1 })]);
    expect(call('a')).toBe(true);
    calls.clear();
    use.inherit({ day: 20_000, usedMs: {}, starts: {}, calls: { a: 1 } }, { counts: false });
    expect(call('a')).toBe(false);
    use.inherit(undefined, { counts: false });
    expect(call('a')).toBe(true);
  });

  it('names as many as metrics may have labels, the busiest, each as long as none is twice as busy', async () => {
    const ids = Array.from({ length: 200 }, (_, at) => `t${at}/a`);
    const { use, call, metrics } = inUse(ids.map((id) => version(id, { calls: 1 })));
    for (const id of ids) for (let time = 0; time < 3; time += 1) use.began(id);
    for (let time = 0; time < 9; time += 1) use.began('t199/a');
    expect(use.tidy()).toBe(true);
    expect(use.tidy()).toBe(false);
    expect(use.named).toHaveLength(mostNamed);
    expect([use.label('t199/a'), use.label('t0/a'), use.label('t150/a')]).toEqual([
      't199/a',
      't0/a',
      'other',
    ]);
    use.began('t150/a');
    expect(use.tidy()).toBe(false);
    for (const id of ids) {
      call(id);
      call(id);
    }
    use.readGauges();
    const labels = async (metric: 'agentCalls' | 'agentRefusals'): Promise<readonly unknown[]> =>
      (await metrics[metric].get()).values.map(({ labels: { agent } }) => agent);
    for (const metric of ['agentCalls', 'agentRefusals'] as const) {
      expect(new Set(await labels(metric)).size).toBe(mostNamed + 1);
      expect(await labels(metric)).toContain('other');
    }
  });
});

describe('minutes of a day on disk', () => {
  const version: AgentVersion = {
    ...{ id: 'clinic/desk', hash: 'h', name: 'desk', tenant: 'clinic', text: '' },
    files: { texts: {}, recordings: {} },
    routing: noRouting,
    limits: { minutesPerDay: 1 },
  };
  let dir: string;
  beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'svc-minutes-'))));
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const warned: string[] = [];
  const log = { warn: (_: unknown, text: string) => warned.push(text) } as unknown as Log;

  function newInUse(now: () => number) {
    const clock = newVirtualClock();
    const minutes = new UsedMinutes(dir, log);
    const inUse = new AgentsInUse({ clock, wallClock: { now }, minutes });
    inUse.change([version]);
    const metrics = newSupervisorMetrics();
    inUse.serve({ metrics, ofCalls: () => [{ id: 'clinic/desk', hash: 'h' }], agentOf: () => undefined });
    return { clock, inUse };
  }

  it('hold for the same day, and for no other one', () => {
    const { clock, inUse } = newInUse(() => noon);
    clock.advance(61_000);
    expect(inUse.look('clinic/desk')?.limit).toBe('minutesPerDay');
    inUse.keep();
    expect(newInUse(() => noon + 1_000).inUse.look('clinic/desk')?.limit).toBe('minutesPerDay');
    expect(newInUse(() => noon + day).inUse.look('clinic/desk')).toBeUndefined();
  });

  it('are written down now and then, and not by a supervisor that another one has followed', () => {
    const { clock, inUse } = newInUse(() => noon);
    clock.advance(6_000);
    const path = join(dir, 'agent-minutes.json');
    const first = readFileSync(path, 'utf8');
    inUse.give();
    clock.advance(3_000);
    inUse.keep();
    expect(readFileSync(path, 'utf8')).toBe(first);
    expect(first).toMatch(/"clinic\/desk":\d+/);
  });

  it.each(['', '{"day":', '[]', '{"day":1,"usedMs":{"a":-1}}', '{"day":"x","usedMs":{}}'])(
    'count as nothing where the file says %j',
    (text) => {
      writeFileSync(join(dir, 'agent-minutes.json'), text);
      expect(newInUse(() => noon).inUse.look('clinic/desk')).toBeUndefined();
    },
  );

  it('cost no call where they cannot be written, and are told of once', () => {
    const { clock, inUse } = newInUse(() => noon);
    rmSync(dir, { recursive: true });
    clock.advance(30_000);
    expect(inUse.look('clinic/desk')).toBeUndefined();
    expect(warned).toEqual(['the minutes of agents cannot be written down']);
  });
});

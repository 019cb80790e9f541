/** A call about which the operator's server is asked before its first word. */
import { describe, expect, it } from 'vitest';
import type { LookedUp, LookUpCall } from '../../../worker/agents/look-up.ts';
import { newRouteOf } from '../../../worker/agent-link/routes.ts';
import type { AdmittedStart } from '../../../worker/call/admission.ts';
import { fakeSettings } from '../../support/fakes/fake-call.ts';
import { newWorld } from './one-call.ts';

/** The server, which answers when the test says so. */
function newServer() {
  const asked: { readonly start: AdmittedStart; readonly answer: (found: LookedUp) => void }[] = [];
  const lookUp: LookUpCall = (start) =>
    new Promise((resolve) => {
      asked.push({ start, answer: resolve });
    });
  return { asked, lookUp };
}

const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

const answered = (answer: Partial<Extract<LookedUp, { kind: 'answered' }>['answer']>): LookedUp => ({
  kind: 'answered',
  answer: { variables: {}, problems: [], ...answer },
});

const greeting = 'Hello {{call.name | there}}, {{call.direction}} at {{call.time}}.';

describe('a look-up before a call', () => {
  /** A call whose server was asked and has not answered yet. */
  function begin(options: Parameters<ReturnType<typeof newWorld>['newCall']>[0] = {}) {
    const server = newServer();
    const world = newWorld();
    const settings = { ...fakeSettings(), greeting };
    const call = world.newCall({ lookUp: server.lookUp, agent: { settings }, ...options });
    return { server, world, call, answer: server.asked[0]!.answer };
  }

  it('fills in what the server says, before the first word', async () => {
    const { call, answer } = begin();
    expect([call.transport.told, call.stages.tts]).toEqual([[], []]);
    answer(answered({ variables: { name: 'Ada' } }));
    await settled();
    expect(call.transport.told).toEqual(['accept']);
    expect(call.tts().asked.slice(0, 2)).toEqual([
      'speak 1 Hello Ada, inbound at Monday, ',
      'speak 1 30 November 2026 at 00:53.',
    ]);
  });

  it('keeps what is said and pressed meanwhile', async () => {
    const { call, answer } = begin();
    for (let at = 0; at < 400; at += 20) call.enter(() => call.runner.audio(new Uint8Array(640)));
    call.enter(() => call.runner.dtmf('5'));
    call.enter(() => call.runner.dtmf('#'));
    answer(answered({}));
    await settled();
    call.hear(500, 0.9);
    expect(call.stt().heard).toBeGreaterThan(500 * 16);
    expect(call.llm().request.messages.at(-1)?.text).toBe('[The caller pressed the keys: 5]');
  });

  it('comes before the agent process is asked, and both are heard', async () => {
    const order: string[] = [];
    const { call, answer } = begin({
      prepare: () => ({ prompt: 'From the process.' }),
      linked: () => order.push('process'),
    });
    order.push('server');
    answer(answered({ variables: { name: 'Ada' } }));
    await settled();
    expect(order).toEqual(['server', 'process']);
    expect(call.tts().asked[0]).toContain('Hello Ada');
  });

  it('that comes to nothing lets the call begin as the file says', async () => {
    const { call, answer } = begin();
    answer({ kind: 'failed', refuse: false });
    await settled();
    expect(call.transport.told).toEqual(['accept']);
    expect(call.tts().asked[0]).toContain('Hello there');
  });

  it('refuses the call where the file says so, as a service that is full', async () => {
    const { world, call, answer } = begin({ prepare: () => ({}), linked: () => assertNever() });
    answer({ kind: 'failed', refuse: true });
    await settled();
    expect(call.transport.told).toEqual(['refuse server_busy']);
    call.enter(() => call.runner.ended('engine'));
    expect([call.overs(), world.sessions.now]).toEqual([1, 0]);
  });

  it('is of no use to a caller who hung up meanwhile', async () => {
    const { world, call, answer } = begin({ prepare: () => ({}), linked: () => assertNever() });
    call.enter(() => call.runner.ended('hangup'));
    answer(answered({ agent: 'other' }));
    await settled();
    expect([call.transport.told, call.overs(), world.sessions.now]).toEqual([[], 1, 0]);
  });

  it('may give the call to another agent of the tenant', async () => {
    const other = { settings: { ...fakeSettings(), greeting: 'The other one.' } };
    const { call, answer } = begin({ others: { other } });
    answer(answered({ agent: 'other', variables: { name: 'Ada' } }));
    await settled();
    expect(call.tts().asked[0]).toBe('speak 1 The other one.');
  });

  it.each(['of-another-tenant', 'constructor', '__proto__'])(
    'gives the call to no agent that the tenant does not have: %s',
    async (agent) => {
      const { call, answer } = begin();
      answer(answered({ agent }));
      await settled();
      expect(call.transport.told).toEqual(['accept']);
      expect(call.tts().asked[0]).toContain('Hello there');
    },
  );

  it('leads the call by the routes of the agent that has it then', async () => {
    const starts: AdmittedStart[] = [];
    const routeOf = newRouteOf(new Map([['acme', { signed: true }]]), () => undefined);
    const { call, answer } = begin({
      others: { other: { routeOf } },
      metadata: { agent_route: 'acme' },
      ...{ prepare: () => ({}), linked: (start: AdmittedStart) => starts.push(start) },
    });
    answer(answered({ agent: 'other' }));
    await settled();
    expect([starts, call.transport.told]).toEqual([[], ['refuse unsigned_route']]);
  });

  it('that breaks by itself ends this call alone', async () => {
    const world = newWorld();
    const call = world.newCall({ lookUp: () => Promise.reject(new Error('broken')) });
    await settled();
    expect(call.transport.told).toEqual(['fail']);
    expect(call.overs()).toBe(1);
  });
});

/** The agent process must not be asked. */
function assertNever(): never {
  throw new Error('the agent process was asked');
}

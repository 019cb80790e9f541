/** Each step of docs/reference/agent-link.md, How a call goes, and each row of `session.start` and `session.accept`, on the machine of the link. */
import { describe, expect, it } from 'vitest';
import { newLink, resumedLink, saveLink } from '../../../worker/agent-link/link-state.ts';
import { kinds, LinkDriver, linkSettings, written, type Written } from '../../support/link-driver.ts';

const delta = { type: 'bot.text', epoch: 1, text: 'a' } as const;
const spoke = { type: 'turn.user_started', epoch: 2 } as const;
const run = {
  type: 'tool.run',
  call: {
    call_id: 'a',
    name: 't',
    arguments: {},
    kind: 'side_effect',
    epoch: 1,
    idempotency_key: '0123456789abcdef',
    timeout_ms: 5000,
  },
} as const;
const errors = (sent: readonly Written[]): unknown[] =>
  sent.filter(({ type }) => type === 'error').map((one) => one['message']);

describe('States and transitions', () => {
  it('connecting: the server opens the WebSocket and sends session.start', () => {
    const link = new LinkDriver();
    expect(kinds(link.give({ type: 'call.began' }))).toEqual(['connect']);
    link.now = 5;
    expect(written(link.give({ type: 'socket.opened' }))).toEqual([
      {
        seq: 1,
        t_ms: 5,
        type: 'session.start',
        protocol: 'svc.agent',
        versions: [1],
        session_id: 'c1',
        agent: 'desk',
        capabilities: { transfer: false, tools: true },
      },
    ]);
  });

  it('connecting: session.start tells what was signed of the call, and apart from it what the client says', () => {
    const said = {
      route: 'billing',
      session: { sid: 's1', agent: 'acme', meta: { plan: 'gold' } },
      metadata: { agent_route: 'other' },
      caller: { carrier: 'carrier_a', carrier_call_id: 'CA1' },
    } as const;
    const link = new LinkDriver(newLink({ ...linkSettings, ...said }, 0));
    link.give({ type: 'call.began' });
    const { caller: call, ...told } = said;
    expect(written(link.give({ type: 'socket.opened' }))).toMatchObject([{ ...told, call }]);
  });

  it('connecting: a client cannot make session.start too large by what it says', () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 32 }, (_, at) => [`${'\u0001'.repeat(62)}${at}`, '\u0001'.repeat(256)]),
    );
    const meta = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, '\u0001'.repeat(256)]));
    const link = new LinkDriver(newLink({ ...linkSettings, metadata, session: { sid: 's1', meta } }, 0));
    link.give({ type: 'call.began' });
    const [opening] = written(link.give({ type: 'socket.opened' }));
    expect(opening).toMatchObject({ seq: 1, session: { sid: 's1', meta } });
    expect(opening).not.toHaveProperty('metadata');
  });

  it('connecting: connect fails: fallback', () => {
    const link = new LinkDriver();
    link.give({ type: 'call.began' });
    expect(kinds(link.give({ type: 'socket.closed', why: 'ECONNREFUSED' }))).toEqual([
      'fallback',
      'call.prepared',
    ]);
  });

  it('connecting: connect is slow: fallback after 2 s', () => {
    const link = new LinkDriver();
    link.give({ type: 'call.began' });
    expect(link.at(1_999)).toEqual([]);
    expect(kinds(link.at(2_000))).toEqual(['close', 'fallback', 'call.prepared']);
    expect(link.give({ type: 'socket.opened' })).toEqual([]);
  });

  it('handshaking: session.accept within 2 s of the connection: active', () => {
    const link = new LinkDriver();
    link.give({ type: 'call.began' });
    link.at(1_900);
    link.give({ type: 'socket.opened' });
    link.at(3_899);
    expect(kinds(link.says({ type: 'session.accept', version: 1 }))).toEqual(['active', 'call.prepared']);
  });

  it('handshaking: no answer for 2 s from the connection: fallback, and a late answer is nothing', () => {
    const link = new LinkDriver();
    link.give({ type: 'call.began' });
    link.at(1_900);
    link.give({ type: 'socket.opened' });
    expect(link.at(3_899)).toEqual([]);
    expect(kinds(link.at(3_900))).toEqual(['close', 'fallback', 'call.prepared']);
    expect(link.says({ type: 'session.accept', version: 1 })).toEqual([]);
  });

  it.each([
    ['session.reject', { type: 'session.reject', code: 'unsupported_version', message: 'sorry' }],
    ['a version that was not offered', { type: 'session.accept', version: 2 }],
    ['no version', { type: 'session.accept' }],
    ['any other first message', { type: 'say', text: 'Hi' }],
    ['no JSON', '{'],
    ['no object', '[]'],
    [
      'tools nested without end',
      `{"type":"session.accept","version":1,"tools":[${'['.repeat(30_000)}${']'.repeat(30_000)}]}`,
    ],
  ])('handshaking: %s: fallback', (_row, message) => {
    const orders = new LinkDriver().opened().says(message);
    expect(kinds(orders)).toEqual(['close', 'fallback', 'call.prepared']);
    expect(orders.at(-1)).toEqual({ type: 'call.prepared', accept: undefined });
  });

  it.each(['x', 'ü', '満', '\u{1f600}', '\ud800'])(
    'handshaking: a long refusal of %j fits a close frame',
    (letter) => {
      const reject = { type: 'session.reject', code: 'busy', message: letter.repeat(200) };
      const [close] = new LinkDriver().opened().says(reject);
      const reason = close?.type === 'close' ? close.reason : '';
      expect(reason).toContain('rejected: busy ');
      expect(Buffer.byteLength(reason)).toBeGreaterThan(119);
      expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123);
    },
  );

  it('handshaking: a binary frame: fallback', () => {
    expect(kinds(new LinkDriver().opened().give({ type: 'binary.received' }))).toEqual([
      'close',
      'fallback',
      'call.prepared',
    ]);
  });

  it('handshaking: closed connection: fallback', () => {
    const orders = new LinkDriver().opened().give({ type: 'socket.closed', why: '' });
    expect(kinds(orders)).toEqual(['fallback', 'call.prepared']);
  });

  it('active: end: session.end with reason ended_by_agent', () => {
    const link = new LinkDriver().accepted();
    link.says({ type: 'end', id: 'e' });
    expect(link.answers('agent:e', 'end', 'done')).toMatchObject([
      { type: 'command.result', id: 'e', ok: true },
    ]);
    const orders = link.give({ type: 'call.ended', reason: 'call_ended' });
    expect(written(orders)).toMatchObject([{ type: 'session.end', reason: 'ended_by_agent' }]);
    expect(kinds(orders)).toEqual(['send', 'close']);
  });

  it('active: an end that was refused does not colour the reason', () => {
    const link = new LinkDriver().accepted();
    link.says({ type: 'end', id: 'e' });
    link.answers('agent:e', 'end', 'call_ending');
    expect(written(link.give({ type: 'call.ended', reason: 'call_ended' }))).toMatchObject([
      { reason: 'call_ended' },
    ]);
  });

  it('active: an end behind one that is being done is refused, and the reason stays', () => {
    const link = new LinkDriver().accepted();
    link.says({ type: 'end', id: 'e' });
    link.says({ type: 'end', id: 'again' });
    link.answers('agent:again', 'end', 'call_ending');
    link.answers('agent:e', 'end', 'done');
    expect(written(link.give({ type: 'call.ended', reason: 'call_ended' }))).toMatchObject([
      { reason: 'ended_by_agent' },
    ]);
  });

  it('active: call ends: session.end is the last message, then the link closes', () => {
    const link = new LinkDriver().accepted();
    const orders = link.give({ type: 'call.ended', reason: 'hangup' });
    expect(orders).toEqual([
      { type: 'send', text: expect.stringContaining('"session.end"') as string },
      { type: 'close', code: 1000, reason: '' },
    ]);
    expect(link.told(spoke)).toEqual([]);
    expect(link.says({ type: 'say', text: 'x' })).toEqual([]);
  });

  it('active: no message or pong for 30 s: down, and the call goes on alone', () => {
    const link = new LinkDriver().accepted();
    expect(kinds(link.at(10_000))).toEqual(['ping']);
    expect(kinds(link.at(20_000))).toEqual(['ping']);
    link.give({ type: 'pong.received' });
    expect(kinds(link.at(49_999))).toEqual(['ping']);
    expect(kinds(link.at(50_000))).toEqual(['close', 'gone']);
    expect(link.told(spoke)).toEqual([]);
  });

  it('active: any message counts as a sign of life', () => {
    const link = new LinkDriver().accepted();
    link.now = 29_000;
    link.says({ type: 'dance' });
    expect(kinds(link.at(58_999))).not.toContain('close');
    expect(kinds(link.at(59_000))).toContain('close');
  });

  it('active: the connection closes: the call goes on, its tools answer unavailable', () => {
    const link = new LinkDriver().accepted();
    link.give(run);
    const orders = link.give({ type: 'socket.closed', why: 'x' });
    expect(orders).toEqual([
      { type: 'news', news: 'gone', why: 'x' },
      {
        type: 'tool.settled',
        id: 1,
        outcome: { kind: 'failed', message: 'the tool cannot be reached at the moment', transport: true },
      },
    ]);
    expect(link.give(run)).toMatchObject([{ type: 'tool.settled', id: 2, outcome: { unsent: true } }]);
  });
});

describe('session.start body', () => {
  it('call: present only when caller identity is enabled', () => {
    const link = new LinkDriver();
    Object.assign(link.state, { settings: { ...linkSettings, caller: { carrier_call_id: 'CA1' } } });
    expect(written(link.opened().orders)[0]?.['call']).toEqual({ carrier_call_id: 'CA1' });
    expect(written(new LinkDriver().opened().orders)[0]).not.toHaveProperty('call');
  });

  it('seq: +1 per message written; t_ms: milliseconds since the link opened', () => {
    const link = new LinkDriver().accepted();
    link.now = 12.7;
    expect(link.told(spoke)).toMatchObject([{ seq: 2, t_ms: 13 }]);
    expect(link.told(spoke)).toMatchObject([{ seq: 3, t_ms: 13 }]);
  });
});

describe('session.accept body', () => {
  const acceptWith = (fields: Readonly<Record<string, unknown>>) => {
    const orders = new LinkDriver().opened().says({ type: 'session.accept', version: 1, ...fields });
    const prepared = orders.find((order) => order.type === 'call.prepared');
    return { accept: prepared?.accept, errors: errors(written(orders)) };
  };

  it('tools: at most 64; the rest is left out and reported', () => {
    const tools = Array.from({ length: 65 }, (_, at) => ({ name: `t${at}` }));
    const { accept, errors: said } = acceptWith({ tools });
    expect(accept?.tools).toHaveLength(64);
    expect(said).toEqual(['too_many: tools must have at most 64 entries; the rest was left out']);
  });

  it('system_prompt and greeting', () => {
    expect(acceptWith({ system_prompt: 'p', greeting: 'g' }).accept).toMatchObject({
      systemPrompt: 'p',
      greeting: 'g',
    });
    const long = acceptWith({ greeting: 'é'.repeat(2_049) });
    expect([long.accept?.greeting, long.errors]).toEqual([
      undefined,
      ['invalid_message: greeting must be at most 4096 bytes'],
    ]);
  });

  it('context: at most 32; roles system, user, assistant; an empty message is reported', () => {
    const entry = (role: string, text: string) => ({ role, text });
    const good = acceptWith({ context: ['system', 'user', 'assistant'].map((role) => entry(role, 'x')) });
    expect([good.accept?.context.length, good.errors]).toEqual([3, []]);
    const bad = acceptWith({ context: [entry('user', ' '), entry('tool', 'x'), entry('user', 'y')] });
    expect(bad.accept?.context).toEqual([entry('user', 'y')]);
    expect(bad.errors).toEqual([
      'empty_context_message: context[0].text must not be empty',
      'invalid_message: context[1].role must be one of system, user, assistant',
    ]);
    expect(acceptWith({ context: Array(33).fill(entry('user', 'x')) }).accept?.context).toHaveLength(32);
  });

  it('resume: a boolean; anything else is reported and means no', () => {
    expect(acceptWith({ resume: true }).accept?.resume).toBe(true);
    expect(acceptWith({}).accept?.resume).toBe(false);
    const wrong = acceptWith({ resume: 'yes' });
    expect([wrong.accept?.resume, wrong.errors]).toEqual([
      false,
      ['invalid_message: resume must be true or false'],
    ]);
  });

  it('events: only these; tool.*, command.result, events.lost and error always', () => {
    const link = new LinkDriver().accepted({ events: ['bot.text', 'session.end', 'tool.call'] });
    expect(link.told(spoke)).toEqual([]);
    expect(link.told(delta)).toMatchObject([{ type: 'bot.text' }]);
    expect(link.told({ type: 'fault.noticed', stage: 'tts', what: 'given_up' })).toMatchObject([
      { type: 'error', stage: 'tts', message: 'tts given_up', fatal: true },
    ]);
    expect(written(link.give(run))).toMatchObject([{ type: 'tool.call' }]);
    link.says({ type: 'say', id: 's', text: 'x' });
    expect(link.answers('agent:s', 'say', 'done')).toMatchObject([{ type: 'command.result' }]);
    expect(written(link.orders).some(({ type }) => type === 'error' && type.includes('unknown'))).toBe(false);
  });

  it('more problems than are told one by one are counted', () => {
    const { errors: said } = acceptWith({ events: Array.from({ length: 20 }, (_, at) => `no.${at}`) });
    expect(said).toHaveLength(17);
    expect(said.at(-1)).toBe('too_many: 4 more problems of the handshake');
  });

  it('an unknown field is ignored', () => {
    expect(acceptWith({ colour: 'blue' }).errors).toEqual([]);
  });
});

describe('Tool declaration', () => {
  const declared = (fields: Readonly<Record<string, unknown>>) => {
    const orders = new LinkDriver()
      .opened()
      .says({ type: 'session.accept', version: 1, tools: [{ name: 't', ...fields }] });
    const prepared = orders.find((order) => order.type === 'call.prepared');
    return { tool: prepared?.accept?.tools[0], errors: errors(written(orders)) };
  };
  const refused = (rule: string) => ({ tool: undefined, errors: [`tool_refused: tools[0].${rule}`] });

  it('defaults: read_only, 5000 ms, filler after 700 ms, no confirmation, not repeatable', () => {
    expect(declared({}).tool).toEqual({
      name: 't',
      description: '',
      parameters: { type: 'object' },
      kind: 'read_only',
      timeout_ms: 5000,
      filler_after_ms: 700,
      confirm: false,
      repeatable: false,
    });
  });

  it.each(['', 'a b', 'é', 'x'.repeat(65)])('name: %j is refused', (name) => {
    expect(declared({ name })).toEqual(refused('name must have 1 to 64 of A-Z a-z 0-9 _ -'));
  });

  it('description: at most 4 KiB kept, no character cut in two', () => {
    expect(declared({ description: 'é'.repeat(3_000) }).tool?.description).toBe('é'.repeat(2_048));
    expect(declared({ description: `a${'é'.repeat(3_000)}` }).tool?.description).toBe(
      `a${'é'.repeat(2_047)}`,
    );
  });

  it('kind: read_only or side_effect', () => {
    expect(declared({ kind: 'side_effect' }).tool?.kind).toBe('side_effect');
    expect(declared({ kind: 'other' })).toEqual(refused('kind must be one of read_only, side_effect'));
  });

  it('timeout_ms: at most 30000', () => {
    expect(declared({ timeout_ms: 30_000 }).tool?.timeout_ms).toBe(30_000);
    expect(declared({ timeout_ms: 30_001 })).toEqual(refused('timeout_ms must be at most 30000'));
  });

  it('filler_after_ms: 0 disables', () => {
    expect(declared({ filler_after_ms: 0 }).tool?.filler_after_ms).toBe(0);
  });

  it.each(['confirm', 'repeatable'])('%s: on a read_only tool the declaration is refused', (key) => {
    expect(declared({ [key]: true })).toEqual(refused(`${key} is for side_effect tools only`));
    expect(declared({ [key]: true, kind: 'side_effect' }).tool).toMatchObject({ [key]: true });
  });
});

describe('Resume', () => {
  const resumable = () => new LinkDriver().accepted({ resume: true });

  it('a broken link is tried at once, then with pauses that double, for a minute', () => {
    const link = resumable();
    expect(kinds(link.give({ type: 'socket.closed', why: 'x' }))).toEqual(['broken']);
    const tries: number[] = [];
    for (let now = 0; now < 120_000; now += 10) {
      if (!kinds(link.at(now)).includes('connect')) continue;
      tries.push(now);
      link.give({ type: 'socket.closed', why: 'ECONNREFUSED' });
    }
    expect(tries.slice(0, 7)).toEqual([0, 250, 750, 1_750, 3_750, 7_750, 11_750]);
    expect(tries.at(-1)).toBeLessThan(60_000);
    expect(link.state.phase.type).toBe('gone');
  });

  it('session.start with resume says where the broken link stood; what was missed follows the accept', () => {
    const link = resumable();
    link.told(spoke);
    link.give(run);
    link.give({ type: 'socket.closed', why: 'x' });
    link.told(delta);
    link.told({ ...spoke, epoch: 3 });
    link.at(0);
    link.now = 40;
    const offer = written(link.give({ type: 'socket.opened' }));
    expect(offer).toMatchObject([
      {
        type: 'session.start',
        seq: 1,
        t_ms: 0,
        session_id: 'c1',
        resume: { attempt: 1, previous_seq: 3, down_ms: 40, replay_from: 2, lost: 1, pending: [1] },
      },
    ]);
    const orders = link.says({ type: 'session.accept', version: 1, last_seq: 2 });
    expect(written(orders)).toMatchObject([
      { type: 'tool.call', seq: 2 },
      { type: 'events.lost', seq: 3, count: 1 },
      { type: 'turn.user_started', seq: 4, epoch: 3 },
    ]);
    expect(kinds(orders).at(-1)).toBe('resumed');
    expect(link.says({ type: 'tool.result', id: 1, result: 'done' })).toMatchObject([
      { type: 'tool.settled', id: 1, outcome: { kind: 'result', text: 'done' } },
    ]);
    expect(link.says({ type: 'tool.result', id: 1, result: 'twice' })).toEqual([]);
  });

  it('attempts are counted, and a link that was not accepted is none that messages were missed of', () => {
    const link = resumable();
    link.told(spoke);
    link.give({ type: 'socket.closed', why: 'x' });
    link.at(0);
    link.give({ type: 'socket.opened' });
    link.give({ type: 'socket.closed', why: 'x' });
    link.at(250);
    link.give({ type: 'socket.closed', why: 'ECONNREFUSED' });
    link.at(750);
    expect(written(link.give({ type: 'socket.opened' }))).toMatchObject([
      { seq: 1, resume: { attempt: 3, previous_seq: 2, down_ms: 750, replay_from: 2 } },
    ]);
    expect(written(link.says({ type: 'session.accept', version: 1, last_seq: 1 }))).toMatchObject([
      { type: 'turn.user_started', seq: 2 },
    ]);
    link.told(spoke);
    link.give({ type: 'socket.closed', why: 'x' });
    link.at(800);
    expect(written(link.give({ type: 'socket.opened' }))).toMatchObject([
      { seq: 1, resume: { attempt: 1, previous_seq: 3, down_ms: 50, replay_from: 2 } },
    ]);
  });

  it('a tool call of the time without a link is sent when there is one', () => {
    const link = resumable();
    link.give({ type: 'socket.closed', why: 'x' });
    expect(link.give(run)).toEqual([]);
    link.give(run);
    link.give({ type: 'tool.abandoned', id: 1, reason: 'timeout' });
    link.at(0);
    link.give({ type: 'socket.opened' });
    expect(written(link.says({ type: 'session.accept', version: 1 }))).toMatchObject([
      { type: 'tool.call', id: 2 },
    ]);
  });

  it('session.reject: the call goes on alone, and calls in flight are settled', () => {
    const link = resumable();
    link.give(run);
    link.give({ type: 'socket.closed', why: 'x' });
    link.at(0);
    link.give({ type: 'socket.opened' });
    expect(kinds(link.says({ type: 'session.reject', code: 'gone' }))).toEqual([
      'close',
      'gone',
      'tool.settled',
    ]);
  });

  it('an agent that did not send resume never sees it', () => {
    const link = new LinkDriver().accepted();
    link.give({ type: 'socket.closed', why: 'x' });
    expect(kinds(link.at(60_000))).toEqual([]);
  });

  it('another worker opens the link anew, and never uses the number of a tool call twice', () => {
    const link = resumable();
    link.give(run);
    const saved = saveLink(link.state);
    const next = new LinkDriver(
      resumedLink(linkSettings, link.state.terms, { saved, downMs: 900, now: 100 }),
    );
    expect(kinds(next.at(100))).toEqual(['connect']);
    const [resumed] = written(next.give({ type: 'socket.opened' }));
    expect(resumed).toMatchObject({
      type: 'session.start',
      seq: 1,
      resume: { attempt: 1, previous_seq: 2, down_ms: 900, pending: [] },
    });
    next.says({ type: 'session.accept', version: 1 });
    expect(written(next.give(run))[0]?.['id']).toBeGreaterThan(1);
  });

  it('another worker leaves a call alone whose agent did not ask for more', () => {
    const saved = saveLink(new LinkDriver().accepted().state);
    const next = new LinkDriver(resumedLink(linkSettings, { resume: false }, { saved, downMs: 0, now: 0 }));
    expect(next.at(60_000)).toEqual([]);
    expect(next.give(run)).toMatchObject([{ type: 'tool.settled', outcome: { unsent: true } }]);
  });
});

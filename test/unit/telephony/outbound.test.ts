/** Calls that the service makes: who may be called, how often, and what becomes of what answers. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Sensitive } from '../../../shared/config/sensitive.ts';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { readOutboundRequest, type OutboundRequest } from '../../../shared/telephony/callback-api.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import type { MadeOutcome, OutboundCarrier } from '../../../supervisor/telephony/carrier.ts';
import { outboundEnded } from '../../../supervisor/telephony/twilio/status.ts';
import { answerTwilio, telnyxOutboundEvent } from '../../../supervisor/telephony/outbound/carriers.ts';
import type { TwilioControl } from '../../../supervisor/telephony/twilio/control.ts';
import {
  newOutboundCall,
  stepOutbound,
  type OutboundCall,
  type OutboundEvent,
} from '../../../supervisor/telephony/outbound/outbound-call.ts';
import { readToSuccessor } from '../../../shared/protocol/takeover.ts';
import type { UnreachedCall } from '../../../supervisor/calls/unreached-call.ts';
import { OutboundCalls } from '../../../supervisor/telephony/outbound/outbound-calls.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const fact = (type: 'answered' | 'person' | 'machine' | 'beep' | 'spoken', call = 'c'): OutboundEvent => ({
  type,
  call,
});
const ended = (reason: 'busy' | 'failed' = 'failed'): OutboundEvent => ({ type: 'ended', call: 'c', reason });
const dialed: OutboundEvent = { type: 'dialed', outcome: { kind: 'ok', id: 'c' } };
const lost: OutboundEvent = { type: 'dialed', outcome: { kind: 'unknown' } };

describe('a call that is made', () => {
  const run = (facts: readonly OutboundEvent[], given: Partial<OutboundCall> = {}): unknown[] => {
    const call = newOutboundCall({
      ...{
        id: 'i',
        carrier: 'carrier_b',
        hasMessage: true,
        detection: 'carrier',
        beganAt: 0,
        ringMs: 30_000,
        isHeard: true,
      },
      ...given,
    });
    const actions = facts.flatMap((one) => stepOutbound(call, one, 0));
    return [call.end ?? call.phase, ...actions];
  };

  it.each([
    ['a person answers and talks', [dialed, fact('person'), ended()], ['talked', 'connect']],
    ['a person answers before the carrier does', [fact('person'), dialed], ['person', 'connect']],
    [
      'a person answers a call whose making had an unknown outcome',
      [lost, fact('person')],
      ['person', 'connect'],
    ],
    [
      'it is told twice that a person answers',
      [dialed, fact('person'), fact('person')],
      ['person', 'connect'],
    ],
    [
      'a machine answers, and the message follows its beep',
      [dialed, fact('machine'), fact('beep'), fact('spoken')],
      ['message_left', 'say', 'hang_up'],
    ],
    ['a machine answers and gives no beep', [dialed, fact('machine'), ended()], ['voicemail']],
    ['a beep comes without a machine', [dialed, fact('beep')], ['ringing']],
    ['a machine is said to be a person later', [dialed, fact('machine'), fact('person')], ['machine']],
    ['it is busy', [dialed, ended('busy')], ['busy']],
    ['it is refused', [{ type: 'dialed', outcome: { kind: 'refused', code: 'rejected' } }], ['refused']],
    ['an operator ends it', [dialed, { type: 'hang_up' }], ['canceled', 'hang_up']],
    [
      'an operator ends a talk',
      [dialed, fact('person'), { type: 'hang_up' }],
      ['talked', 'connect', 'hang_up'],
    ],
    ['an operator ends it before it has a name', [{ type: 'hang_up' }], ['canceled']],
    [
      'a person answers who does not hear the agent',
      [dialed, fact('person'), { type: 'unheard' }, ended()],
      ['failed', 'connect', 'hang_up'],
    ],
    ['somebody else is told to have answered', [dialed, fact('person', 'x')], ['ringing']],
    ['somebody answers while the carrier finds out who', [dialed, fact('answered')], ['ringing']],
    ['nothing counts any more', [dialed, ended('busy'), fact('person')], ['busy']],
  ] as [string, OutboundEvent[], string[]][])('where %s', (_, facts, outcome) => {
    expect(run(facts)).toEqual(outcome);
  });

  it.each([
    ['nobody finds out who', 'off', [dialed, fact('answered'), fact('machine')], ['person', 'connect']],
    ['the service listens', 'own', [dialed, fact('answered')], ['listening', 'connect']],
    [
      'the service hears a person, who talks',
      'own',
      [dialed, fact('answered'), fact('person'), ended()],
      ['talked', 'connect'],
    ],
    [
      'the service hears a machine, and says its message itself',
      'own',
      [dialed, fact('answered'), fact('machine'), fact('beep'), fact('spoken')],
      ['message_left', 'connect', 'hang_up'],
    ],
    [
      'the service is told twice of a machine, by two workers',
      'own',
      [
        dialed,
        fact('answered'),
        fact('machine'),
        fact('machine'),
        fact('beep'),
        fact('beep'),
        fact('spoken'),
      ],
      ['message_left', 'connect', 'hang_up'],
    ],
    [
      'a machine hangs up over the message',
      'own',
      [dialed, fact('answered'), fact('machine'), fact('beep'), ended()],
      ['voicemail', 'connect'],
    ],
    ['whoever answered hangs up at once', 'own', [dialed, fact('answered'), ended()], ['unknown', 'connect']],
  ] as [string, OutboundCall['detection'], OutboundEvent[], string[]][])(
    'with its detection where %s',
    (_, detection, facts, outcome) => {
      expect(run(facts, { detection, carrier: 'carrier_a' })).toEqual(outcome);
    },
  );

  it('of which the carrier does not tell who answered is a person, who does not wait for long', () => {
    const call = newOutboundCall({
      ...{ id: 'i', carrier: 'carrier_b', hasMessage: true, detection: 'carrier' },
      ...{ beganAt: 0, ringMs: 30_000, isHeard: true },
    });
    for (const [one, at] of [
      [dialed, 0],
      [fact('answered'), 9_000],
      [fact('answered'), 20_000],
      [{ type: 'time.passed' }, 23_999],
    ] as const)
      expect(stepOutbound(call, one, at)).toEqual([]);
    expect(stepOutbound(call, { type: 'time.passed' }, 24_000)).toEqual(['connect']);
    expect(call.phase).toBe('person');
  });

  it('without a message ends at a machine at once', () => {
    expect(run([dialed, fact('machine')], { hasMessage: false })).toEqual(['voicemail', 'hang_up']);
  });

  it('that nobody tells more of is ended when its time is over; a talk is forgotten after a day', () => {
    const call = newOutboundCall({
      id: 'i',
      carrier: 'carrier_a',
      hasMessage: false,
      detection: 'carrier',
      beganAt: 0,
      ringMs: 30_000,
      isHeard: true,
    });
    stepOutbound(call, dialed, 0);
    expect(stepOutbound(call, { type: 'time.passed' }, 179_999)).toEqual([]);
    expect(stepOutbound(call, { type: 'time.passed' }, 180_000)).toEqual(['hang_up']);
    const talk: OutboundCall = { ...call, phase: 'person', end: undefined };
    expect(stepOutbound(talk, { type: 'time.passed' }, 1_000_000)).toEqual([]);
    expect(stepOutbound(talk, { type: 'time.passed' }, 86_400_000)).toEqual([]);
    expect(talk.phase).toBe('over');
  });

  it.each([
    ['call.answered', {}, { type: 'answered' }],
    ['call.machine.detection.ended', { result: 'human' }, { type: 'person' }],
    ['call.machine.detection.ended', { result: 'not_sure' }, { type: 'person' }],
    ['call.machine.detection.ended', { result: 'machine' }, { type: 'machine' }],
    ['call.machine.greeting.ended', { result: 'beep_detected' }, { type: 'beep' }],
    ['call.speak.ended', {}, { type: 'spoken' }],
    ['call.hangup', { hangup_cause: 'user_busy' }, { reason: 'busy' }],
    ['call.hangup', { hangup_cause: 'timeout' }, { reason: 'no_answer' }],
    ['call.hangup', { hangup_cause: 'not_found' }, { reason: 'failed' }],
    // The person who picked up was gone before it was known who it was.
    ['call.hangup', { hangup_cause: 'normal_clearing' }, { reason: 'unknown' }],
  ])('of carrier B: %s %j', (type, payload, expected) => {
    expect(telnyxOutboundEvent(type, 'c', payload)).toMatchObject({ call: 'c', ...expected });
  });
});

it.each([
  ['busy', 'busy'],
  ['no-answer', 'no_answer'],
  ['completed', 'unknown'],
  ['in-progress', undefined],
])('of carrier A: %s before anybody is known to have answered is %s', (CallStatus, reason) => {
  expect(outboundEnded(Object.entries({ CallSid: 'c', CallStatus }))?.reason).toBe(reason);
});

describe('who is called', () => {
  let dials: { readonly to: string; readonly from: string }[];
  let outcome: MadeOutcome;
  let lines: unknown[];
  let unreached: UnreachedCall[];
  let now = 0;
  beforeEach(() => {
    [dials, lines, unreached, now] = [[], [], [], 0];
    outcome = { kind: 'ok', id: 'c' };
  });
  const carrier: OutboundCarrier = {
    name: 'carrier_a',
    dial: async (dial) => {
      dials.push(dial);
      return await Promise.resolve(outcome);
    },
    hangUp: async () => await Promise.resolve({ kind: 'ok' }),
  };
  const newCalls = (
    perMinute = 30,
    carriers: readonly OutboundCarrier[] = [carrier],
    more: Partial<ConstructorParameters<typeof OutboundCalls>[0]> = {},
  ): OutboundCalls =>
    new OutboundCalls({
      settings: { from: new Sensitive('+15550100002'), allowed: ['+1555', '+90'], perMinute },
      clock: newVirtualClock(),
      wallClock: { now: () => now },
      log: {
        info: (...line: unknown[]) => lines.push(line),
        warn: (...line: unknown[]) => lines.push(['warn', ...line]),
      } as unknown as Log,
      carriers: () => new Map(carriers.map((one) => [one.name, one])),
      counted: () => undefined,
      begun: () => undefined,
      hasStream: () => false,
      isOfFleet: false,
      agentName: 'desk',
      unreached: (made) => void unreached.push(made),
      ...more,
    });
  const request = (to = '+15550100077', more: object = {}): OutboundRequest => {
    const read = readOutboundRequest(JSON.stringify({ to, ...more }));
    if (!read.ok) throw new Error(read.error);
    return read.value;
  };

  it('is who is allowed, from the number of the account; no number is logged or shown', async () => {
    const calls = newCalls();
    const made = await calls.make(request(), undefined);
    expect(made).toMatchObject({ ok: true, value: { carrier: 'carrier_a', phase: 'ringing', call: 'c' } });
    expect(dials).toMatchObject([{ to: '+15550100077', from: '+15550100002', ringS: 30 }]);
    expect(JSON.stringify([lines, calls.views])).not.toContain('5550100');
    expect(await calls.make(request('+442079460000'), undefined)).toMatchObject({ error: 'not_allowed' });
    expect(dials.length).toBe(1);
  });

  it('is none whom the tenant of the agent may not have called', async () => {
    const calls = newCalls(30, [carrier], {
      chosenAgent: ({ signed }) => signed,
      mayCall: (chosen, number) => chosen !== 'clinic/desk' || number.startsWith('+1555'),
    });
    const ofClinic = (to: string) => calls.make(request(to, { agent: 'clinic/desk' }), undefined);
    expect(await ofClinic('+905550100077')).toMatchObject({ error: 'not_allowed' });
    expect(dials).toEqual([]);
    expect(await ofClinic('+15550100077')).toMatchObject({ ok: true });
    expect(await calls.make(request('+905550100077'), undefined)).toMatchObject({ ok: true });
  });

  it('is called once at a time, and again when that is over', async () => {
    const calls = newCalls();
    const first = await calls.make(request(), undefined);
    expect(await calls.make(request(), undefined)).toMatchObject({ error: 'busy' });
    calls.told(first.ok ? first.value.id : '', { type: 'ended', call: 'c', reason: 'no_answer' });
    expect(calls.views).toMatchObject([{ phase: 'over', end: 'no_answer' }]);
    expect(await calls.make(request(), undefined)).toMatchObject({ ok: true });
  });

  it.each([
    ['talked with the agent where its stream was opened', true, 'talked', 0],
    ['failed where it was not, and is told of', false, 'failed', 1],
  ])('that a person has answered %s', async (_, opens, end, warnings) => {
    const calls = newCalls();
    const made = await calls.make(request(), undefined);
    const id = made.ok ? made.value.id : '';
    calls.told(id, { type: 'person', call: 'c' });
    if (opens) calls.streamBegins('c');
    calls.told(id, { type: 'ended', call: 'c', reason: 'unknown' });
    expect(calls.view(id)).toMatchObject({ phase: 'over', end });
    expect(lines.filter((line) => Array.isArray(line) && line[0] === 'warn')).toHaveLength(warnings);
  });

  const busy: OutboundEvent = { type: 'ended', call: 'c', reason: 'busy' };
  const own = { machine_detection: 'own', voicemail: 'Hello.' };
  it.each<[string, object, readonly OutboundEvent[], string | undefined]>([
    ['is busy', {}, [busy], 'busy'],
    ['is not answered where the service would have listened', own, [busy], 'busy'],
    ['has a machine that the carrier finds', {}, [fact('machine')], 'voicemail'],
    ['gets its message from the carrier', own, [fact('machine'), fact('beep'), fact('spoken')], undefined],
    ['is hung up before it is answered', {}, [{ type: 'hang_up' }], 'canceled'],
    ['is answered and gets no stream', {}, [fact('person'), busy], 'failed'],
    ['talks', {}, [fact('person'), { type: 'streaming', call: 'c' }, busy], undefined],
    ['has a machine that the service listens to', own, [fact('answered'), fact('machine'), busy], undefined],
    ['is given up while the service listens', own, [fact('answered'), busy], undefined],
  ])('is told of for its record where no worker had it: one that %s', async (_, more, told, end) => {
    const calls = newCalls();
    const made = await calls.make(request(undefined, more), undefined);
    for (const one of told) calls.told(made.ok ? made.value.id : '', one);
    expect(unreached.map((one) => [one.agent, one.call, one.end])).toEqual(
      end === undefined ? [] : [['desk', 'c', end]],
    );
  });

  it('is no call where the carrier refuses to make it', async () => {
    outcome = { kind: 'refused', code: 'rejected' };
    await newCalls().make(request(), undefined);
    expect(unreached).toEqual([]);
  });

  it("goes along with its key when another process takes over, and is nobody's else then", async () => {
    const [before, after] = [newCalls(), newCalls()];
    const made = await before.make(request(), 'k');
    const id = made.ok ? made.value.id : '';
    const read = readToSuccessor(JSON.parse(JSON.stringify({ type: 'outbound', ...before.give() })));
    if (read.ok && read.value.type === 'outbound') after.carry(read.value);
    expect(await after.make(request(), 'k')).toEqual(made);
    expect(await after.make(request(), undefined)).toMatchObject({ error: 'busy' });
    expect(dials.length).toBe(1);
    after.told(id, { type: 'person', call: 'c' });
    after.streamBegins('c');
    now += 600_000;
    before.told(id, { type: 'time.passed' });
    after.told(id, { type: 'ended', call: 'c', reason: 'failed' });
    expect([before.views, after.views]).toMatchObject([[], [{ id, phase: 'over', end: 'talked' }]]);
  });

  it('stays with the process that listens to it, or has its dialog', async () => {
    const sip: OutboundCarrier = { ...carrier, name: 'sip' };
    const [before, after] = [newCalls(30, [carrier, sip]), newCalls(30, [carrier, sip])];
    const own = { carrier: 'carrier_a', machine_detection: 'own' };
    const listened = await before.make(request(undefined, own), undefined);
    const id = listened.ok ? listened.value.id : '';
    before.told(id, { type: 'answered', call: 'c' });
    await before.make(request('+15550100078', { carrier: 'sip' }), 'k');
    after.carry(before.give());
    expect(before.views).toMatchObject([{ phase: 'listening' }, { carrier: 'sip', phase: 'ringing' }]);
    expect(after.views).toMatchObject([{ id, phase: 'person' }]);
    expect(await after.make(request('+15550100078', { carrier: 'sip' }), 'k')).toMatchObject({
      error: 'unsure',
    });
  });

  it('is hung up on where the operator did so before the carrier had told its id', async () => {
    let answer: (outcome: MadeOutcome) => void = () => undefined;
    const hungUp: string[] = [];
    const slow: OutboundCarrier = {
      ...carrier,
      dial: async () => await new Promise((resolve) => (answer = resolve)),
      hangUp: async (call) => {
        hungUp.push(call);
        return await Promise.resolve({ kind: 'ok' });
      },
    };
    const calls = newCalls(30, [slow]);
    const made = calls.make(request(), undefined);
    expect(calls.hangUp(calls.views[0]?.id ?? '')).toBe(true);
    expect(hungUp).toEqual([]);
    answer({ kind: 'ok', id: 'c' });
    const over = { phase: 'over', end: 'canceled', call: 'c' };
    expect(await made).toMatchObject({ ok: true, value: over });
    expect(hungUp).toEqual(['c']);
    expect(calls.views).toMatchObject([over]);
  });

  it('and talked is free again when the stream is over, whatever the carrier tells', async () => {
    const calls = newCalls();
    const made = await calls.make(request(), undefined);
    const id = made.ok ? made.value.id : '';
    calls.streamOver('c');
    expect(calls.view(id)).toMatchObject({ phase: 'ringing' });
    calls.told(id, fact('person'));
    calls.streamBegins('c');
    calls.streamOver('x');
    expect(calls.view(id)).toMatchObject({ phase: 'person' });
    calls.streamOver('c');
    expect(calls.view(id)).toMatchObject({ phase: 'over', end: 'talked' });
    expect(await calls.make(request(), undefined)).toMatchObject({ ok: true });
  });

  it.each([
    ['human', '<connect/>'],
    ['machine_end_beep', '<Say language="en-US">Bye.</Say>'],
  ])(
    'is told the same where carrier A asks twice about %s, and hung up on behind the end',
    async (who, what) => {
      const calls = newCalls();
      const made = await calls.make(request(undefined, { voicemail: 'Bye.' }), undefined);
      const id = made.ok ? made.value.id : '';
      const control = { connected: () => '<connect/>' } as unknown as TwilioControl;
      const asks = (call = 'c'): string =>
        answerTwilio(id, Object.entries({ CallSid: call, AnsweredBy: who }), {
          ...{ carrier: control, outbound: calls, shows: false },
        });
      for (const answer of [asks(), asks()]) expect(answer).toContain(what);
      expect(asks('x')).toContain('<Response></Response>');
      calls.told(id, ended());
      expect(asks()).toContain('<Response></Response>');
    },
  );

  it('is called no more when the service stops, and whoever talks goes on', async () => {
    const hungUp: string[] = [];
    let done: () => void = () => undefined;
    const calls = newCalls(30, [
      {
        ...carrier,
        dial: async ({ to }) => await Promise.resolve({ kind: 'ok', id: to }),
        hangUp: async (call) => {
          hungUp.push(call);
          await new Promise<void>((resolve) => (done = resolve));
          return { kind: 'ok' };
        },
      },
    ]);
    const [rings, talks] = ['+15550100077', '+15550100078'] as const;
    await calls.make(request(rings), undefined);
    const made = await calls.make(request(talks), undefined);
    calls.told(made.ok ? made.value.id : '', fact('person', talks));
    expect(calls.isBusy).toBe(false);
    calls.leave();
    expect([hungUp, calls.isBusy]).toEqual([[rings], true]);
    expect(calls.views).toMatchObject([{ end: 'canceled' }, { phase: 'person' }]);
    done();
    await vi.waitFor(() => expect(calls.isBusy).toBe(false));
  });

  it('is called no more often than is allowed within a minute', async () => {
    const calls = newCalls(2);
    const make = (last: number): Promise<unknown> => calls.make(request(`+1555010007${last}`), undefined);
    expect([await make(1), await make(2), await make(3)]).toMatchObject([
      { ok: true },
      { ok: true },
      { error: 'rate_limited' },
    ]);
    now = 60_000;
    expect(await make(3)).toMatchObject({ ok: true });
  });

  it('is called once for one Idempotency-Key', async () => {
    const calls = newCalls();
    const first = await calls.make(request(), 'k');
    const again = await calls.make(request(), 'k');
    expect(again).toEqual(first);
    expect(await calls.make(request('+15550100078'), 'k')).toMatchObject({ error: 'key_reused' });
    expect(dials.length).toBe(1);
  });

  it('is not called again where nobody knows what became of it, and is free where the carrier refused', async () => {
    const calls = newCalls();
    outcome = { kind: 'unknown' };
    expect(await calls.make(request(), undefined)).toMatchObject({ ok: true, value: { phase: 'ringing' } });
    expect(await calls.make(request(), undefined)).toMatchObject({ error: 'busy' });
    outcome = { kind: 'refused', code: 'rejected' };
    const refused = (): Promise<unknown> => calls.make(request('+15550100078'), 'k');
    expect([await refused(), await refused()]).toMatchObject([{ error: 'refused' }, { error: 'refused' }]);
    expect(dials.length).toBe(2);
  });

  it('is called by the carrier that is named, or by the only one', async () => {
    const both = newCalls(30, [carrier, { ...carrier, name: 'carrier_b' }]);
    expect(await both.make(request(), undefined)).toMatchObject({ error: 'carrier' });
    expect(await both.make(request(undefined, { carrier: 'carrier_b' }), undefined)).toMatchObject({
      value: { carrier: 'carrier_b' },
    });
    expect(await newCalls(30, []).make(request(), undefined)).toMatchObject({ error: 'off' });
    expect(await newCalls().make(request(undefined, { carrier: 'carrier_b' }), undefined)).toMatchObject({
      error: 'carrier',
    });
  });
});

describe('a request to make a call', () => {
  it.each([
    ['{', 'the body must be JSON'],
    ['[]', 'the body must be a JSON object'],
    ['{}', 'to: must be a text'],
    ['{"to":"0800-secret"}', 'to: must be an E.164 number: + and 8 to 15 digits'],
    ['{"to":"+15550100077","who":"secret"}', 'the body has a field that is not known'],
    ['{"to":"+15550100077","carrier":"secret"}', 'carrier: must be one of carrier_a, carrier_b, sip'],
    ['{"to":"+15550100077","ring_s":4}', 'ring_s: must be an integer from 5 to 120'],
    ['{"to":"+15550100077","voicemail":""}', 'voicemail: must not be empty'],
    ['{"to":"+15550100077","voicemail":" "}', 'voicemail: must not be empty'],
    [`{"to":"+15550100077","metadata":{"a":"${'é'.repeat(129)}"}}`, 'metadata: must have at most 256 bytes'],
    ['{"to":"+15550100077","language":"<secret>"}', 'language: must be a language tag such as en-US'],
    ['{"to":"+15550100077","route":"a b"}', 'route: must be 1 to 32 letters, digits, _ or -'],
    ['{"to":"+15550100077","metadata":{"a":5}}', 'metadata: must be a text'],
    ['{"to":"+15550100077","metadata":{"a b":"secret"}}', 'metadata: has a name that it may not have'],
  ])('%s', (body, error) => {
    expect(readOutboundRequest(body)).toEqual({ ok: false, error });
  });
});

it('a request takes null for what is absent', () => {
  const nulls = { from: null, agent: null, metadata: null, overrides: null, ring_s: null, language: null };
  expect(readOutboundRequest(JSON.stringify({ to: '+15550100077', ...nulls }))).toEqual(
    readOutboundRequest('{"to":"+15550100077"}'),
  );
});

describe('the settings', () => {
  const problems = (env: Record<string, string>): string[] => {
    const read = parseServerSettings({ SVC_AGENT_FILE: 'a.toml', ...env }, { cores: 2 });
    return read.ok ? [] : read.error.map(({ variable }) => variable);
  };
  const callback = { SVC_CALLBACK_ADDR: '127.0.0.1:1', SVC_CALLBACK_SECRET: 's'.repeat(32) };

  it('make no calls unless a number is set, and then need a list of who may be called', () => {
    const from = { SVC_OUTBOUND_FROM: '+15550100002' };
    expect(problems(callback)).toEqual([]);
    expect(problems({ ...callback, ...from })).toEqual(['SVC_OUTBOUND_ALLOW']);
    expect(problems({ ...callback, ...from, SVC_OUTBOUND_ALLOW: '+1555, +90' })).toEqual([]);
    expect(problems({ ...callback, ...from, SVC_OUTBOUND_ALLOW: '*' })).toEqual(['SVC_OUTBOUND_ALLOW']);
    expect(problems({ ...from, SVC_OUTBOUND_ALLOW: '+1' })).toEqual(['SVC_OUTBOUND_FROM']);
  });
});

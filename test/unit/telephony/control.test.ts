/** Call control by its rows (docs/telephony.md, Transfers and keys, Warm transfers): what each carrier is asked, and what its answers mean. */
import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../../shared/config/sensitive.ts';
import type { CarrierOutcome } from '../../../shared/telephony/call-control.ts';
import { onCarrierAnswered } from '../../../worker/core/answer/transfer.ts';
import { TwilioControl } from '../../../supervisor/telephony/twilio/control.ts';
import { TelnyxControl } from '../../../supervisor/telephony/telnyx/control.ts';
import { CommandBook } from '../../../supervisor/telephony/commands.ts';
import type { RestAnswer, RestRequest } from '../../../supervisor/telephony/rest.ts';

const capabilities = { transfer: true, warm: true, keys: true };
const ok: RestAnswer = { kind: 'answered', status: 200, body: { data: { result: 'ok' } } };
const refusedWith = (code: string | number, status = 422): RestAnswer => ({
  ...{ kind: 'answered', status },
  body: { errors: [{ code, title: 'no' }] },
});

/** Answers in order, then all is well; notes what was asked. */
function newRest(...answers: RestAnswer[]) {
  const asked: RestRequest[] = [];
  const ask = async (request: RestRequest): Promise<RestAnswer> => {
    asked.push(request);
    return await Promise.resolve(answers.shift() ?? ok);
  };
  return { asked, ask };
}

function newB(...answers: RestAnswer[]) {
  const { asked, ask } = newRest(...answers);
  const account = {
    ...{
      apiKey: new Sensitive('KEY'),
      apiUrl: 'https://api.example/v2',
      publicKey: '',
      connectionId: 'conn',
    },
  };
  const control = new TelnyxControl(
    {
      addr: { host: '', port: 0 },
      publicUrl: 'wss://voice.example.com/carrier_b/stream',
      streamToken: new Sensitive('token'),
      control: account,
    },
    account,
    {
      capabilities,
      ask,
      nowS: () => 0,
      longestSummary: () => Promise.resolve(),
      asksForStream: () => () => undefined,
    },
  );
  const sent = () =>
    asked.map(({ url, body }) => [
      url.replace('https://api.example/v2', ''),
      JSON.parse(body) as Record<string, unknown>,
    ]);
  return { control, sent, asked };
}

function newA({ resumesStream = true }: { readonly resumesStream?: boolean } = {}, ...answers: RestAnswer[]) {
  const { asked, ask } = newRest(...answers);
  const account = {
    ...{ accountSid: 'AC1', user: 'AC1', password: new Sensitive('p'), apiUrl: 'https://api.example' },
  };
  const control = new TwilioControl(
    {
      addr: { host: '', port: 0 },
      publicUrl: 'wss://voice.example.com/carrier_a/stream',
      authToken: new Sensitive('p'),
      streamSecret: new Sensitive('s'.repeat(32)),
      allowsStaticUrl: false,
      resumesStream,
      control: account,
    },
    account,
    { capabilities, ask, nowS: () => 0 },
  );
  return { control, asked, form: () => Object.fromEntries(new URLSearchParams(asked.at(-1)?.body)) };
}

describe('cold transfer, carrier B', () => {
  const transfer = { commandId: 'k', to: '+15550100077', from: '+15550100002' };
  const path = '/calls/v3%3Aa/actions/transfer';

  it('posts a transfer action with to, optional from, timeout_secs and command_id', async () => {
    const { control, sent } = newB();
    expect(await control.transfer('v3:a', transfer)).toEqual({ kind: 'ok' });
    await control.transfer('v3:a', { commandId: 'k2', to: '+15550100077' });
    const ofLeg = { target_leg_client_state: Buffer.from('svc:to:v3:a').toString('base64') };
    expect(sent()).toEqual([
      [path, { to: '+15550100077', from: '+15550100002', timeout_secs: 30, command_id: 'k', ...ofLeg }],
      [path, { to: '+15550100077', timeout_secs: 30, command_id: 'k2', ...ofLeg }],
    ]);
  });

  it.each(['90045', 90045])(
    'refused with code %j: stops the stream, repeats once with the suffix r1',
    async (code) => {
      const { control, sent } = newB(refusedWith(code));
      expect(await control.transfer('v3:a', transfer)).toEqual({ kind: 'ok' });
      expect(sent().map(([at, fields]) => [at, (fields as { command_id: string }).command_id])).toEqual([
        [path, 'k'],
        ['/calls/v3%3Aa/actions/streaming_stop', 'ks1'],
        [path, 'kr1'],
      ]);
    },
  );

  it.each([
    ['refused again', refusedWith('90045'), { isAlone: true }],
    ['refused for another reason', refusedWith('90018'), { isAlone: true }],
    ['lost', { kind: 'lost' } as const, {}],
    ['answered with 500', refusedWith('1', 500), {}],
  ])(
    'a retry that is %s after the stop succeeded has an unknown outcome, and is the last',
    async (_, second, more) => {
      const { control, sent } = newB(refusedWith('90045'), ok, second);
      expect(await control.transfer('v3:a', transfer)).toEqual({ kind: 'unknown', ...more });
      expect(sent().length).toBe(3);
    },
  );

  it('a stop that is refused leaves the caller with the bot; one that is lost has an unknown outcome', async () => {
    const refused = newB(refusedWith('90045'), refusedWith('1'));
    expect(await refused.control.transfer('v3:a', transfer)).toEqual({ kind: 'refused', code: 'rejected' });
    const lost = newB(refusedWith('90045'), { kind: 'lost' });
    expect(await lost.control.transfer('v3:a', transfer)).toEqual({ kind: 'unknown' });
    expect([refused.sent().length, lost.sent().length]).toEqual([2, 2]);
  });

  it('another refusal is not repeated, and 90045 of a server error is none', async () => {
    const refused = newB(refusedWith('10015'));
    expect(await refused.control.transfer('v3:a', transfer)).toMatchObject({ kind: 'refused' });
    const broken = newB(refusedWith('90045', 500));
    expect(await broken.control.transfer('v3:a', transfer)).toEqual({ kind: 'unknown' });
    expect([refused.sent().length, broken.sent().length]).toEqual([1, 1]);
  });
});

describe('cold transfer, carrier A', () => {
  it('updates the call with a dial instruction: optional caller id and action URL, answer-on-bridge, 30 s', async () => {
    const { control, asked, form } = newA({ resumesStream: false });
    await control.transfer('CA1', { commandId: 'k', to: '+15550100077', from: '+15550100002' });
    expect(asked[0]?.url).toBe('https://api.example/2010-04-01/Accounts/AC1/Calls/CA1.json');
    expect(form()['Twiml']).toContain(
      '<Dial callerId="+15550100002" answerOnBridge="true" timeout="30"><Number>+15550100077</Number></Dial>',
    );
    await control.transfer('CA1', { commandId: 'k', to: '+15550100077' });
    expect(form()['Twiml']).toContain('<Dial answerOnBridge="true"');
    const resuming = newA();
    await resuming.control.transfer('CA1', { commandId: 'k', to: '+15550100077' });
    expect(resuming.form()['Twiml']).toContain(
      '<Dial action="https://voice.example.com/carrier_a/events/dialled/CA1" answerOnBridge="true"',
    );
  });

  it.each([
    [400, 21_220, { kind: 'refused', code: 'rejected', gone: true }],
    [400, 21_211, { kind: 'refused', code: 'invalid_argument' }],
    [404, 20_404, { kind: 'refused', code: 'rejected', gone: true }],
    [401, 20_003, { kind: 'refused', code: 'unavailable' }],
    [429, 20_429, { kind: 'refused', code: 'unavailable' }],
    [503, 0, { kind: 'unknown' }],
  ])('status %i, code %i', async (status, code, outcome) => {
    const { control } = newA({}, { kind: 'answered', status, body: { code } });
    expect(await control.transfer('CA1', { commandId: 'k', to: '+15550100077' })).toEqual(outcome);
  });

  it('an API key asks in place of the account', async () => {
    const { control, asked } = newA();
    await control.hangUp('CA1');
    const given = Buffer.from((asked[0]?.authorization ?? '').replace('Basic ', ''), 'base64').toString();
    expect([given, asked[0]?.body]).toEqual(['AC1:p', 'Status=completed']);
  });
});

describe('send_dtmf', () => {
  it('carrier B: a request with the digits and 250 ms', async () => {
    const { control, sent } = newB();
    await control.pressKeys('v3:a', { commandId: 'k', digits: '1wD#' });
    const fields = { digits: '1wD#', duration_millis: 250, command_id: 'k' };
    expect(sent()).toEqual([['/calls/v3%3Aa/actions/send_dtmf', fields]]);
  });

  it('carrier A: plays the digits, a long pause as two short ones, and connects the stream again on a new segment', async () => {
    const { control, form } = newA();
    await control.pressKeys('CA1', { digits: '1W2' });
    expect(form()['Twiml']).toMatch(
      /<Play digits="1ww2"\/><Connect><Stream url="wss:\/\/voice\.example\.com\/carrier_a\/stream\/\w+\.CA1\./,
    );
  });
});

describe('what a carrier reads out', () => {
  const given = { tag: 't', conference: 'c1', text: 'An invoice.', commandId: 'k' };

  it.each([
    ['en', 'en-US', 'en-US'],
    ['EN-gb', 'en-GB', 'en-GB'],
    ['de-AT', 'de-AT', 'de-DE'],
    ['pt', 'pt-BR', 'pt-BR'],
    ['zh-TW', 'zh-TW', 'cmn-CN'],
    ['zh', 'cmn-CN', 'cmn-CN'],
    ['ar-EG', 'arb', 'arb'],
    ['no', 'nb-NO', 'nb-NO'],
    ['fi', 'fi-FI', 'en-US'],
    ['eo', undefined, 'en-US'],
  ])('in %s is in a language that it takes: %s at carrier A, %s at carrier B', async (language, atA, atB) => {
    const a = newA();
    await a.control.join('CA9', { ...given, language });
    expect(a.form()['Twiml']).toContain(atA === undefined ? '<Say>An' : `<Say language="${atA}">An`);
    const b = newB();
    await b.control.join('v3:leg', { ...given, language });
    await b.control.say('v3:leg', { id: 'o', text: 'Call us.', language });
    const speak = ['/calls/v3%3Aleg/actions/speak', { voice: 'female', language: atB }];
    expect(b.sent()).toMatchObject([speak, ['/conferences/c1/actions/join', {}], speak]);
  });

  it('and refuses to read does not keep the two apart who wait for each other', async () => {
    const { control, sent } = newB(refusedWith('10015'));
    expect(await control.join('v3:leg', { ...given, language: 'en' })).toEqual({ kind: 'ok' });
    expect(sent().map(([path]) => path)).toEqual([
      '/calls/v3%3Aleg/actions/speak',
      '/conferences/c1/actions/join',
    ]);
  });
});

describe('idempotency', () => {
  it('a command that is asked for again, while it runs or later, is done once and answered alike', async () => {
    const book = new CommandBook({ full: () => undefined });
    const told: unknown[] = [];
    let done = 0;
    let finish: (outcome: { kind: 'ok' }) => void = () => undefined;
    const perform = () => {
      done += 1;
      return new Promise<{ kind: 'ok' }>((resolve) => (finish = resolve));
    };
    for (let times = 0; times < 3; times += 1)
      book.take({ id: 'k', attempt: 1 }, (outcome) => told.push(outcome), perform);
    finish({ kind: 'ok' });
    await new Promise((resolve) => setImmediate(resolve));
    book.take({ id: 'k', attempt: 1 }, (outcome) => told.push(outcome), perform);
    expect([done, told]).toEqual([1, Array.from({ length: 4 }, () => ({ kind: 'ok' }))]);
  });

  it('whose outcome was lost is done again by a later attempt, and by no other', async () => {
    const book = new CommandBook({ full: () => undefined });
    const outcomes = [{ kind: 'unknown' }, { kind: 'ok' }] as const;
    let done = 0;
    const ask = (attempt: number): Promise<unknown> =>
      new Promise((resolve) => {
        book.take({ id: 'k', attempt }, resolve, () => Promise.resolve(outcomes[done++] ?? { kind: 'ok' }));
      });
    expect([await ask(1), await ask(1), done]).toEqual([{ kind: 'unknown' }, { kind: 'unknown' }, 1]);
    expect([await ask(2), await ask(2), await ask(3), done]).toEqual([
      { kind: 'ok' },
      { kind: 'ok' },
      { kind: 'ok' },
      2,
    ]);
  });

  it('a command that breaks has an unknown outcome', async () => {
    const outcome = await new Promise((resolve) => {
      new CommandBook({ full: () => undefined }).take({ id: 'k', attempt: 1 }, resolve, () =>
        Promise.reject(new Error('broken')),
      );
    });
    expect(outcome).toEqual({ kind: 'unknown' });
  });
});

describe('a call is over', () => {
  const answered = (status: number, body: unknown): RestAnswer => ({ kind: 'answered', status, body });

  it.each([
    [answered(200, { status: 'in-progress' }), false],
    [answered(200, { status: 'completed' }), true],
    [answered(200, undefined), false],
    [answered(404, { code: 20404 }), true],
    [answered(401, { code: 20003 }), false],
    [answered(503, undefined), false],
    [{ kind: 'lost' } as const, false],
  ])('where carrier A answers %j: %j', async (answer, isOver) => {
    expect(await newA({}, answer).control.isOver('CA1')).toBe(isOver);
  });

  it.each([
    [answered(200, { data: { is_alive: true } }), false],
    [answered(200, { data: { is_alive: false } }), true],
    [answered(200, undefined), false],
    [answered(404, undefined), true],
    [refusedWith('90018'), true],
    [refusedWith('10009', 401), false],
    [{ kind: 'unsent' } as const, false],
  ])('where carrier B answers %j: %j', async (answer, isOver) => {
    expect(await newB(answer).control.isOver('v3:a')).toBe(isOver);
  });

  it.each([refusedWith('90018'), answered(404, undefined)])(
    'for whoever ends it, or brings its caller back, where carrier B answers %j',
    async (answer) => {
      const gone = { kind: 'refused', code: 'rejected', gone: true };
      expect(await newB(answer).control.hangUp('v3:a', 'k')).toEqual(gone);
      const given = { commandId: 'k', parameters: {} };
      expect(await newB(answer).control.startStream('v3:a', given)).toEqual(gone);
    },
  );
});

it('nothing is asked of carrier B for a call or a leg of which it has told the end', async () => {
  const { control, sent } = newB();
  const given = { tag: 't', conference: 'c', commandId: 'k', text: 'An invoice.', language: 'en' };
  const joined = control.join('v3:leg', given);
  control.ended('v3:leg');
  control.ended('v3:caller');
  const gone = { kind: 'refused', code: 'rejected' };
  expect(await joined).toEqual(gone);
  expect(await control.putBack('v3:caller', given)).toEqual({ ...gone, gone: true });
  expect(await control.hangUp('v3:leg', 'k')).toEqual({ ...gone, gone: true });
  expect(sent().map(([path]) => path)).toEqual(['/calls/v3%3Aleg/actions/speak']);
  control.begins('v3:leg');
  expect(await control.hangUp('v3:leg', 'k2')).not.toEqual({ ...gone, gone: true });
  expect(sent().map(([path]) => path)).toContain('/calls/v3%3Aleg/actions/hangup');
});

describe('a command that a carrier gives no answer to', () => {
  const given = { tag: 't', conference: 'c', commandId: 'k', text: '', language: 'en' };
  const ring = { ...given, to: '+1', from: '+2', ringS: 30, acceptS: 120 };
  const wordOf = ({ url }: RestRequest): string => url.split('/').at(-1) ?? '';

  it('is asked for again at carrier A where it ends a call', async () => {
    const { control, asked } = newA();
    await control.transfer('CA1', { commandId: 'k', to: '+1' });
    await control.pressKeys('CA1', { digits: '1' });
    await control.park('CA1', given);
    await control.ring(ring);
    await control.join('CA2', given);
    await control.putBack('CA1');
    await control.hangUp('CA1');
    expect(asked.map(({ again = false }) => again)).toEqual([...Array<boolean>(6).fill(false), true]);
  });

  it('and at carrier B where somebody would wait for nothing', async () => {
    const { control, asked } = newB();
    await control.transfer('v3:a', { commandId: 'k', to: '+1' });
    await control.pressKeys('v3:a', { commandId: 'k', digits: '1' });
    await control.park('v3:a', given);
    await control.ring(ring);
    await control.join('v3:b', given);
    await control.answer('v3:a', '');
    await control.reject('v3:a');
    await control.putBack('v3:a', given);
    await control.hangUp('v3:a', 'k');
    expect(asked.filter(({ again }) => again === true).map(wordOf)).toEqual([
      ...['answer', 'reject', 'leave', 'streaming_start', 'hangup'],
    ]);
  });
});

describe('the transfer result', () => {
  it('has status, mode, destination, summary_delivered and instruction, and the name in place of a number', () => {
    const request = {
      ...{ commandId: 'k', destination: 'billing', isNumber: false, mode: 'warm', summary: 'x' },
      by: { kind: 'tool', key: 1, attempt: 1, epoch: 1 },
    } as const;
    const commands = { transfer: { phase: 'asked', request, by: 1 } };
    const step = { state: { commands }, now: 0, actions: [] } as unknown as Parameters<
      typeof onCarrierAnswered
    >[0];
    const end = onCarrierAnswered(step, {
      type: 'carrier.answered',
      commandId: 'k',
      outcome: { kind: 'ok' },
    });
    const { outcome } = end ?? {};
    expect(JSON.parse(outcome?.kind === 'result' ? outcome.text : '')).toEqual({
      status: 'initiated',
      mode: 'warm',
      destination: 'billing',
      summary_delivered: false,
      instruction: expect.any(String) as string,
    });
  });

  it('says where a caller was left who is not with the bot, and by which handle an operator finds them', () => {
    const request = {
      ...{ commandId: 'k', destination: 'billing', isNumber: false, mode: 'warm', summary: 'x' },
      by: { kind: 'tool', key: 1, attempt: 1, epoch: 1 },
    } as const;
    const told = (outcome: CarrierOutcome): unknown => {
      const commands = { transfer: { phase: 'asked', request, by: 1 } };
      const step = { state: { commands }, now: 0, actions: [] } as unknown as Parameters<
        typeof onCarrierAnswered
      >[0];
      return onCarrierAnswered(step, { type: 'carrier.answered', commandId: 'k', outcome })?.outcome;
    };
    const parked = expect.stringMatching(/the caller is parked, and recovery handle h-1/) as string;
    expect(told({ kind: 'unknown', handle: 'h-1' })).toMatchObject({ transport: true, known: parked });
    const refused = { kind: 'refused', code: 'rejected' } as const;
    const left = { where: 'parked', handle: 'h-1' } as const;
    expect(told({ ...refused, left })).toMatchObject({ transport: false, message: parked });
    const isBack = expect.stringMatching(/put back on the bot/) as string;
    expect(told({ ...refused, left: { where: 'returning' } })).toMatchObject({ message: isBack });
  });
});

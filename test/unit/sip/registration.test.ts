/** The account of this side at a registrar: signing in, renewal in time, pauses that grow, and the end. */
import { describe, expect, it } from 'vitest';
import { proofOf, challengeOf } from '../../../shared/sip/access/digest-client.ts';
import type { Flow } from '../../../shared/sip/agent/state.ts';
import { parseDatagram } from '../../../shared/sip/message/parse.ts';
import type { SipResponse } from '../../../shared/sip/message/message.ts';
import { Registrar } from '../../../supervisor/sip/registration/registrar.ts';
import {
  isAnswerTo,
  newRegistration,
  stepRegistration,
  type Registration,
  type RegistrationAction,
  type RegistrationEvent,
} from '../../../supervisor/sip/registration/registration.ts';

const flow: Flow = {
  ...{ connection: 0, protocol: 'UDP', source: { address: '192.0.2.9', port: 5060 } },
  local: { address: '198.51.100.7', port: 5060 },
};
const account = {
  ...{ address: 'sip:alice@pbx.example', registrar: 'sip:pbx.example', user: 'alice', signsInAs: 'alice' },
  ...{ password: 's3cret', expiresS: 600 },
};

class Line {
  readonly one: Registration;
  now = 0;
  /** The newest request. */
  request = '';
  readonly told: string[] = [];

  constructor() {
    let last = 0;
    const options = { account, newToken: () => `t${(last += 1)}`, chance: () => 0.5 };
    this.one = newRegistration(options, 0);
  }

  step(event: RegistrationEvent): readonly RegistrationAction[] {
    const actions = stepRegistration(this.one, event, this.now);
    for (const action of actions) {
      if (action.type === 'find.way') this.told.push('find');
      if (action.type === 'send') {
        const text = action.bytes.toString();
        this.told.push(text.trim() === '' ? 'alive' : text.split(' ', 1)[0]!);
        if (text.trim() !== '') this.request = text;
      }
      if (action.type === 'registered') this.told.push(`registered ${action.forS}`);
      if (action.type === 'failed') this.told.push(`failed ${action.status} ${action.againInMs}`);
      if (action.type === 'left') this.told.push('left');
    }
    return actions;
  }

  passes(ms: number): void {
    this.now += ms;
    this.step({ type: 'time.passed' });
  }

  header(name: string): string | undefined {
    return new RegExp(`^${name}: (.*)\r$`, 'm').exec(this.request)?.[1];
  }

  answer(status: number, ...headers: string[]): void {
    const cseq = this.header('CSeq') ?? '';
    const via = this.header('Via') ?? '';
    const text = `SIP/2.0 ${status} Words\r\nVia: ${via}\r\nCSeq: ${cseq}\r\n${headers.map((one) => `${one}\r\n`).join('')}Content-Length: 0\r\n\r\n`;
    const parsed = parseDatagram(Buffer.from(text));
    if (!parsed.ok) throw new Error(parsed.error);
    expect(isAnswerTo(this.one, /branch=(\S+)/.exec(via)?.[1] ?? '')).toBe(true);
    this.step({ type: 'answered', response: parsed.value.message as SipResponse });
  }

  /** As far as the first request. */
  begun(): this {
    this.step({ type: 'time.passed' });
    this.step({ type: 'way.found', flow });
    return this;
  }

  registered(): this {
    this.begun();
    this.answer(200, 'Contact: <sip:alice@198.51.100.7:5060>;expires=600');
    this.told.length = 0;
    return this;
  }
}

const challenge = (more = '', nonce = 'n1'): string =>
  `WWW-Authenticate: Digest realm="pbx", nonce="${nonce}", algorithm=MD5, qop="auth"${more}`;

describe('a registration', () => {
  it('names its account and where calls are to come', () => {
    const line = new Line().begun();
    expect(line.request).toMatch(/^REGISTER sip:pbx\.example SIP\/2\.0\r\n/);
    expect(line.header('To')).toBe('<sip:alice@pbx.example>');
    expect(line.header('Contact')).toBe('<sip:alice@198.51.100.7:5060>');
    expect(line.header('Expires')).toBe('600');
  });

  it('signs in where it is asked to, and goes on with the nonce', () => {
    const line = new Line().begun();
    line.answer(401, challenge());
    expect(line.header('Authorization')).toMatch(/username="alice".*nc=00000001/);
    line.answer(200);
    line.passes(300_000);
    line.step({ type: 'way.found', flow });
    expect(line.header('Authorization')).toContain('nc=00000002');
    expect(line.told).toEqual(['find', 'REGISTER', 'REGISTER', 'registered 600', 'find', 'REGISTER']);
  });

  it('takes the stronger of two ways to sign in, and answers proxies in their own header', () => {
    const line = new Line().begun();
    line.answer(401, challenge(), 'WWW-Authenticate: Digest realm="pbx", nonce="m", algorithm=SHA-256');
    expect(line.header('Authorization')).toMatch(/nonce="m".*algorithm=SHA-256$/);
    const other = new Line().begun();
    other.answer(407, 'Proxy-Authenticate: Digest realm="pbx", nonce="p", opaque="o"');
    expect(other.header('Proxy-Authorization')).toMatch(/nonce="p".*opaque="o"$/);
  });

  it('tries a wrong password once and then rests', () => {
    const line = new Line().begun();
    line.answer(401, challenge());
    line.answer(401, challenge('', 'n2'));
    expect(line.told.at(-1)).toBe('failed 401 300000');
    line.passes(299_999);
    expect(line.told.at(-1)).toBe('failed 401 300000');
    line.passes(1);
    expect(line.told.at(-1)).toBe('find');
  });

  it('takes a new nonce where the old one has run out, and leaves alone who is never content', () => {
    const line = new Line().begun();
    for (let round = 0; round < 5; round += 1) line.answer(401, challenge(', stale=true'));
    expect(line.told.filter((one) => one === 'REGISTER').length).toBe(5);
    expect(line.told.at(-1)).toMatch(/^failed 401/);
  });

  it('asks for longer where it is told to', () => {
    const line = new Line().begun();
    line.answer(423, 'Min-Expires: 1200');
    expect(line.header('Expires')).toBe('1200');
  });

  it('is renewed at half of what was granted, which may be less than what was asked for', () => {
    const line = new Line().begun();
    line.answer(200, 'Contact: <sip:bob@x>;expires=9, <sip:alice@198.51.100.7:5060>;expires=120');
    line.told.length = 0;
    line.passes(20_000);
    line.passes(39_999);
    expect(line.told).not.toContain('find');
    line.passes(1);
    expect(line.told.at(-1)).toBe('find');
  });

  it('keeps ways through translations open', () => {
    const line = new Line().registered();
    line.passes(25_000);
    line.passes(24_999);
    expect(line.told).toEqual(['alive']);
  });

  it('repeats its request over UDP, gives up after 32 s, and rests longer each time, up to 45 s', () => {
    const line = new Line().begun();
    line.passes(500);
    line.passes(1_000);
    expect(line.told).toEqual(['find', 'REGISTER', 'REGISTER', 'REGISTER']);
    line.passes(31_000);
    expect(line.told.at(-1)).toBe('failed 0 5000');
    line.passes(5_000);
    line.step({ type: 'way.lost' });
    expect(line.told.at(-1)).toBe('failed 0 10000');
    for (let round = 0; round < 20; round += 1) {
      line.passes(300_000);
      line.step({ type: 'way.lost' });
    }
    expect(line.told.at(-1)).toBe('failed 0 45000');
  });

  it.each([
    [500, 45_000],
    [404, 300_000],
  ])(
    'rests for longer behind an answer that says no than behind one of a registrar in trouble (%i)',
    (status, ms) => {
      const line = new Line().begun();
      for (let round = 0; round < 10; round += 1) {
        line.answer(status);
        line.passes(300_000);
        line.step({ type: 'way.found', flow });
      }
      line.answer(status);
      expect(line.told.at(-1)).toBe(`failed ${status} ${ms}`);
    },
  );

  it('waits for as long as the registrar says', () => {
    const line = new Line().begun();
    line.answer(503, 'Retry-After: 900');
    expect(line.told.at(-1)).toBe('failed 503 900000');
  });

  it('is made anew when its connection is lost', () => {
    const line = new Line().registered();
    line.step({ type: 'way.lost' });
    expect(line.told).toEqual(['failed 0 5000']);
    line.passes(5_000);
    expect(line.told.at(-1)).toBe('find');
  });

  it('is taken back at the end, with a proof where one is asked for', () => {
    const line = new Line().registered();
    line.step({ type: 'leave' });
    expect(line.header('Expires')).toBe('0');
    line.answer(401, challenge());
    expect(line.header('Expires')).toBe('0');
    line.answer(200);
    expect(line.told).toEqual(['REGISTER', 'REGISTER', 'left']);
  });

  it('that does not hold is over at once', () => {
    const line = new Line().begun();
    line.step({ type: 'leave' });
    expect(line.told.at(-1)).toBe('left');
    line.passes(600_000);
    expect(line.told.at(-1)).toBe('left');
  });
});

it('that never was has no end that is told', () => {
  const told: string[] = [];
  const tell = (_: object, text: string): unknown => told.push(text);
  const password = { reveal: () => account.password };
  const registrar = new Registrar({
    account: { user: 'alice', host: 'pbx.example', password, expiresMs: 600_000 } as never,
    log: { info: tell, warn: tell, debug: tell } as never,
    ...{
      family: 4,
      now: () => 0,
      newToken: () => 't',
      chance: () => 0,
      wayTo: () => Promise.resolve(undefined),
    },
    ...{ send: () => undefined, isRegistered: () => undefined },
  });
  registrar.leave();
  expect([told, registrar.isBusy]).toEqual([[], false]);
});

describe('signing in at a peer', () => {
  const asked = (...headers: string[]): SipResponse => ({
    ...{ kind: 'response', status: 401, reason: '', body: Buffer.alloc(0) },
    headers: headers.map((value) => ({ name: 'www-authenticate', value })),
  });

  it.each([
    ['MD5', 'cf244c4acfe43d30850a257250d859dc'],
    ['SHA-256', '320d8862b01b601d8f632dc4a07304a50d84aa2c0cd2b8cd3639d1ead1a22a6d'],
  ])('is proved as the reference has it (%s)', (algorithm, response) => {
    const found = challengeOf(
      asked(`Digest realm="sip.example.com", nonce="n0nce", algorithm=${algorithm}, qop="auth"`),
    );
    const [, proof] = proofOf(found!, {
      ...{ user: 'alice', password: 's3cret', method: 'INVITE', uri: 'sip:100@sip.example.com' },
      ...{ cnonce: 'c0nce', count: 1 },
    });
    expect(proof).toContain(`response="${response}"`);
  });

  it.each([
    ['a scheme that nobody here knows', 'Basic realm="x"'],
    ['an algorithm that nobody here knows', 'Digest realm="x", nonce="n", algorithm=SHA-512-256'],
    ['protection of bodies alone', 'Digest realm="x", nonce="n", qop="auth-int"'],
    ['no nonce', 'Digest realm="x"'],
    ['a text that would end its quotes', 'Digest realm="x\\"y", nonce="n"'],
  ])('is not tried with %s', (_what, header) => {
    expect(challengeOf(asked(header))).toBeUndefined();
  });
});

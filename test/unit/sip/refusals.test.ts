/**
 * Refusals over UDP: every request that can be read gets one, of whatever length, and an address that may be forged gets hardly more bytes
 * than were sent in its name.
 */
import { describe, expect, it } from 'vitest';
import { parseCidrList } from '../../../shared/net/cidr.ts';
import { newGate } from '../../../supervisor/sip/access/gate.ts';
import { step } from '../../../shared/sip/agent/agent.ts';
import { newAgent, type AgentAction, type AgentState, type Flow } from '../../../shared/sip/agent/state.ts';
import { parseDatagram } from '../../../shared/sip/message/parse.ts';

const known = '192.0.2.1';
const trunk = '192.0.2.2';
const registrar = '192.0.2.3';
const stranger = '203.0.113.9';

const digest = { user: 'alice', password: { reveal: () => 's3cret' }, realm: 'voice-agent' };
const allow = parseCidrList(known);

function agent({
  isOpen = false,
  hasAcl = false,
  isClosed = false,
  mostTransactions = 100,
} = {}): AgentState {
  let last = 0;
  const settings = {
    allow: hasAcl && allow.ok ? allow.value : [],
    digest: isOpen ? undefined : digest,
    register: undefined,
  };
  return newAgent({
    gate: newGate(settings as never, () => undefined, {
      isRegistrar: (address) => address === registrar,
      isTrunk: (address) => address === trunk,
    }),
    accountAt: () => undefined,
    rules: { srtp: 'optional', codecs: ['PCMU'] },
    newToken: () => `token${String((last += 1)).padStart(7, '0')}`,
    newKey: () => '',
    newSessionId: () => 7,
    isClosed: () => isClosed,
    mostTransactions,
  });
}

/** As small as requests of telephones get. */
const small = (method: string, more = '', tag = ''): string =>
  `${method} sip:1@198.51.100.7 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.1;rport;branch=z9hG4bK${method}\r\nFrom: <sip:2@192.0.2.1>;tag=f\r\nTo: <sip:1@198.51.100.7>${tag}\r\nCall-ID: c${method}\r\nCSeq: 1 ${method}\r\nContact: <sip:2@192.0.2.1>\r\n${more}\r\n`;

const from = (address: string, port = 5060): Flow => ({
  ...{ connection: 0, protocol: 'UDP', source: { address, port } },
  local: { address: '198.51.100.7', port: 5060 },
});

function ask(state: AgentState, text: string, flow = from(stranger), now = 0): readonly AgentAction[] {
  const bytes = Buffer.from(text, 'latin1');
  const parsed = parseDatagram(bytes);
  if (!parsed.ok) throw new Error(parsed.error);
  const { message, fault } = parsed.value;
  return step(state, { type: 'message.received', message, fault, flow, size: bytes.length }, now);
}

const sent = (actions: readonly AgentAction[]): string[] =>
  actions.flatMap((one) => (one.type === 'send' ? [one.bytes.toString('latin1')] : []));

const answered = (actions: readonly AgentAction[]): string => sent(actions).at(-1) ?? 'silence';

describe('a small request over UDP', () => {
  it.each([
    ['401', small('INVITE'), {}],
    ['401', small('OPTIONS'), {}],
    ['401', small('REGISTER'), {}],
    ['401', small('SUBSCRIBE'), {}],
    ['403', small('INVITE'), { hasAcl: true }],
    ['400', small('INVITE').replace('Call-ID: cINVITE\r\n', ''), {}],
    ['400', small('OPTIONS').replace(/SIP\/2.0\r/, ' SIP/2.0\r'), {}],
    ['505', small('OPTIONS').replace(/SIP\/2.0\r/, 'SIP/3.0\r'), {}],
    ['416', small('OPTIONS').replace('sip:1@198.51.100.7 ', 'im:1@x '), {}],
    ['481', small('CANCEL'), {}],
    ['481', small('BYE', '', ';tag=x'), {}],
    ['481', small('INFO', '', ';tag=x'), {}],
    ['503', small('OPTIONS'), { mostTransactions: 0 }],
    ['405', small('REGISTER'), { isOpen: true }],
    ['405', small('X'), { isOpen: true }],
    ['420', small('INVITE', `Require: ${'a,'.repeat(40)}b\r\n`), { isOpen: true }],
    ['503', small('INVITE'), { isOpen: true, isClosed: true }],
    ['503', small('OPTIONS'), { isOpen: true, isClosed: true }],
    ['481', small('PRACK'), { isOpen: true }],
    ['415', small('INVITE', 'c: text/plain\r\nl: 1\r\n').replace(/$/, 'x'), { isOpen: true }],
    ['488', small('INVITE', 'c: application/sdp\r\nl: 1\r\n').replace(/$/, 'x'), { isOpen: true }],
    ['422', small('INVITE', 'x: 20\r\nk: timer\r\n'), { isOpen: true }],
  ])('of a stranger gets its %s: %s', (status, text, how) => {
    expect(answered(ask(agent(how), text))).toMatch(new RegExp(`^SIP/2.0 ${status} `));
  });

  it('that has to be proved is told how, once in a while in more bytes than it has', () => {
    const challenge = answered(ask(agent(), small('INVITE')));
    expect(challenge).toContain('WWW-Authenticate: Digest realm="voice-agent"');
    expect(challenge).toContain('algorithm=MD5');
    expect(challenge.length).toBeGreaterThan(small('INVITE').length);
  });

  it('is counted where it is refused for the number of those under way', () => {
    const full = ask(agent({ mostTransactions: 0 }), small('OPTIONS'));
    expect(full.map(({ type }) => type)).toContain('agent.full');
    expect(ask(agent(), small('OPTIONS')).map(({ type }) => type)).toEqual(['send', 'request.refused']);
  });

  it('that is longer than its answer in few words gets those, and uses up nothing', () => {
    const state = agent();
    const text = small('INVITE', `User-Agent: ${'x'.repeat(90)}\r\n`);
    const challenge = answered(ask(state, text));
    expect(challenge).toMatch(/^SIP\/2.0 401 \r\nv:SIP[^]*\r\nWWW-Authenticate:Digest[^]*\r\nl:0\r\n\r\n$/);
    expect(challenge.length).toBeLessThanOrEqual(text.length);
    expect(state.surplus.sources.size).toBe(0);
  });

  it.each([
    ['a network that is allowed', known, { hasAcl: true }],
    ['the trunk', trunk, {}],
    ['the registrar', registrar, {}],
    ['whoever may call where nobody has to sign in', stranger, { isOpen: true }],
  ])('of %s gets the whole answer, however often it asks', (_who, address, how) => {
    const state = agent(how);
    const status = address === trunk || 'hasAcl' in how ? '401' : '405';
    for (let i = 0; i < 500; i += 1) {
      const answer = answered(ask(state, small('REGISTER'), from(address)));
      expect(answer).toContain(`SIP/2.0 ${status} `);
      expect(answer).toContain(status === '401' ? 'algorithm=SHA-256' : 'Allow: INVITE');
    }
    expect(state.surplus.sources.size).toBe(0);
  });

  it('over a connection gets the whole answer', () => {
    const flow: Flow = { ...from(stranger), protocol: 'TCP', connection: 3 };
    expect(answered(ask(agent(), small('INVITE'), flow))).toContain('algorithm=SHA-256');
  });
});

describe('a flood of small requests', () => {
  const asked = small('INVITE').length;
  const bytesOf = (actions: readonly AgentAction[]): number =>
    sent(actions).reduce((sum, text) => sum + text.length, 0);

  it('of one source is answered each time, in few bytes more than it has', () => {
    const state = agent();
    let [out, cut] = [0, 0];
    for (let i = 0; i < 10_000; i += 1) {
      const actions = ask(state, small('INVITE'), from(stranger, 1_024 + i), i / 100);
      expect(sent(actions)).toHaveLength(1);
      out += bytesOf(actions);
      cut += Number(actions.some((one) => one.type === 'request.refused' && one.isCut));
    }
    expect(cut).toBeGreaterThan(9_900);
    expect(out).toBeLessThan(10_000 * asked + 16_384);
    // It is served in full again a little later, and others are all the while.
    expect(answered(ask(state, small('INVITE'), from('203.0.113.10'), 100))).toContain('401');
    expect(answered(ask(state, small('INVITE'), from(stranger), 5_000))).toContain('WWW-Authenticate');
  });

  it('of many sources gets no more than all of them may, and is remembered in bounded memory', () => {
    const state = agent();
    let out = 0;
    for (let i = 0; i < 10_000; i += 1)
      out += bytesOf(ask(state, small('INVITE'), from(`10.1.${i >> 8}.${i & 255}`)));
    expect(out).toBeLessThan(10_000 * asked + 65_536);
    expect(state.surplus.sources.size).toBeLessThanOrEqual(1_024);
  });

  it('of one network of IPv6 is one source', () => {
    const state = agent();
    const cut = Array.from({ length: 200 }, (_, i) =>
      ask(state, small('INVITE'), from(`2001:db8::${i.toString(16)}`)).some(
        (one) => one.type === 'request.refused' && one.isCut,
      ),
    );
    expect(cut.at(-1)).toBe(true);
    expect(state.surplus.sources.size).toBe(1);
  });

  it('grows by less than a hundred bytes where it is as short as it can be', () => {
    const state = agent();
    const tiny =
      'BYE sip:a SIP/2.0\r\nv:SIP/2.0/UDP a;rport;branch=z9hG4bKa\r\nf:<sip:a>;tag=a\r\nt:<sip:a>;tag=b\r\ni:a\r\nCSeq:1 BYE\r\n\r\n';
    for (let i = 0; i < 1_000; i += 1) {
      const out = sent(ask(state, tiny, from('2001:db8:1111:2222:3333:4444:5555:6666')));
      expect(out).toHaveLength(1);
      if (i > 500) expect(out[0]!.length - tiny.length).toBeLessThan(100);
    }
  });
});

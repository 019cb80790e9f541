/** Calls that this side makes, and what it asks of the peers of calls: the pure agent, by the messages that go out and by its times. */
import { describe, expect, it } from 'vitest';
import { step } from '../../../shared/sip/agent/agent.ts';
import {
  newAgent,
  type AgentAction,
  type AgentEvent,
  type AgentState,
  type Flow,
} from '../../../shared/sip/agent/state.ts';
import { parseDatagram } from '../../../shared/sip/message/parse.ts';

const flow: Flow = {
  ...{ connection: 0, protocol: 'UDP', source: { address: '192.0.2.1', port: 5060 } },
  local: { address: '198.51.100.7', port: 5060 },
};
const secure: Flow = { ...flow, protocol: 'TLS', connection: 3 };

function agent(): AgentState {
  let last = 0;
  return newAgent({
    gate: { judge: () => undefined, knows: () => false },
    accountAt: () => undefined,
    rules: { srtp: 'optional', codecs: ['PCMU', 'PCMA', 'G722', 'opus'] },
    newToken: () => `t${(last += 1)}`,
    newKey: (bytes) => Buffer.alloc(bytes, 1).toString('base64'),
    newSessionId: () => 7,
    isClosed: () => false,
    mostTransactions: 1_000,
  });
}

const head = (text: string, name: string): string =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(text)?.[1]?.trim() ?? '';
const sent = (actions: readonly AgentAction[]): string[] =>
  actions.flatMap((action) => (action.type === 'send' ? [action.bytes.toString('latin1')] : []));
const said = (actions: readonly AgentAction[]): string[] =>
  actions.map((action) =>
    action.type === 'send'
      ? action.bytes
          .toString('latin1')
          .split('\r\n', 1)[0]!
          .replace(/ sip:\S+ SIP\/2\.0$/, '')
      : action.type,
  );

const session = (media = 'RTP/AVP 0 101', more = ''): string =>
  `v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 ${media}\r\na=rtpmap:101 telephone-event/8000\r\n${more}`;

/** A call to somebody, and the peer that gets it. */
class Call {
  readonly state = agent();
  readonly out: string[] = [];
  readonly outcomes: string[] = [];
  now = 0;
  readonly #flow: Flow;
  #peerCSeq = 0;

  constructor({ over = flow, account }: { over?: Flow; account?: { user: string; password: string } } = {}) {
    this.#flow = over;
    this.do({
      ...{
        type: 'call.dialed',
        dial: 'd',
        target: 'sip:+1555@trunk',
        from: '<sip:+1556@trunk>',
        callId: 'c',
      },
      ...{ flow: over, headers: [], account, local: { address: '198.51.100.7', port: 10_000 } },
      ringMs: 20_000,
    });
  }

  do(event: AgentEvent): string[] {
    const actions = step(this.state, event, this.now);
    this.out.push(...sent(actions));
    for (const action of actions) if ('outcome' in action) this.outcomes.push(action.outcome);
    return said(actions);
  }

  at(now: number): string[] {
    this.now = now;
    return this.do({ type: 'time.passed' });
  }

  /** The newest request of a method. */
  request(method: string): string {
    return this.out.findLast((text) => text.startsWith(`${method} `)) ?? '';
  }

  #give(text: string): string[] {
    const parsed = parseDatagram(Buffer.from(text, 'latin1'));
    if (!parsed.ok) throw new Error(parsed.error);
    const { message, fault } = parsed.value;
    return this.do({ type: 'message.received', message, fault, flow: this.#flow, size: text.length });
  }

  answer(
    status: number,
    {
      to = 'INVITE',
      tag = 'p',
      more = '',
      body = '',
    }: { to?: string; tag?: string; more?: string; body?: string } = {},
  ): string[] {
    const request = this.request(to);
    const same = ['Via', 'From', 'Call-ID', 'CSeq'].map((name) => `${name}: ${head(request, name)}\r\n`);
    const type = body === '' ? '' : 'Content-Type: application/sdp\r\n';
    const contact = status < 300 ? 'Contact: <sip:callee@192.0.2.77:5099>\r\n' : '';
    return this.#give(
      `SIP/2.0 ${status} X\r\n${same.join('')}To: <sip:+1555@trunk>;tag=${tag}\r\n${contact}${more}${type}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
  }

  /** A request of the peer, within the call. */
  ask(method: string, { more = '', body = '', type = 'application/sdp' } = {}): string[] {
    this.#peerCSeq += 1;
    return this.#give(
      `${method} sip:198.51.100.7 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKp${this.#peerCSeq}\r\nMax-Forwards: 70\r\nFrom: <sip:+1555@trunk>;tag=p\r\nTo: <sip:+1556@trunk>;tag=${/tag=(\w+)/.exec(head(this.request('INVITE'), 'From'))?.[1]}\r\nCall-ID: c\r\nCSeq: ${this.#peerCSeq} ${method}\r\nContact: <sip:callee@192.0.2.77:5099>\r\n${more}${body === '' ? '' : `Content-Type: ${type}\r\n`}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
  }

  answered(more = ''): this {
    this.answer(200, { body: session(), more });
    return this;
  }
}

const challenge = (stale = false): string =>
  `WWW-Authenticate: Digest realm="t", nonce="n", algorithm=MD5, qop="auth"${stale ? ', stale=true' : ''}\r\n`;
const account = { user: 'alice', password: 's3cret' };

describe('a call that this side makes', () => {
  it('offers wide and narrow sound with keys, in the clear over UDP and encrypted over TLS', () => {
    expect(new Call().request('INVITE')).toContain('RTP/AVP 9 0 8 101\r\n');
    const invite = new Call({ over: secure }).request('INVITE');
    expect(invite).toContain('RTP/SAVP 9 0 8 101\r\n');
    expect(invite).toContain('a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:');
    expect(head(invite, 'Contact')).toBe('<sip:198.51.100.7:5060;transport=tls>');
  });

  it('is asked for again with growing pauses until somebody answers, and is given up after 32 s', () => {
    const call = new Call();
    expect([499, 500, 1_499, 1_500, 3_500].map((at) => call.at(at))).toEqual([
      [],
      ['INVITE'],
      [],
      ['INVITE'],
      ['INVITE'],
    ]);
    expect(call.at(20_000)).toContain('dial.ended');
    const silent = new Call({ over: secure });
    silent.answer(100);
    expect(silent.at(19_999)).toEqual([]);
  });

  it('is not repeated once the peer has said that it is there', () => {
    const call = new Call();
    call.answer(180);
    expect(call.at(10_000)).toEqual([]);
  });

  it('begins when it is answered, which is acknowledged as often as it is said', () => {
    const call = new Call();
    call.answer(183, { body: session() });
    expect(call.answer(200, { body: session(), more: 'Record-Route: <sip:a;lr>, <sip:b;lr>\r\n' })).toEqual([
      'ACK',
      'dial.answered',
    ]);
    const ack = call.request('ACK');
    expect(ack.split('\r\n', 1)[0]).toBe('ACK sip:callee@192.0.2.77:5099 SIP/2.0');
    expect(ack).toMatch(/Route: <sip:b;lr>\r\nRoute: <sip:a;lr>/);
    expect(head(ack, 'Via')).not.toBe(head(call.request('INVITE'), 'Via'));
    expect(call.answer(200, { body: session() })).toEqual(['ACK']);
  });

  it("goes by the session that came before the answer where the answer has none, and by nobody else's", () => {
    const call = new Call();
    call.answer(183, { body: session('RTP/AVP 8') });
    call.answer(180);
    expect(call.answer(200)).toEqual(['ACK', 'dial.answered']);
    expect(call.state.calls.get(1)?.agreed?.media.codec).toBe('PCMA');
    const forked = new Call();
    forked.answer(183, { body: session(), tag: 'q' });
    expect(forked.answer(200)).toEqual(['ACK', 'BYE', 'dial.ended']);
  });

  it('is like one that came in: opened by its worker, moved, and ended from both sides', () => {
    const call = new Call().answered();
    const local = { address: '198.51.100.7', port: 10_000 };
    expect(call.do({ type: 'call.accepted', call: 1, local })).toEqual(['call.opened']);
    expect(call.ask('INVITE', { body: session('RTP/AVP 8 101', 'a=sendonly\r\n') })).toEqual([
      'SIP/2.0 100 Trying',
      'call.agreed',
      'SIP/2.0 200 OK',
    ]);
    expect(call.out.at(-1)).toContain('a=recvonly');
    call.ask('ACK');
    expect(call.ask('BYE')).toEqual(['SIP/2.0 200 OK', 'call.ended']);
    const ours = new Call().answered();
    expect(ours.do({ type: 'call.hung-up', call: 1 })).toEqual(['BYE', 'call.ended']);
    expect(head(ours.request('BYE'), 'CSeq')).toBe('2 BYE');
  });

  it('keeps to the session timer of the answer, by UPDATE where this side refreshes', () => {
    const timer = 'Allow: UPDATE, BYE\r\nSupported: timer\r\nSession-Expires: 100;refresher=uac\r\n';
    const call = new Call().answered(timer);
    expect(call.at(50_000)).toEqual(['UPDATE']);
    const theirs = new Call().answered(timer.replace('uac', 'uas'));
    expect(theirs.at(68_000)).toEqual(['BYE', 'call.ended']);
  });

  it('is refreshed at once as seldom as a peer asks that finds it too often', () => {
    const timer = 'Allow: UPDATE, BYE\r\nSupported: timer\r\nSession-Expires: 100;refresher=uac\r\n';
    const call = new Call().answered(timer);
    call.at(50_000);
    expect(call.answer(422, { to: 'UPDATE', more: 'Min-SE: 300\r\n' })).toEqual(['UPDATE']);
    expect(call.request('UPDATE')).toContain('Session-Expires: 300;refresher=uac\r\nMin-SE: 300');
    // A peer that asks for no more than it got is not asked again at once.
    expect(call.answer(422, { to: 'UPDATE', more: 'Min-SE: 300\r\n' })).toEqual([]);
    expect(call.at(200_000)).toEqual(['UPDATE']);
  });

  describe('to a peer that does not say that it takes UPDATE is refreshed by INVITE', () => {
    const timer = 'Allow: INVITE, BYE\r\nSupported: timer\r\nSession-Expires: 100;refresher=uac\r\n';
    const refreshing = (): Call => {
      const call = new Call().answered(timer);
      expect(call.at(50_000)).toEqual(['INVITE']);
      return call;
    };
    const branchOf = (text: string): string => /branch=(\w+)/.exec(head(text, 'Via'))?.[1] ?? '';

    it('which offers what runs, and is acknowledged, again where its answer comes again', () => {
      const call = refreshing();
      const invite = call.request('INVITE');
      expect(invite).toContain('To: <sip:+1555@trunk>;tag=p');
      expect(invite).toContain('m=audio 10000 RTP/AVP 0 101');
      expect(invite).toContain('Session-Expires: 100;refresher=uac');
      expect(call.at(50_500)).toEqual(['INVITE']);
      expect(call.answer(100)).toEqual([]);
      expect(call.at(60_000)).toEqual([]);
      expect(call.answer(200, { body: session(), more: timer })).toEqual(['ACK', 'call.agreed']);
      expect(branchOf(call.request('ACK'))).not.toBe(branchOf(invite));
      const first = call.request('ACK');
      expect(call.answer(200, { body: session(), more: timer })).toEqual(['ACK']);
      expect(call.request('ACK')).toBe(first);
      expect(call.at(109_999)).toEqual([]);
      expect(call.at(110_000)).toEqual(['INVITE']);
      // What runs has not changed: the offer is the one before.
      expect(call.request('INVITE').split('\r\n\r\n')[1]).toBe(invite.split('\r\n\r\n')[1]);
    });

    it('which waits where the peer has asked at the same time, as the peer has to', () => {
      const call = refreshing();
      expect(call.ask('INVITE', { body: session() })).toContain('SIP/2.0 491 Request Pending');
      expect(call.answer(491)).toEqual(['ACK']);
      expect(branchOf(call.request('ACK'))).toBe(branchOf(call.request('INVITE')));
      expect(call.at(52_999)).not.toContain('INVITE');
      expect(call.at(53_000)).toContain('INVITE');
    });

    it('and ends where the peer knows nothing of the call, or says nothing', () => {
      expect(refreshing().answer(481)).toEqual(['ACK', 'call.ended']);
      expect(refreshing().at(82_000)).toContain('call.ended');
    });

    it('and lets the peer refresh from now on where that wants to', () => {
      const call = refreshing();
      call.answer(200, { body: session(), more: timer.replace('=uac', '=uas') });
      expect(call.at(100_000)).toEqual([]);
      expect(call.at(118_000)).toEqual(['BYE', 'call.ended']);
    });
  });

  it.each([486, 603, 302, 404])(
    'that is refused with %i is acknowledged, again where that comes again, and told once',
    (status) => {
      const call = new Call();
      const invite = call.request('INVITE');
      expect(call.answer(status)).toEqual(['ACK', 'dial.ended']);
      expect(head(call.request('ACK'), 'Via')).toBe(head(invite, 'Via'));
      expect(call.answer(status)).toEqual(['ACK']);
      expect(call.at(32_001)).toEqual([]);
      expect(call.state.invites.size).toBe(0);
    },
  );

  it.each([
    ['WWW-Authenticate', 401, 'Authorization'],
    ['Proxy-Authenticate', 407, 'Proxy-Authorization'],
  ])('signs in where %s asks for it', (name, status, header) => {
    const call = new Call({ account });
    const more = challenge().replace('WWW-Authenticate', name);
    expect(call.answer(status, { more })).toEqual(['ACK', 'INVITE']);
    const again = call.request('INVITE');
    expect(head(again, 'CSeq')).toBe('2 INVITE');
    expect(head(again, header)).toMatch(/^Digest username="alice", realm="t".*nc=00000001/);
    expect(call.answer(200, { body: session() })).toEqual(['ACK', 'dial.answered']);
  });

  it('signs in once, again only where its nonce was too old, and without an account not at all', () => {
    const call = new Call({ account });
    call.answer(401, { more: challenge() });
    expect(call.answer(401, { more: challenge(true) })).toEqual(['ACK', 'INVITE']);
    expect(call.answer(401, { more: challenge(true) })).toEqual(['ACK', 'dial.ended']);
    const wrong = new Call({ account });
    wrong.answer(401, { more: challenge() });
    expect(wrong.answer(401, { more: challenge() })).toEqual(['ACK', 'dial.ended']);
    expect(new Call().answer(401, { more: challenge() })).toEqual(['ACK', 'dial.ended']);
  });

  it('is made with the session timer that a trunk or a proxy wants, asked for once', () => {
    const account = { user: 'alice', password: 's3cret' };
    const challenge = {
      more: 'WWW-Authenticate: Digest realm="r", nonce="n", algorithm=MD5, qop="auth"\r\n',
    };
    const call = new Call({ account });
    call.answer(401, challenge);
    expect(call.answer(422, { more: 'Min-SE: 1800\r\n' })).toEqual(['ACK', 'INVITE']);
    expect(call.request('INVITE')).toContain('Session-Expires: 1800\r\nMin-SE: 1800\r\n');
    expect(call.answer(401, challenge)).toEqual(['ACK', 'INVITE']);
    expect(call.request('INVITE')).toContain('Min-SE: 1800\r\n');
    expect(call.answer(422, { more: 'Min-SE: 3600\r\n' })).toEqual(['ACK', 'dial.ended']);
    expect(new Call().answer(422)).toEqual(['ACK', 'dial.ended']);
  });

  it('that nobody answers in time is taken back', () => {
    const call = new Call();
    call.answer(180);
    expect(call.at(20_000)).toEqual(['dial.ended', 'CANCEL']);
    expect(head(call.request('CANCEL'), 'Via')).toBe(head(call.request('INVITE'), 'Via'));
    expect(call.answer(200, { to: 'CANCEL' })).toEqual([]);
    expect(call.answer(487)).toEqual(['ACK']);
  });

  it('is taken back only once the peer has said something', () => {
    const call = new Call();
    expect(call.do({ type: 'dial.given-up', dial: 'd' })).toEqual(['dial.ended']);
    expect(call.answer(100)).toEqual(['CANCEL']);
    expect(call.answer(180)).toEqual([]);
  });

  it('that is answered although it was taken back is ended', () => {
    const call = new Call();
    call.answer(180);
    call.do({ type: 'dial.given-up', dial: 'd' });
    expect(call.answer(200, { body: session() })).toEqual(['ACK', 'BYE']);
    expect(call.state.calls.size).toBe(0);
  });

  it('has one that answers; whoever comes after is ended', () => {
    const call = new Call().answered();
    expect(call.answer(200, { body: session(), tag: 'other' })).toEqual(['ACK', 'BYE']);
    expect(call.state.calls.size).toBe(1);
  });

  it.each([
    ['no session', ''],
    ['another codec', session('RTP/AVP 18')],
    ['keys where none were offered', session('RTP/SAVP 0')],
  ])('whose answer has %s is ended', (_name, body) => {
    expect(new Call().answer(200, { body })).toEqual(['ACK', 'BYE', 'dial.ended']);
  });

  it('over TLS takes the suite that it offered, with keys of its own', () => {
    const key = Buffer.alloc(30, 2).toString('base64');
    const crypto = (suite: string): string => `a=crypto:1 ${suite} inline:${key}\r\n`;
    const call = new Call({ over: secure });
    expect(
      call.answer(200, { body: session('RTP/SAVP 0 101', crypto('AES_CM_128_HMAC_SHA1_80')) }),
    ).toContain('dial.answered');
    const other = new Call({ over: secure });
    expect(other.answer(200, { body: session('RTP/SAVP 0 101', crypto('AES_CM_128_HMAC_SHA1_32')) })).toEqual(
      ['ACK', 'BYE', 'dial.ended'],
    );
    expect(new Call({ over: secure }).answer(200, { body: session() })).toContain('dial.ended');
  });

  it('ends with its connection', () => {
    const call = new Call({ over: secure });
    call.answer(180);
    call.do({ type: 'flow.failed', connection: 3 });
    expect(call.at(1)).toEqual(['dial.ended']);
  });

  it('signs its BYE where the peer asks for that', () => {
    const call = new Call({ account }).answered();
    call.do({ type: 'call.hung-up', call: 1 });
    expect(call.answer(407, { to: 'BYE', more: challenge().replace('WWW', 'Proxy') })).toEqual(['BYE']);
    expect(head(call.request('BYE'), 'Proxy-Authorization')).toContain('uri="sip:callee@192.0.2.77:5099"');
  });
});

it.each([
  ['that has said nothing is not there', [], 0],
  ['that has said that it tries has rung', [100], 'rang'],
])('at the end of its time a peer %s', (_name, statuses, why) => {
  const call = new Call();
  for (const status of statuses) call.answer(status);
  const actions = step(call.state, { type: 'time.passed' }, 20_000);
  expect(actions).toContainEqual({ type: 'dial.ended', dial: 'd', why });
});

describe('of the peer of a call', () => {
  const refer = (call: Call): string[] => call.do({ type: 'call.refer', call: 1, user: '+1557' });
  const notify = (call: Call, text: string, state = 'active'): string[] =>
    call.ask('NOTIFY', {
      more: `Event: refer\r\nSubscription-State: ${state}\r\n`,
      ...{ body: text, type: 'message/sipfrag' },
    });
  const outcome = (call: Call, event: () => void): unknown => {
    event();
    return call.outcomes.at(-1);
  };

  it('a REFER names the number at the place of the peer, and ends well when somebody has answered', () => {
    const call = new Call().answered();
    expect(refer(call)).toEqual(['REFER']);
    expect(head(call.request('REFER'), 'Refer-To')).toBe('<sip:+1557@192.0.2.77:5099>');
    call.answer(202, { to: 'REFER' });
    expect(notify(call, 'SIP/2.0 180 Ringing')).toEqual(['SIP/2.0 200 OK']);
    expect(outcome(call, () => notify(call, 'SIP/2.0 200 OK', 'terminated;reason=noresource'))).toBe('ok');
    expect(notify(call, 'SIP/2.0 200 OK')).toEqual(['SIP/2.0 481 Subscription Does Not Exist']);
  });

  it('a REFER names the number at the proxy in front of a telephone, which has no numbers of its own', () => {
    const call = new Call().answered(
      'Record-Route: <sip:192.0.2.9;transport=tcp;lr>, <sip:192.0.2.1;lr>\r\n',
    );
    refer(call);
    expect(head(call.request('REFER'), 'Refer-To')).toBe('<sip:+1557@192.0.2.9;transport=tcp>');
  });

  it.each([
    ['the destination is busy', 'SIP/2.0 486 Busy Here', 'rejected'],
    ['the peer tells no more of it', 'SIP/2.0 100 Trying', 'unknown'],
  ])('a REFER comes to nothing where %s, and the call goes on', (_name, text, end) => {
    const call = new Call().answered();
    refer(call);
    call.answer(202, { to: 'REFER' });
    expect(outcome(call, () => notify(call, text, 'terminated'))).toBe(end);
    expect(call.state.calls.size).toBe(1);
  });

  it.each([
    [405, 'unsupported'],
    [603, 'rejected'],
  ])('a REFER that is answered with %i is not made', (status, end) => {
    const call = new Call().answered();
    refer(call);
    expect(outcome(call, () => call.answer(status, { to: 'REFER' }))).toBe(end);
  });

  it('a REFER is not sent to a peer that does not allow it', () => {
    const strict = new Call().answered('Allow: INVITE, BYE\r\n');
    expect(outcome(strict, () => refer(strict))).toBe('unsupported');
    expect(strict.request('REFER')).toBe('');
  });

  it.each([
    ['38 s', ['notify', 'answer'], 37_000, 38_000],
    ['38 s', ['answer', 'notify'], 37_000, 38_000],
    ['6 s where the peer takes it and tells nothing', ['answer'], 5_900, 6_000],
  ])('the outcome of a REFER is unknown after %s (%j)', (_, told, before, after) => {
    const call = new Call().answered();
    refer(call);
    for (const what of told)
      if (what === 'notify') notify(call, 'SIP/2.0 100 Trying');
      else call.answer(202, { to: 'REFER' });
    expect(outcome(call, () => call.at(before))).toBeUndefined();
    expect(outcome(call, () => call.at(after))).toBe('unknown');
  });

  it('keys go as INFO one behind the other, with their pauses', () => {
    const call = new Call().answered();
    expect(call.do({ type: 'call.press', call: 1, keys: '1w#' })).toEqual(['INFO']);
    expect(call.request('INFO')).toContain('Content-Type: application/dtmf-relay');
    expect(call.request('INFO')).toContain('Signal=1\r\nDuration=240');
    call.answer(200, { to: 'INFO' });
    expect(call.at(300)).toEqual([]);
    expect(call.at(400)).toEqual([]);
    expect(call.at(899)).toEqual([]);
    expect(call.at(900)).toEqual(['INFO']);
    expect(call.request('INFO')).toContain('Signal=#');
    expect(outcome(call, () => call.answer(200, { to: 'INFO' }))).toBe('ok');
  });

  it.each([
    ['Allow: INVITE, BYE\r\n', 0, 'unsupported'],
    ['', 415, 'unsupported'],
    ['', 500, 'rejected'],
  ])('keys that a peer does not take are told (%s%i)', (more, status, end) => {
    const call = new Call().answered(more);
    const press = (): void => {
      call.do({ type: 'call.press', call: 1, keys: '1' });
      if (status > 0) call.answer(status, { to: 'INFO' });
    };
    expect(outcome(call, press)).toBe(end);
  });
});

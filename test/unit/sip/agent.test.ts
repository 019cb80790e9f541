/** The pure agent: retransmission, races and refusals by their times, and messages that nobody should send. */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { step } from '../../../shared/sip/agent/agent.ts';
import { newAgent, type AgentAction, type AgentState, type Flow } from '../../../shared/sip/agent/state.ts';
import { parseDatagram } from '../../../shared/sip/message/parse.ts';

const sdp =
  'v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0 101\r\na=rtpmap:101 telephone-event/8000\r\n';

const flow: Flow = {
  ...{ connection: 0, protocol: 'UDP', source: { address: '192.0.2.1', port: 5060 } },
  local: { address: '198.51.100.7', port: 5060 },
};

function agent(srtp: AgentState['settings']['rules']['srtp'] = 'optional'): AgentState {
  let last = 0;
  return newAgent({
    gate: { judge: () => undefined, knows: () => false },
    accountAt: () => undefined,
    rules: { srtp, codecs: ['PCMU', 'PCMA', 'G722', 'opus'] },
    newToken: () => `t${(last += 1)}`,
    newKey: (bytes) => Buffer.alloc(bytes, 1).toString('base64'),
    newSessionId: () => 7,
    isClosed: () => false,
    mostTransactions: 1_000,
  });
}

function text(
  method: string,
  { cseq = 1, branch = `b1${method}`, toTag = '', body = '', more = '' } = {},
): string {
  const type = body === '' ? '' : 'Content-Type: application/sdp\r\n';
  return `${method} sip:100@198.51.100.7 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.1:5060;rport;branch=z9hG4bK${branch}\r\nMax-Forwards: 70\r\nFrom: <sip:1@192.0.2.1>;tag=f\r\nTo: <sip:100@198.51.100.7>${toTag === '' ? '' : `;tag=${toTag}`}\r\nCall-ID: c1\r\nCSeq: ${cseq} ${method}\r\nContact: <sip:1@192.0.2.1>\r\n${more}${type}Content-Length: ${body.length}\r\n\r\n${body}`;
}

function give(state: AgentState, message: string | Buffer, now = 0, by: Flow = flow): readonly AgentAction[] {
  const bytes = Buffer.from(message as string, 'latin1');
  const parsed = parseDatagram(bytes);
  if (!parsed.ok) return [];
  const { message: read, fault } = parsed.value;
  return step(state, { type: 'message.received', message: read, fault, flow: by, size: bytes.length }, now);
}

const said = (actions: readonly AgentAction[]): string[] =>
  actions.flatMap((action) =>
    action.type === 'send' ? [action.bytes.toString('latin1').split('\r\n', 1)[0]!] : [`<${action.type}>`],
  );

const invite = (state: AgentState, now = 0): readonly AgentAction[] =>
  give(state, text('INVITE', { body: sdp }), now);
const accept = (state: AgentState, now = 0): readonly AgentAction[] =>
  step(state, { type: 'call.accepted', call: 1, local: { address: '198.51.100.7', port: 10_000 } }, now);
const passed = (state: AgentState, now: number): readonly AgentAction[] =>
  step(state, { type: 'time.passed' }, now);

describe('an INVITE', () => {
  it('gets 100 at once, then 200 again and again until its ACK', () => {
    const state = agent();
    expect(said(invite(state))).toEqual(['SIP/2.0 100 Trying', '<call.offered>']);
    expect(said(accept(state, 10))).toEqual(['SIP/2.0 200 OK']);
    expect(said(passed(state, 500))).toEqual([]);
    expect(said(passed(state, 510))).toEqual(['SIP/2.0 200 OK']);
    expect(said(passed(state, 1_510))).toEqual(['SIP/2.0 200 OK']);
    expect(said(give(state, text('ACK', { branch: 'other', toTag: 't1' }), 1_600))).toEqual([
      '<call.opened>',
    ]);
    expect(said(passed(state, 5_000))).toEqual([]);
  });

  it('that is never acknowledged ends with BYE after 32 s', () => {
    const state = agent();
    invite(state);
    accept(state, 0);
    expect(said(passed(state, 32_000))).toEqual(['BYE sip:1@192.0.2.1 SIP/2.0', '<call.ended>']);
  });

  it('that comes twice is answered twice and is one call', () => {
    const state = agent();
    invite(state);
    expect(said(invite(state, 100))).toEqual(['SIP/2.0 100 Trying']);
  });

  it('that is cancelled gets 487, and a CANCEL after the answer changes nothing', () => {
    const state = agent();
    invite(state);
    const cancel = text('CANCEL', { branch: 'b1INVITE' });
    const cancelled = give(state, cancel);
    expect(said(cancelled)).toEqual(['SIP/2.0 200 OK', 'SIP/2.0 487 Request Terminated', '<call.ended>']);
    const tags = cancelled.map((action) =>
      action.type === 'send' ? /^To: .*;tag=(\w+)/m.exec(action.bytes.toString())?.[1] : undefined,
    );
    expect(tags[0]).toBeDefined();
    expect(tags[0]).toBe(tags[1]);
    const later = agent();
    invite(later);
    accept(later);
    expect(said(give(later, cancel))).toEqual(['SIP/2.0 200 OK']);
  });

  it.each([
    ['0 8 9', 'RTP/AVP 0 101'],
    ['9 0', 'RTP/AVP 9 101'],
    ['18 8 0', 'RTP/AVP 8 101'],
  ])('gets the first codec of its own order that both know (%s)', (types, answer) => {
    const state = agent();
    give(state, text('INVITE', { body: sdp.replace('RTP/AVP 0', `RTP/AVP ${types}`) }));
    const [ok] = accept(state);
    expect(ok?.type === 'send' && ok.bytes.toString()).toContain(answer);
  });

  it.each([
    ['phone.example.com', true],
    ['0.0.0.0', false],
  ])('that names no address (%s) is one that audio is sent to: %s', (host, sends) => {
    const body = sdp.replace('c=IN IP4 192.0.2.1', `c=IN IP4 ${host}`);
    const offered = give(agent(), text('INVITE', { body })).at(-1);
    const media = offered?.type === 'call.offered' ? offered.media : undefined;
    expect([media?.sends, media?.remote]).toEqual([sends, undefined]);
  });

  it('is read where its session is one part among others', () => {
    const place = '--b 1\r\nContent-Type: application/pidf+xml\r\n\r\n<a/>\r\n';
    const body = `${place}--b 1\r\nContent-Type: application/sdp\r\n\r\n${sdp}\r\n--b 1--\r\n`;
    const invite = text('INVITE', { body });
    const given = (type: string): string[] =>
      said(give(agent(), invite.replace('Type: application/sdp\r\nContent-L', `Type: ${type}\r\nContent-L`)));
    expect(given('multipart/mixed;boundary="b 1"')).toContain('<call.offered>');
    expect(given('multipart/mixed;boundary=other').at(-1)).toContain('415');
  });

  it('is told that reports come to the port of the audio, and shares it where the peer does', () => {
    const state = agent();
    give(state, text('INVITE', { body: `${sdp}a=rtcp-mux\r\n` }));
    const [ok] = accept(state);
    expect(ok?.type === 'send' && ok.bytes.toString()).toContain('a=rtcp:10000\r\na=rtcp-mux\r\n');
  });

  it.each([
    ['|2^31', undefined],
    ['|2^31|1:1', 1],
    ['|7:128', 128],
    ['|1:129', 'refused'],
  ])('has the key of its offer, with its lifetime and the length of its name: %s', (params, mkiBytes) => {
    const key = Buffer.alloc(30, 2).toString('base64');
    const crypto = `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}${params}\r\n`;
    const tls: Flow = { ...flow, connection: 3, protocol: 'TLS' };
    const body = sdp.replace('RTP/AVP', 'RTP/SAVP') + crypto;
    const state = agent();
    const actions = give(state, text('INVITE', { body }), 0, tls);
    if (mkiBytes === 'refused') expect(said(actions).at(-1)).toContain('488');
    else
      expect([...state.calls.values()][0]?.agreed?.media.keys).toMatchObject({
        remote: key,
        ...(mkiBytes && { mkiBytes }),
      });
  });

  it.each([
    ['TLS', 'optional', 'encrypted'],
    ['TLS', 'required', 'encrypted'],
    ['TLS', 'off', 'plain'],
    ['UDP', 'optional', 'plain'],
    ['UDP', 'required', 'refused'],
  ] as const)('with keys and RTP/AVP, over %s where SRTP is %s, is %s', (protocol, srtp, end) => {
    const key = Buffer.alloc(30, 2).toString('base64');
    const body = `${sdp}a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}\r\n`;
    const state = agent(srtp);
    const actions = give(state, text('INVITE', { body }), 0, { ...flow, connection: 3, protocol });
    expect(said(actions).some((line) => line.includes('488'))).toBe(end === 'refused');
    if (end === 'refused') return;
    const [ok] = accept(state);
    const answer = ok?.type === 'send' ? ok.bytes.toString() : '';
    expect(answer).toContain('m=audio 10000 RTP/AVP 0');
    expect(answer.includes('a=crypto:1 ')).toBe(end === 'encrypted');
  });

  it.each([
    ['v=0\r\nm=audio 4000 RTP/AVP 3\r\n', 'UDP: RTP/AVP'],
    [sdp.replace('RTP/AVP', 'RTP/SAVP'), 'UDP: RTP/SAVP PCMU'],
    [sdp.replace('RTP/AVP', 'UDP/TLS/RTP/SAVPF'), 'UDP: no audio over RTP'],
  ])('with nothing that both can have is refused, and an operator can see why', (body, offers) => {
    const actions = give(agent(), text('INVITE', { body }));
    expect(said(actions).at(-1)).toContain('488');
    expect(actions).toContainEqual({ type: 'call.unmet', callId: 'c1', offers });
  });

  it('that needs an extension is told which one is missing', () => {
    const [only] = give(agent(), text('INVITE', { body: sdp, more: 'Require: 100rel\r\n' }));
    expect(only?.type === 'send' && only.bytes.toString()).toMatch(/^SIP\/2.0 420 [^]*Unsupported: 100rel/);
  });
});

it('a re-INVITE may change from a wide codec to a narrow one', () => {
  const state = agent();
  give(state, text('INVITE', { body: sdp.replace('RTP/AVP 0', 'RTP/AVP 9') }));
  accept(state);
  give(state, text('ACK', { branch: 'other', toTag: 't1' }));
  const out = give(state, text('INVITE', { cseq: 2, branch: 'again', toTag: 't1', body: sdp }));
  expect(out).toMatchObject([{}, { type: 'call.agreed', media: { codec: 'PCMU' } }, {}]);
});

it('takes keys by the clock of telephones beside Opus, as those have it that offer no other', () => {
  const state = agent();
  const opus = sdp
    .replace('RTP/AVP 0', 'RTP/AVP 107')
    .replace('a=rtpmap', 'a=rtpmap:107 opus/48000/2\r\na=rtpmap');
  const offered = give(state, text('INVITE', { body: opus })).find(({ type }) => type === 'call.offered');
  expect(offered).toMatchObject({ media: { codec: 'opus', dtmfType: 101, dtmfClock: 8_000 } });
  const answer = accept(state).find(({ type }) => type === 'send');
  expect(answer?.type === 'send' && answer.bytes.toString()).toContain('a=rtpmap:101 telephone-event/8000');
});

describe('a re-INVITE without an offer', () => {
  const tls: Flow = { ...flow, connection: 3, protocol: 'TLS' };
  const key = `a=crypto:4 AES_CM_128_HMAC_SHA1_80 inline:${Buffer.alloc(30, 2).toString('base64')}\r\n`;
  const encrypted = sdp.replace('RTP/AVP', 'RTP/SAVP') + key;
  const opus = sdp.replace('RTP/AVP 0 101', 'RTP/AVP 107').replace(/a=rtpmap.*/, 'a=rtpmap:107 opus/48000/2');

  it.each([
    ['encrypted', encrypted, 'RTP/SAVP 0 101', 'a=crypto:4 AES_CM_128_HMAC_SHA1_80 inline:AQEB'],
    ['by Opus', opus, 'RTP/AVP 107', 'a=rtpmap:107 opus/48000/2'],
  ])('of a call that is %s, and on hold, is offered what runs, and goes on', (_name, body, media, line) => {
    const state = agent();
    const tell = (method: string, cseq: number, more = ''): readonly AgentAction[] =>
      give(
        state,
        text(method, { cseq, branch: `${method}${cseq}`, toTag: cseq > 1 ? 't1' : '', body: more }),
        0,
        tls,
      );
    tell('INVITE', 1, body);
    accept(state);
    give(state, text('ACK', { branch: 'other', toTag: 't1' }), 0, tls);
    tell('UPDATE', 2, `${body}a=sendonly\r\n`);
    const offered = tell('INVITE', 3).at(-1);
    const offer = offered?.type === 'send' ? offered.bytes.toString() : '';
    for (const part of [media, line, 'a=sendrecv']) expect(offer).toContain(part);
    const acknowledged = tell('ACK', 3, body);
    expect(acknowledged).toMatchObject([{ type: 'call.agreed', media: { sends: true, receives: true } }]);
  });
});

describe('requests without a call', () => {
  it.each([
    ['OPTIONS', '', '200'],
    ['BYE', 'x', '481'],
    ['REGISTER', '', '405'],
    ['CANCEL', '', '481'],
  ])('%s is answered as it should', (method, toTag, status) => {
    expect(
      said(give(agent(), text(method, { toTag, more: `Subject: ${'x'.repeat(120)}\r\n` })))[0],
    ).toContain(status);
  });
});

describe('requests of this side', () => {
  const over = (protocol: 'TCP' | 'TLS'): Flow => ({ ...flow, connection: 3, protocol });
  const answered = (protocol: 'TCP' | 'TLS', more: (text: string) => string): AgentState => {
    const state = agent();
    const parsed = parseDatagram(Buffer.from(more(text('INVITE', { body: sdp })), 'latin1'));
    if (!parsed.ok) throw new Error(parsed.error);
    const { message, fault } = parsed.value;
    step(state, { type: 'message.received', message, fault, flow: over(protocol), size: Infinity }, 0);
    return state;
  };
  const hungUp = (state: AgentState): AgentAction | undefined => {
    accept(state);
    return step(state, { type: 'call.hung-up', call: 1 }, 0)[0];
  };

  it('may go to where the peer listens, on its own machine alone, should its connection be gone', () => {
    const elsewhere = (invite: string): string =>
      invite.replace('Contact: <sip:1@192.0.2.1>', 'Contact: <sip:1@203.0.113.7:5090;transport=tcp>');
    expect(hungUp(answered('TCP', elsewhere))).toMatchObject({ orAt: { address: '192.0.2.1', port: 5090 } });
    expect(hungUp(answered('TLS', (invite) => invite))).toMatchObject({
      orAt: { address: '192.0.2.1', port: 5061 },
    });
  });

  it('are addressed through the proxies that the peer came through', () => {
    const routed = (invite: string): string =>
      invite.replace('Contact:', 'Record-Route: <sip:192.0.2.9:5070;lr>\r\nContact:');
    const bye = hungUp(answered('TCP', routed));
    expect(bye).toMatchObject({ orAt: { address: '192.0.2.1', port: 5070 } });
    expect(bye?.type === 'send' && bye.bytes.toString()).toContain('\r\nRoute: <sip:192.0.2.9:5070;lr>\r\n');
  });

  it('give a peer that asked for sips an address of sips', () => {
    const state = answered('TLS', (invite) => invite.replace('INVITE sip:', 'INVITE sips:'));
    const [ok] = accept(state);
    expect(ok?.type === 'send' && ok.bytes.toString()).toContain('Contact: <sips:198.51.100.7:5060>');
  });
});

describe('requests of this side in a call that came in', () => {
  const at = (address: string): AgentState => {
    const accountAt = (from: string) =>
      from === address ? { user: 'alice', password: 's3cret' } : undefined;
    const state = newAgent({ ...agent().settings, accountAt });
    give(
      state,
      text('INVITE', { body: sdp, more: 'Supported: timer\r\nSession-Expires: 90;refresher=uas\r\n' }),
    );
    accept(state);
    give(state, text('ACK', { branch: 'other', toTag: 't1' }));
    return state;
  };
  /** What comes out when the peer wants the request of that event signed. */
  const challenged = (state: AgentState, sent: readonly AgentAction[], name: string): string[] => {
    const bytes =
      sent.flatMap((one) => (one.type === 'send' ? [one.bytes.toString('latin1')] : [])).at(-1) ?? '';
    const [via, cseq] = ['Via', 'CSeq'].map((header) =>
      new RegExp(`^${header}: (.*)$`, 'm').exec(bytes)?.[1]?.trim(),
    );
    const status = name.startsWith('Proxy') ? 407 : 401;
    const answer = `SIP/2.0 ${status} No\r\nVia: ${via}\r\nFrom: <sip:100@198.51.100.7>;tag=t1\r\nTo: <sip:1@192.0.2.1>;tag=f\r\nCall-ID: c1\r\nCSeq: ${cseq}\r\n${name}: Digest realm="t", nonce="n", algorithm=MD5, qop="auth"\r\nContent-Length: 0\r\n\r\n`;
    return give(state, answer, 45_001).flatMap((one) =>
      one.type === 'send' ? [one.bytes.toString('latin1')] : [`<${one.type}>`],
    );
  };
  const wants = {
    BYE: (state: AgentState) => step(state, { type: 'call.hung-up', call: 1 }, 10),
    REFER: (state: AgentState) => step(state, { type: 'call.refer', call: 1, user: '+1557' }, 10),
    INFO: (state: AgentState) => step(state, { type: 'call.press', call: 1, keys: '5' }, 10),
    INVITE: (state: AgentState) => passed(state, 45_000),
  };

  it.each([
    ['BYE', 'WWW-Authenticate', 'Authorization'],
    ['REFER', 'Proxy-Authenticate', 'Proxy-Authorization'],
    ['INFO', 'WWW-Authenticate', 'Authorization'],
    ['INVITE', 'Proxy-Authenticate', 'Proxy-Authorization'],
  ] as const)(
    'are signed where whoever has an account of this side asks for it (%s)',
    (method, name, header) => {
      const state = at('192.0.2.1');
      const out = challenged(state, wants[method](state), name);
      expect(out.at(-1)).toMatch(new RegExp(`^${method} sip:1@192\\.0\\.2\\.1 `));
      expect(out.at(-1)).toContain(`${header}: Digest username="alice", realm="t"`);
    },
  );

  it('are signed for nobody else', () => {
    const state = at('192.0.2.2');
    expect(challenged(state, wants.BYE(state), 'WWW-Authenticate')).toEqual([]);
  });
});

describe('messages that nobody should send', () => {
  it('do not throw, and get few bytes more than they have, from a seed', () => {
    const prng = newPrng(4_475);
    const state = newAgent({
      ...agent().settings,
      gate: { judge: () => ({ status: 403, reason: 'Forbidden' }), knows: () => false },
    });
    const bases = ['INVITE', 'OPTIONS', 'BYE', 'REGISTER', 'CANCEL', 'ACK'].map((method) =>
      text(method, { body: sdp }),
    );
    let surplus = 0;
    for (let round = 0; round < 5_000; round += 1) {
      let message = prng.pick(bases);
      for (let changes = prng.below(6); changes > 0; changes -= 1) {
        const at = prng.below(message.length);
        const piece = prng.pick([
          '',
          '\r\n',
          ' ',
          '"',
          '<',
          ';',
          ',',
          ':',
          '\0',
          'x'.repeat(prng.below(300)),
          message.slice(0, at),
        ]);
        message = message.slice(0, at) + piece + message.slice(at + prng.below(20));
      }
      const out = give(state, message, round).reduce(
        (sum, one) => sum + (one.type === 'send' ? one.bytes.length : 0),
        0,
      );
      surplus += Math.max(0, out - message.length);
      passed(state, round);
    }
    // One source's allowance, and a tag here and there.
    expect(surplus).toBeLessThan(8 * 1024 + 5 * 2 * 1024 + 5_000 * 10);
    expect(state.transactions.size).toBe(0);
  });
});

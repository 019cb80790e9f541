/** SIP with `sipp` as the other side: calls, what happens within them, and what is refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pause, receive, runSipp, send, sippMissing, type Request } from '../support/sip/sipp.ts';
import { TestService } from '../support/process/service.ts';

const rtp = { SVC_SIP_RTP_PORTS: '38000-38998' };
const account = { user: 'alice', password: 's3cret' };

const session = ({
  media = 'm=audio 6000 RTP/AVP 0 101\na=rtpmap:101 telephone-event/8000',
  address = '[local_ip]',
  more = '',
} = {}): string =>
  `v=0\no=sipp 1 1 IN IP4 [local_ip]\ns=-\nc=IN IP4 ${address}\nt=0 0\n${media}${more === '' ? '' : `\n${more}`}`;

const sdp = session();
const trying = [100, 180].map((status) => receive(status, { isOptional: true }));
const bye = (cseq = 9): string[] => [send('BYE', { cseq }), receive(200)];

/** A call that is answered; `has` must stand in the 200. */
const call = (invite: Request, has?: string, ack: Request = {}): string[] => [
  send('INVITE', { body: sdp, ...invite }),
  ...trying,
  receive(200, has === undefined ? {} : { has }),
  send('ACK', ack),
];

/** A call with something in it. */
const within = (...steps: string[]): string[] => [...call({}), ...steps, ...bye()];

/** A request that is refused before there is a call. */
const refused = (status: number, invite: Request, has?: string): string[] => [
  send('INVITE', { body: sdp, ...invite }),
  receive(100, { isOptional: true }),
  receive(status, has === undefined ? {} : { has }),
  send('ACK', { cseq: 1, edit: (text) => text.replace('[branch]', '[branch-2]') }),
];

const again = (cseq: number, body: string, has: string): string[] => [
  send('INVITE', { cseq, body }),
  receive(100, { isOptional: true }),
  receive(200, { has }),
  send('ACK', { cseq }),
];

/** A request outside of what came before: nobody's tag is in it. */
const fresh = (text: string): string => text.replace('[peer_tag_param]', '');

const key = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd';

const calls: Readonly<Record<string, readonly string[]>> = {
  PCMU: [...call({}, 'RTP/AVP 0 101'), ...bye()],
  PCMA: [...call({ body: session({ media: 'm=audio 6000 RTP/AVP 8' }) }, 'RTP/AVP 8'), ...bye()],
  'G.722': [...call({ body: session({ media: 'm=audio 6000 RTP/AVP 9 0' }) }, 'RTP/AVP 9'), ...bye()],
  Opus: [
    ...call(
      { body: session({ media: 'm=audio 6000 RTP/AVP 107 0\na=rtpmap:107 opus/48000/2' }) },
      'RTP/AVP 107',
    ),
    ...bye(),
  ],
  'the first codec that both know': [
    ...call({ body: session({ media: 'm=audio 6000 RTP/AVP 18 3 8 0' }) }, 'RTP/AVP 8'),
    ...bye(),
  ],
  'a payload type of its own for PCMU': [
    ...call({ body: session({ media: 'm=audio 6000 RTP/AVP 96\na=rtpmap:96 PCMU/8000' }) }, 'RTP/AVP 96'),
    ...bye(),
  ],
  'video beside the audio, which is not taken': [
    ...call({ body: session({ more: 'm=video 6002 RTP/AVP 31' }) }, 'm=video 0 RTP/AVP 31'),
    ...bye(),
  ],
  'reports on the port of the audio': [
    ...call({ body: session({ more: 'a=rtcp-mux' }) }, 'a=rtcp-mux'),
    ...bye(),
  ],
  'audio in one direction': [...call({ body: session({ more: 'a=sendonly' }) }, 'a=recvonly'), ...bye()],
  'a hold of the old kind from the beginning': [...call({ body: session({ address: '0.0.0.0' }) }), ...bye()],
  'an offer of this side': [...call({ body: '' }, 'm=audio', { body: sdp }), ...bye()],
  'short names of headers': [
    ...call({
      edit: (text) =>
        text.replace('From:', 'f:').replace('To:', 't:').replace('Call-ID:', 'i:').replace('Contact:', 'm:'),
    }),
    ...bye(),
  ],
  'names in any case': [
    ...call({ edit: (text) => text.replace('CSeq:', 'cSEQ:').replace('Via:', 'VIA:') }),
    ...bye(),
  ],
  'headers that nobody knows': [
    ...call({ headers: ['X-Trunk: 7', 'P-Charging-Vector: icid-value=1'] }),
    ...bye(),
  ],
  'a proxy on the way': [
    ...call({ headers: ['Record-Route: <sip:127.0.0.1:[local_port];lr>'] }, 'Record-Route: <sip:127'),
    ...bye(),
  ],
  'two proxies on the way': [
    ...call({ headers: ['Via: SIP/2.0/UDP 192.0.2.9;branch=z9hG4bKsecond'] }, 'z9hG4bKsecond'),
    ...bye(),
  ],
  'an identity that the trunk vouches for': [
    ...call({ headers: ['P-Asserted-Identity: "A" <tel:+15550199>'] }),
    ...bye(),
  ],
  'a caller who stays unknown': [
    ...call({ headers: ['Privacy: id'], edit: (text) => text.replace('+15550100@', 'anonymous@') }),
    ...bye(),
  ],
  'no Max-Forwards': [...call({ edit: (text) => text.replace('Max-Forwards: 70\n', '') }), ...bye()],
  'a session timer': [
    ...call(
      { headers: ['Supported: timer', 'Session-Expires: 1800'] },
      'Session-Expires: 1800;refresher=uac',
    ),
    ...bye(),
  ],
  'reliable provisional answers, where they are not required': [
    ...call({ headers: ['Supported: 100rel'] }),
    ...bye(),
  ],
};

const inside: Readonly<Record<string, readonly string[]>> = {
  'a hold and its end': within(
    ...again(2, session({ more: 'a=sendonly' }), 'a=recvonly'),
    ...again(3, sdp, 'a=sendrecv'),
  ),
  'a hold on both sides': within(...again(2, session({ more: 'a=inactive' }), 'a=inactive')),
  'media that move': within(...again(2, session({ media: 'm=audio 6010 RTP/AVP 0' }), 'RTP/AVP 0')),
  'a re-INVITE without an offer': within(
    send('INVITE', { cseq: 2 }),
    receive(100, { isOptional: true }),
    receive(200, { has: 'm=audio' }),
    send('ACK', { cseq: 2, body: sdp }),
  ),
  'a re-INVITE with nothing that both can have, after which the call goes on': within(
    send('INVITE', { cseq: 2, body: session({ media: 'm=audio 6000 RTP/AVP 18' }) }),
    receive(100, { isOptional: true }),
    receive(488),
    send('ACK', { cseq: 2, edit: (text) => text.replace('[branch]', '[branch-2]') }),
    ...again(3, sdp, 'a=sendrecv'),
  ),
  'UPDATE without a body': within(send('UPDATE', { cseq: 2 }), receive(200)),
  'UPDATE with an offer': within(
    send('UPDATE', { cseq: 2, body: session({ more: 'a=sendonly' }) }),
    receive(200, { has: 'a=recvonly' }),
  ),
  'a key as INFO': within(
    send('INFO', { cseq: 2, body: 'Signal=5\nDuration=160', type: 'application/dtmf-relay' }),
    receive(200),
  ),
  'INFO with something else': within(
    send('INFO', { cseq: 2, body: '<x/>', type: 'application/xml' }),
    receive(415),
  ),
  OPTIONS: within(send('OPTIONS', { cseq: 2 }), receive(200, { has: 'Allow:' })),
  REFER: within(send('REFER', { cseq: 2, headers: ['Refer-To: <sip:b@192.0.2.1>'] }), receive(603)),
  'a method that nobody knows': within(send('DANCE', { cseq: 2 }), receive(405, { has: 'Allow:' })),
  'a BYE of a stranger': within(
    send('BYE', { cseq: 2, edit: (text) => text.replace('tag=[pid]s', 'tag=x') }),
    receive(481),
  ),
};

/** What gets lost on the way, where anything can: sipp takes what comes twice for once. */
const lossy: Readonly<Record<string, readonly string[]>> = {
  'an ACK that is lost': [
    send('INVITE', { body: sdp }),
    ...trying,
    receive(200),
    pause(1_200),
    send('ACK'),
    ...bye(),
  ],
  'an answer that is lost: the INVITE comes again, and is the same call': [
    send('INVITE', { body: sdp }),
    ...trying,
    receive(200),
    pause(100),
    send('INVITE', { body: sdp, repeats: false, edit: (text) => text.replace('[branch]', '[branch-5]') }),
    pause(700),
    send('ACK'),
    ...bye(),
  ],
};

/** The answer to a CANCEL has a tag of its own, after which sipp would go on with that one. */
const toAnswerer = (text: string): string => text.replace(/^To:.*$/m, 'To:[$theirs]');

const crossing: Readonly<Record<string, readonly string[]>> = {
  'a CANCEL that crosses the answer: the call goes on': [
    send('INVITE', { body: sdp }),
    ...trying,
    '<recv response="200" rrs="true"><action><ereg regexp="[^\\r\\n]+" search_in="hdr" header="To:" check_it="true" assign_to="theirs"/></action></recv>',
    send('CANCEL', { edit: (text) => fresh(text).replace('[branch]', '[branch-4]') }),
    receive(200, { has: 'CSeq: 1 CANCEL' }),
    send('ACK', { edit: toAnswerer }),
    send('BYE', { cseq: 9, edit: toAnswerer }),
    receive(200),
  ],
};

const refusals: Readonly<Record<string, readonly string[]>> = {
  '488 where no codec fits': refused(488, { body: session({ media: 'm=audio 6000 RTP/AVP 18' }) }),
  '488 where there is no audio': refused(488, { body: session({ media: 'm=video 6000 RTP/AVP 31' }) }),
  '488 for keys in the clear': refused(488, {
    body: session({
      media: `m=audio 6000 RTP/SAVP 0\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}`,
    }),
  }),
  '488 for what is no session': refused(488, { body: 'hello' }),
  '415 for another kind of body': refused(
    415,
    { body: '<x/>', type: 'application/xml' },
    'Accept: application/sdp',
  ),
  '420 for an extension that is required': refused(
    420,
    { headers: ['Require: 100rel'] },
    'Unsupported: 100rel',
  ),
  '422 for a session timer that is too short': refused(
    422,
    { headers: ['Supported: timer', 'Session-Expires: 30'] },
    'Min-SE: 90',
  ),
  '416 for an address of another kind': refused(416, { line: 'INVITE http://192.0.2.1/ SIP/2.0' }),
  '400 for two Call-IDs': refused(400, { headers: ['Call-ID: another'] }),
  '481 for a CANCEL of nothing': [send('CANCEL'), receive(481)],
  '481 for a BYE of nothing': [
    send('BYE', { edit: (text) => text.replace('[peer_tag_param]', ';tag=none') }),
    receive(481),
  ],
  ...Object.fromEntries(
    ['REGISTER', 'SUBSCRIBE', 'MESSAGE', 'PUBLISH', 'NOTIFY'].map((method) => [
      `405 for ${method}`,
      [send(method), receive(405, { has: 'Allow:' })],
    ]),
  ),
};

const keepAlive = [send('OPTIONS'), receive(200, { has: 'Accept: application/sdp' })];

describe.skipIf(sippMissing !== undefined)(
  `sipp${sippMissing === undefined ? '' : ` (${sippMissing})`}`,
  () => {
    let service: TestService;
    const portOf = (one: TestService): number =>
      Number(
        String(one.said('listening', (line) => line['listener'] === 'sip')?.['address'])
          .split(':')
          .at(-1),
      );

    beforeAll(async () => {
      service = await TestService.start({ workers: 2, env: { ...rtp, SVC_SIP_ADDR: '127.0.0.1:0' } });
    });
    afterAll(async () => {
      await service.stop();
    });

    describe.each(['udp', 'tcp'] as const)('over %s', (transport) => {
      describe.concurrent('has calls with', () => {
        it.each(Object.entries(calls))('%s', async (_name, steps) => {
          expect(await runSipp(steps, { port: portOf(service), transport })).toBeUndefined();
        });
      });
      describe.concurrent('has within a call', () => {
        it.each(Object.entries({ ...inside, ...crossing, ...(transport === 'udp' && lossy) }))(
          '%s',
          async (_name, steps) => {
            expect(await runSipp(steps, { port: portOf(service), transport })).toBeUndefined();
          },
        );
      });
      describe.concurrent('is given', () => {
        it.each(Object.entries({ ...refusals, '200 for a keep-alive': keepAlive }))(
          '%s',
          async (_name, steps) => {
            expect(await runSipp(steps, { port: portOf(service), transport })).toBeUndefined();
          },
        );
      });
    });

    it('leaves no call behind', async () => {
      await service.until(() => {
        const [begun, over] = ['call started', 'call ended'].map(
          (msg) => service.log.filter((line) => line.msg === msg).length,
        );
        return begun === over;
      });
      expect(service.log.filter((line) => Number(line['level']) >= 50)).toEqual([]);
    });

    it('signs in by digest, and is not let in with another password', async () => {
      const env = { ...rtp, SVC_SIP_ADDR: '127.0.0.1:0', SVC_SIP_USER: 'alice', SVC_SIP_PASSWORD: 's3cret' };
      const closed = await TestService.start({ env });
      const signedIn = (then: readonly string[]): string[] => [
        send('INVITE', { body: sdp }),
        receive(401, { isChallenge: true }),
        send('ACK', { edit: (text) => text.replace('[branch]', '[branch-2]') }),
        send('INVITE', { cseq: 2, body: sdp, headers: ['[authentication]'], edit: fresh }),
        ...then,
      ];
      const port = portOf(closed);
      const right = [...trying, receive(200), send('ACK', { cseq: 2 }), ...bye()];
      expect(await runSipp(signedIn(right), { port, account })).toBeUndefined();
      const wrong = [
        receive(401),
        send('ACK', { cseq: 2, edit: (text) => text.replace('[branch]', '[branch-2]') }),
      ];
      expect(
        await runSipp(signedIn(wrong), { port, account: { ...account, password: 'no' } }),
      ).toBeUndefined();
      await closed.stop();
    });
  },
);

/** Session descriptions as devices write them: what is taken of several streams, and deviations that can mean one thing only. */
import { describe, expect, it } from 'vitest';
import { sipCodecs } from '../../../shared/sip/calls.ts';
import { agree, writeSdpAnswer, type Agreed } from '../../../shared/sip/session/agree.ts';
import { readSession } from '../../../shared/sip/session/sdp.ts';

const key = Buffer.alloc(30, 7).toString('base64');
const crypto = `a=crypto:8 AES_CM_128_HMAC_SHA1_80 inline:${key}`;
const head = ['v=0', 'o=- 11 11 IN IP4 192.0.2.9', 's=-', 'c=IN IP4 192.0.2.9', 't=0 0'];
const local = { address: '198.51.100.7', port: 10_000, sessionId: 7, version: 1 };

interface Taken {
  readonly agreed: Agreed | undefined;
  /** The lines of media in the answer. */
  readonly answer: readonly string[];
}

function take(lines: readonly string[] | string, isEncrypted = false): Taken {
  const offer = readSession(typeof lines === 'string' ? lines : `${lines.join('\r\n')}\r\n`);
  const newKey = (bytes: number): string => Buffer.alloc(bytes, 1).toString('base64');
  const agreed = offer && agree(offer, { srtp: 'optional', codecs: sipCodecs, isEncrypted, newKey });
  const answer = offer === undefined || agreed === undefined ? '' : writeSdpAnswer(offer, agreed, local);
  return { agreed, answer: answer.split('\r\n').filter((line) => line.startsWith('m=')) };
}

describe('of several audio streams', () => {
  const secure = ['m=audio 2222 RTP/SAVP 9 0 8 127', crypto, 'a=rtpmap:127 telephone-event/8000'];
  const plain = ['m=audio 2222 RTP/AVP 9 0 8 127', 'a=rtpmap:127 telephone-event/8000'];

  it.each<[string, readonly string[], boolean, readonly string[]]>([
    [
      'the plain one is taken where there may be no keys',
      [...secure, ...plain],
      false,
      ['m=audio 0 RTP/SAVP 9 0 8 127', 'm=audio 10000 RTP/AVP 9 127'],
    ],
    [
      'the encrypted one is taken over TLS',
      [...secure, ...plain],
      true,
      ['m=audio 10000 RTP/SAVP 9 127', 'm=audio 0 RTP/AVP 9 0 8 127'],
    ],
    [
      'the encrypted one is taken over TLS where it comes second',
      [...plain, ...secure],
      true,
      ['m=audio 0 RTP/AVP 9 0 8 127', 'm=audio 10000 RTP/SAVP 9 127'],
    ],
    [
      'one with a codec of ours is taken',
      ['m=audio 4000 RTP/AVP 18', 'm=audio 4002 RTP/AVP 0'],
      false,
      ['m=audio 0 RTP/AVP 18', 'm=audio 10000 RTP/AVP 0'],
    ],
    [
      'one of G.722 is taken whose clock is said to be its sample rate',
      ['m=audio 4000 RTP/AVP 9', 'a=rtpmap:9 G722/16000', 'm=audio 4002 RTP/AVP 18'],
      false,
      ['m=audio 10000 RTP/AVP 9', 'm=audio 0 RTP/AVP 18'],
    ],
    [
      'one that is there is taken',
      ['m=audio 0 RTP/AVP 8', 'm=video 5000 RTP/AVP 96', 'm=audio 4002 RTP/AVP 0'],
      false,
      ['m=audio 0 RTP/AVP 8', 'm=video 0 RTP/AVP 96', 'm=audio 10000 RTP/AVP 0'],
    ],
    [
      'one whose profile is known is taken',
      ['m=audio 4000 UDP/TLS/RTP/SAVPF 111', 'a=rtpmap:111 opus/48000/2', 'm=audio 4002 RTP/AVP 0'],
      false,
      ['m=audio 0 UDP/TLS/RTP/SAVPF 111', 'm=audio 10000 RTP/AVP 0'],
    ],
    [
      'one where both speak is taken',
      ['m=audio 4000 RTP/AVP 0', 'a=inactive', 'm=audio 4002 RTP/AVP 8', 'a=sendrecv'],
      false,
      ['m=audio 0 RTP/AVP 0', 'm=audio 10000 RTP/AVP 8'],
    ],
    [
      'the first is taken of two that are alike',
      ['m=audio 4000 RTP/AVP 8', 'm=audio 4002 RTP/AVP 0'],
      false,
      ['m=audio 10000 RTP/AVP 8', 'm=audio 0 RTP/AVP 0'],
    ],
    [
      'each other one keeps its place, whatever it is',
      [
        'm=x-data 9 TCP/X-1 *',
        'm=audio 4000 RTP/AVP 0',
        'm=video 0 RTP/AVP 255',
        'm=application 9 UDP/BFCP *',
        'm=broken',
      ],
      false,
      [
        'm=x-data 0 TCP/X-1 *',
        'm=audio 10000 RTP/AVP 0',
        'm=video 0 RTP/AVP 255',
        'm=application 0 UDP/BFCP *',
        'm=broken 0 RTP/AVP 0',
      ],
    ],
  ])('%s', (_what, media, isEncrypted, lines) => {
    expect(take([...head, ...media], isEncrypted).answer).toEqual(lines);
  });

  it('each has its own address, direction and keys', () => {
    const { agreed } = take([
      ...head,
      ...['m=audio 4000 RTP/AVP 18', 'c=IN IP4 192.0.2.20', 'a=sendonly'],
      ...[
        'm=audio 4002 RTP/AVP 0 97',
        'c=IN IP4 192.0.2.21',
        'a=rtcp:4009',
        'a=rtpmap:97 telephone-event/8000',
      ],
    ]);
    expect(agreed?.media).toEqual({
      ...{ codec: 'PCMU', payloadType: 0, dtmfType: 97, sends: true, receives: true },
      remote: { address: '192.0.2.21', port: 4002, rtcpPort: 4009 },
    });
  });
});

describe('an offer that deviates', () => {
  const usual = [
    ...head,
    'm=audio 4000 RTP/AVP 0 101',
    'a=rtpmap:0 PCMU/8000',
    'a=rtpmap:101 telephone-event/8000',
    'a=sendrecv',
  ];
  const media = take(usual).agreed?.media;
  const changed = (from: string | RegExp, to: string): string =>
    `${usual.join('\r\n')}\r\n`.replace(from, to);

  it.each<[string, string]>([
    ['a blank behind a=rtpmap:', changed(/rtpmap:/g, 'rtpmap: ')],
    ['two blanks in a=rtpmap', changed('rtpmap:101 ', 'rtpmap:101  ')],
    ['a tab in a=rtpmap', changed('rtpmap:101 ', 'rtpmap:101\t')],
    ['blanks around the rate', changed(/\/8000/g, ' / 8000')],
    ['blanks at the end of each line', changed(/\r\n/g, ' \r\n')],
    ['blanks in front of each line', changed(/\r\n(?=.)/g, '\r\n ')],
    ['blanks around each =', changed(/^([a-z])=/gm, '$1 = ')],
    ['line feeds alone', changed(/\r\n/g, '\n')],
    ['carriage returns alone', changed(/\r\n/g, '\r')],
    ['empty lines', changed(/\r\n/g, '\r\n\r\n')],
    ['no end of its last line', changed(/\r\n$/, '')],
    ['a NUL at its end', changed(/$/, '\0')],
    ['no s=', changed('s=-\r\n', '')],
    ['no t=', changed('t=0 0\r\n', '')],
    ['no o=', changed(/o=.*\r\n/, '')],
    ['an empty s=', changed('s=-', 's=')],
    ['an o= with words too few', changed(/o=.*/, 'o=x')],
    [
      'c= at its media alone',
      changed('c=IN IP4 192.0.2.9\r\n', '').replace('101\r\n', '101\r\nc=IN IP4 192.0.2.9\r\n'),
    ],
    ['c= in lower case, with a lifetime', changed('c=IN IP4 192.0.2.9', 'c=in ip4 192.0.2.9/127')],
    ['its codec in lower case', changed('PCMU', 'pcmu')],
    ['its keys in other letters', changed('telephone-event', 'Telephone-Event')],
    ['its profile in lower case', changed('RTP/AVP', 'rtp/avp')],
    ['its media in upper case', changed('m=audio', 'm=AUDIO')],
    ['an attribute in upper case', changed('a=rtpmap:101', 'a=RTPMAP:101')],
    ['its direction in upper case', changed('sendrecv', 'SENDRECV')],
    ['no mapping of a type that all know', changed('a=rtpmap:0 PCMU/8000\r\n', '')],
    ['a mapping without a rate', changed('PCMU/8000', 'PCMU')],
    ['a mapping with a channel', changed('PCMU/8000', 'PCMU/8000/1')],
    ['a mapping twice', changed('a=rtpmap:0', 'a=rtpmap:0 PCMU/8000\r\na=rtpmap:0')],
    ['a mapping of nothing', changed('a=rtpmap:0', 'a=rtpmap:96\r\na=rtpmap:0')],
    [
      'a codec that is a number',
      changed('RTP/AVP 0', 'RTP/AVP 96 0').replace('a=rtpmap:0', 'a=rtpmap:96 729/8000\r\na=rtpmap:0'),
    ],
    ['a=fmtp before its mapping', changed('a=rtpmap:0', 'a=fmtp:101 0-15\r\na=rtpmap:0')],
    ['two blanks between its types', changed('0 101', '0  101')],
    ['a blank behind its types', changed('0 101', '0 101  ')],
    ['a type out of range', changed('0 101', '255 0 101')],
    ['a number of ports', changed('4000', '4000/1')],
    [
      'attributes of browsers',
      changed(
        'a=sendrecv',
        'a=group:BUNDLE 0\r\na=mid:0\r\na=ssrc:1 cname:x\r\na=candidate:1 1 udp 1 192.0.2.9 4000 typ host\r\na=msid-semantic: WMS\r\na=ice-ufrag:x\r\na=sendrecv',
      ),
    ],
    ['lines of no kind', changed('a=rtpmap:0', '??\r\n=\r\na\r\na=\r\nk=clear:x\r\nX-nortel\r\na=rtpmap:0')],
  ])('by %s is read like any other', (_how, text) => {
    expect(media).toMatchObject({
      codec: 'PCMU',
      dtmfType: 101,
      remote: { address: '192.0.2.9', port: 4_000 },
    });
    expect(take(text).agreed?.media).toEqual(media);
  });

  it('by IPv6, with a blank behind it, is sent its audio there', () => {
    const { agreed } = take([
      ...head.slice(0, 3),
      'c=IN IP6 2001:db8::9 ',
      't=0 0',
      'm=audio 4000 RTP/AVP 8',
    ]);
    expect(agreed?.media.remote?.address).toBe('2001:db8::9');
  });

  it.each(['opus/48000', 'opus/48000/1', 'OPUS/48000/2'])('by the channels of Opus (%s) is read', (name) => {
    const { agreed } = take([...head, 'm=audio 4000 RTP/AVP 96', `a=rtpmap:96 ${name}`]);
    expect(agreed?.media.codec).toBe('opus');
  });

  it('by blanks around its keys is encrypted', () => {
    const lines = [
      ...head,
      'm=audio 4000 RTP/SAVP 0 ',
      crypto.replace(':8 ', ': 8  ').replace(' inline', '  inline'),
    ];
    expect(
      take(
        lines.map((line) => `${line} `),
        true,
      ).agreed?.media.keys?.remote,
    ).toBe(key);
  });

  it.each([
    ['without a version', 'o=- 1 1 IN IP4 192.0.2.9\r\nm=audio 4000 RTP/AVP 0\r\n'],
    ['without media', head.join('\r\n')],
    ['of another version', 'v=1\r\nm=audio 4000 RTP/AVP 0\r\n'],
    ['with a port that is none', 'v=0\r\nm=audio x RTP/AVP 0\r\n'],
    ['of more streams than any phone has', `v=0\r\n${'m=audio 4000 RTP/AVP 0\r\n'.repeat(17)}`],
  ])('%s is none', (_how, text) => {
    expect(take(text).agreed).toBeUndefined();
  });
});

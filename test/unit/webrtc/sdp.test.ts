/** What is read of an offer, and what a client is told of the answer. */
import { describe, expect, it } from 'vitest';
import { answerWith, readFragment, readOffer } from '../../../shared/webrtc/sdp.ts';

const offer = [
  'v=0',
  'o=- 1 2 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'a=group:BUNDLE 0',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111 0 126',
  'c=IN IP4 0.0.0.0',
  'a=mid:0',
  'a=ice-ufrag:EsAw',
  'a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1',
  `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}`,
  'a=setup:actpass',
  'a=rtcp-mux',
  'a=sendrecv',
  'a=rtpmap:111 opus/48000/2',
  'a=rtpmap:126 telephone-event/8000',
  'a=candidate:1 1 udp 2122260223 192.0.2.1 61764 typ host',
  'a=candidate:2 1 udp 2122260222 4f1c.local 61765 typ host',
  'a=end-of-candidates',
];
const without = (line: string): string => offer.filter((one) => !one.startsWith(line)).join('\r\n');

describe('an offer', () => {
  it('is read, and its candidates go no further', () => {
    const read = readOffer(offer.join('\r\n'));
    if (!read.ok) throw new Error(read.error);
    expect(read.value).toMatchObject({
      ufrag: 'EsAw',
      audio: { mid: '0', opus: 111, hears: true, speaks: true },
      candidateIps: ['192.0.2.1'],
    });
    expect(read.value.withoutCandidates).not.toMatch(/candidate|192\.0\.2\.1/);
  });

  it.each([
    ['v=0', 'begins with'],
    ['m=audio', 'audio section'],
    ['a=ice-pwd', 'ICE credentials'],
    ['a=fingerprint', 'fingerprint'],
    ['a=mid', 'mid'],
    ['a=setup', 'DTLS'],
    ['a=rtcp-mux', 'rtcp-mux'],
    ['a=rtpmap:111', 'Opus'],
  ])('without %s breaks a rule that the answer names', (line, rule) => {
    const read = readOffer(without(line));
    expect(read.ok ? '' : read.error).toContain(rule);
  });

  it('of OBS hears nothing', () => {
    const read = readOffer(offer.join('\n').replace('a=sendrecv', 'a=sendonly'));
    expect(read.ok && read.value.audio.hears).toBe(false);
  });
});

describe('a fragment', () => {
  it('has its credentials before the first section or in it', () => {
    const own = 'a=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\n';
    const media = 'm=audio 9 RTP/AVP 0\r\na=mid:0\r\n';
    for (const text of [own + media, media + own])
      expect(readFragment(text)).toMatchObject({ ok: true, value: { ufrag: 'EsAw' } });
  });
});

describe('an answer', () => {
  it('names the candidates it is given and no others, in the audio section', () => {
    const text = [
      'v=0',
      'm=audio 5000 X 111',
      'c=IN IP4 10.0.0.1',
      'a=candidate:1 1 udp 1 10.0.0.1 5000 typ host',
      '',
    ];
    const told = answerWith(text.join('\r\n'), [
      { transport: 'udp', type: 'host', ip: '203.0.113.7', port: 4000 },
      { transport: 'tcp', type: 'host', ip: '203.0.113.7', port: 3479 },
    ]);
    expect(told).toContain('m=audio 4000 X 111');
    expect(told).toContain('c=IN IP4 203.0.113.7');
    expect(told).not.toContain('10.0.0.1');
    expect(told).toMatch(/tcp \d+ 203\.0\.113\.7 3479 typ host tcptype passive/);
  });

  it.each([
    ['a=group:BUNDLE v a', 'video'],
    ['a=group:BUNDLE a', 'audio'],
    ['a=group:LS a', 'audio'],
  ])('with %s: the candidates stand in the %s section, and pictures are not asked for', (group, kind) => {
    const video = ['m=video 9 X 96', 'a=mid:v', 'a=sendrecv'];
    const text = ['v=0', group, ...video, 'm=audio 9 X 111', 'a=mid:a', 'a=sendrecv', ''];
    const told = answerWith(text.join('\r\n'), [
      { transport: 'udp', type: 'host', ip: '203.0.113.7', port: 4000 },
    ]);
    const sections = told.split('m=').slice(1);
    const withCandidates = sections.filter((section) => section.includes('a=candidate:'));
    expect(withCandidates.map((section) => section.split(' ')[0])).toEqual([kind]);
    expect(sections[0]).toContain('a=inactive');
    expect(sections[1]).toContain('a=sendrecv');
  });
});

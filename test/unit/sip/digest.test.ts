import { describe, expect, it } from 'vitest';
import { Digest, digestResponse } from '../../../shared/sip/access/digest.ts';
import { parseDatagram } from '../../../shared/sip/message/parse.ts';
import type { SipRequest } from '../../../shared/sip/message/message.ts';

const account = { user: 'alice', realm: 'sip.example.com', password: 's3cret' };
const proof = {
  ...{ isSession: false, method: 'INVITE', uri: 'sip:100@sip.example.com', nonce: 'n0nce' },
  ...{ nc: '00000001', cnonce: 'c0nce', qop: 'auth' },
};

function request(authorization: string): SipRequest {
  const parsed = parseDatagram(
    Buffer.from(`INVITE sip:100@sip.example.com SIP/2.0\r\nAuthorization: ${authorization}\r\n\r\n`),
  );
  if (!parsed.ok || parsed.value.message.kind !== 'request') throw new Error('no request');
  return parsed.value.message;
}

describe('digest', () => {
  it.each([
    ['MD5', 'cf244c4acfe43d30850a257250d859dc'],
    ['SHA-256', '320d8862b01b601d8f632dc4a07304a50d84aa2c0cd2b8cd3639d1ead1a22a6d'],
  ] as const)('makes the known response with %s', (algorithm, response) => {
    expect(digestResponse(account, { ...proof, algorithm })).toBe(response);
  });

  const signed = (digest: Digest, { at = 0, nc = '00000001' } = {}): SipRequest => {
    const [, value] = digest.challenge(at, { stale: false })[0]!;
    const nonce = /nonce="([^"]+)"/.exec(value)![1]!;
    const response = digestResponse(account, { ...proof, nonce, nc, algorithm: 'SHA-256' });
    return request(
      `Digest username="alice", realm="sip.example.com", nonce="${nonce}", uri="${proof.uri}", qop=auth, nc=${nc}, cnonce="c0nce", algorithm=SHA-256, response="${response}"`,
    );
  };

  it('lets a right password in once for each use of a nonce', () => {
    const digest = new Digest(account);
    const one = signed(digest);
    expect(digest.judge(one, 10)).toBe('proved');
    expect(digest.judge(one, 20)).toBe('stale');
  });

  it('lets nobody repeat a proof that it has no memory of any more, in another process too', () => {
    const digest = new Digest(account);
    const first = signed(digest);
    expect(digest.judge(first, 0)).toBe('proved');
    for (let used = 0; used < 4_096; used += 1)
      expect(digest.judge(signed(digest, { at: 1 + used }), 1 + used)).toBe('proved');
    expect(digest.judge(first, 5_000)).toBe('stale');
    const next = new Digest(account);
    next.restore(digest.save(5_000), 100);
    expect(next.judge(first, 100)).toBe('stale');
    expect(next.judge(signed(next, { at: 100 }), 100)).toBe('proved');
  });

  it.each(['sip:sip.example.com', 'sip:+1100@trunk.example.net;transport=tcp', 'sips:100@sip.example.com'])(
    'takes a proof for the address as a trunk wrote it: %s',
    (uri) => {
      const digest = new Digest(account);
      const [, value] = digest.challenge(0, { stale: false })[0]!;
      const nonce = /nonce="([^"]+)"/.exec(value)![1]!;
      const response = digestResponse(account, { ...proof, uri, nonce, algorithm: 'SHA-256' });
      const text = `Digest username="alice", realm="sip.example.com", nonce="${nonce}", uri="${uri}", qop=auth, nc=00000001, cnonce="c0nce", algorithm=SHA-256, response="${response}"`;
      expect(digest.judge(request(text), 0)).toBe('proved');
    },
  );

  it('calls an old nonce stale, and one that it has not made unproved', () => {
    expect(new Digest(account).judge(signed(new Digest(account)), 0)).toBe('unproved');
    const digest = new Digest(account);
    expect(digest.judge(signed(digest), 301_000)).toBe('stale');
  });

  it('lets nobody in without a proof, or with another password, which it can tell apart', () => {
    const digest = new Digest(account);
    expect(digest.judge(request('Basic YWxpY2U6czNjcmV0'), 0)).toBe('unproved');
    expect(
      new Digest({ ...account, password: 'other' }, Buffer.alloc(32)).judge(
        signed(new Digest(account, Buffer.alloc(32))),
        0,
      ),
    ).toBe('wrong');
  });
});

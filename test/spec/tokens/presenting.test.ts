/** The rows of docs/tokens.md, Presenting tokens and What is enforced where. */
import { describe, it, expect } from 'vitest';
import { Sensitive } from '../../../shared/config/sensitive.ts';
import { judgeCredentials, signedMetadata } from '../../../supervisor/admission/credentials.ts';
import type { CredentialOptions, RequestHead } from '../../../supervisor/admission/credentials.ts';
import { craft, nowS, previousSecret, secret } from './craft.ts';

const staticToken = 'static+token/of=the~listener';
const options: CredentialOptions = {
  staticToken: new Sensitive(staticToken),
  secrets: [new Sensitive(secret), new Sensitive(previousSecret)],
  audience: 'svc-ws',
  nowS,
};

const judge = (head: Partial<RequestHead>, changed: Partial<CredentialOptions> = {}) =>
  judgeCredentials({ url: '/', headers: {}, ...head }, { ...options, ...changed });
const verdictOf = (head: Partial<RequestHead>, changed: Partial<CredentialOptions> = {}): string => {
  const { verdict } = judge(head, changed);
  return verdict.ok ? verdict.value.kind : verdict.error;
};
const protocols = (...entries: string[]) => ({ headers: { 'sec-websocket-protocol': entries.join(', ') } });
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe('a token is presented', () => {
  const token = craft();

  it.each([
    ['in Authorization', bearer(token)],
    ['in Authorization, the scheme in any case', { headers: { authorization: `bEARER   ${token}` } }],
    ['as ?token=', { url: `/?token=${token}` }],
    ['as ?token= among others', { url: `/any/path?a=1&token=${token}&b` }],
    ['as ?token=, percent-encoded', { url: `/?to%6ben=${token.replaceAll('.', '%2E')}` }],
    ['as a subprotocol', protocols('svc', `svc-token.${token}`)],
    ['as a subprotocol alone', protocols(`svc-token.${token}`)],
    ['in several ways, the same', { url: `/?token=${token}`, ...bearer(token) }],
  ])('%s', (_, head) => {
    expect(verdictOf(head)).toBe('session');
  });

  it.each([
    ['nowhere', {}],
    ['as an empty parameter', { url: '/?token=&a=1' }],
    ['as an empty subprotocol entry', protocols('svc', 'svc-token.')],
    ['with another scheme', { headers: { authorization: 'Basic dTpw' } }],
    ['as a scheme alone', { headers: { authorization: 'Bearer ' } }],
    ['in the path', { url: `/${token}` }],
  ])('%s: missing', (_, head) => {
    expect(verdictOf(head)).toBe('missing');
  });

  it('in several ways, but not the same, which is refused even if one is right', () => {
    expect(verdictOf({ url: `/?token=${craft({ sid: 'other' })}`, ...bearer(token) })).toBe('conflicting');
    expect(verdictOf({ url: `/?token=${token}&token=x` })).toBe('conflicting');
    expect(verdictOf(protocols(`svc-token.${token}`, 'svc-token.x'))).toBe('conflicting');
  });

  it('with more than 4 KiB', () => {
    expect(verdictOf(bearer('x'.repeat(4097)))).toBe('too_large');
    expect(verdictOf({ url: `/?token=${'x'.repeat(4097)}`, ...bearer(token) })).toBe('too_large');
  });

  it('in Authorization alone where the listener takes no other way', () => {
    expect(verdictOf(bearer(token), { ways: 'bearer' })).toBe('session');
    expect(verdictOf({ url: `/?token=${token}` }, { ways: 'bearer' })).toBe('missing');
    expect(judge({ url: `/?token=${token}` }, { ways: 'bearer' }).rest().url).toBe('/');
  });
});

describe('a static token', () => {
  it.each([
    ['Authorization', bearer(staticToken)],
    ['?token=, raw', { url: `/?token=${staticToken}` }],
    ['?token=, encoded', { url: `/?token=${encodeURIComponent(staticToken)}` }],
  ])('is taken from %s', (_, head) => {
    expect(verdictOf(head)).toBe('static');
  });

  it.each([staticToken.slice(1), `${staticToken}x`, staticToken.toUpperCase(), '%zz'])(
    'is not %s, which gets the answer of any wrong token',
    (token) => {
      expect(verdictOf({ url: `/?token=${token}` }, { secrets: [] })).toBe('wrong_signature');
    },
  );

  it('may be the only thing in use, or not be in use', () => {
    expect(verdictOf(bearer(craft()), { secrets: [] })).toBe('wrong_signature');
    expect(verdictOf(bearer(staticToken), { staticToken: undefined })).toBe('malformed');
  });
});

describe('a listener without authentication', () => {
  it('asks for nothing and still takes tokens out of the request', () => {
    const open = { staticToken: undefined, secrets: [] };
    expect(verdictOf({}, open)).toBe('open');
    const { verdict, rest } = judge({ url: `/?token=${craft()}` }, open);
    expect([verdict.ok, rest().url]).toEqual([true, '/']);
  });
});

describe('the request that travels on', () => {
  const token = craft();

  it('keeps everything but the tokens', () => {
    const headers = {
      host: 'a.example',
      authorization: `Bearer ${token}`,
      ...protocols('svc', `svc-token.${token}`).headers,
    };
    expect(judge({ url: `/call?a=%20&token=${token}&b=2`, headers }).rest()).toEqual({
      url: '/call?a=%20&b=2',
      headers: { host: 'a.example', 'sec-websocket-protocol': 'svc' },
    });
  });

  it('offers svc and other subprotocols as the client did, and none when there was only a token', () => {
    expect(judge(protocols('chat', `svc-token.${token}`, 'svc')).rest().headers).toEqual({
      'sec-websocket-protocol': 'chat, svc',
    });
    expect(judge(protocols(`svc-token.${token}`)).rest().headers).toEqual({});
  });

  it.each(['right', 'wrong', 'different'])('holds no token when it was %s', (kind) => {
    const given = kind === 'right' ? token : 'canary-canary';
    const other = kind === 'different' ? 'canary-other' : given;
    const head = judge({
      url: `/?token=${given}&x=1&token=${other}`,
      headers: {
        authorization: `Basic ${given}`,
        'sec-websocket-protocol': [`SVC-TOKEN.${given}`, `svc,svc-token.${other}`],
      },
    }).rest();
    expect(JSON.stringify(head)).not.toContain(given);
    expect(JSON.stringify(head)).not.toContain('canary');
    expect(head).toEqual({ url: '/?x=1', headers: { 'sec-websocket-protocol': 'svc' } });
  });
});

describe('Call metadata set by the server', () => {
  const metadataOf = (claims: Record<string, unknown>): unknown => {
    const { verdict } = judge(bearer(craft(claims)));
    return verdict.ok && verdict.value.kind === 'session' ? signedMetadata(verdict.value.claims) : verdict;
  };

  it('row session_id: the sid of the token', () => {
    expect(metadataOf({})).toEqual({ session_id: 'call-1' });
  });

  it('rows session.agent, session.max_s and session.meta.<key>', () => {
    expect(metadataOf({ agent: 'sales', max_s: 90, meta: { plan: 'gold', n: 2, vip: false } })).toEqual({
      session_id: 'call-1',
      'session.agent': 'sales',
      'session.max_s': '90',
      'session.meta.plan': 'gold',
      'session.meta.n': '2',
      'session.meta.vip': 'false',
    });
  });

  it('takes a key as it is, whatever it means to a language', () => {
    const payload = JSON.parse('{"__proto__":"p","constructor":"c"}') as Record<string, unknown>;
    expect(metadataOf({ meta: payload })).toEqual({
      session_id: 'call-1',
      'session.meta.__proto__': 'p',
      'session.meta.constructor': 'c',
    });
  });
});

/** The endpoint for tokens of the call page: to whom it gives one, and to whom never. */
import { describe, expect, it } from 'vitest';
import { verifySessionToken } from '../../../shared/auth/session-token.ts';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { PageTokens } from '../../../supervisor/listeners/page-tokens.ts';
import { nowS, secret } from '../../spec/tokens/craft.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

type Headers = Readonly<Record<string, string>>;

function newTokens(env: Headers = {}) {
  const parsed = parseServerSettings(
    { SVC_AGENT_FILE: 'a', SVC_PAGE_ADDR: '127.0.0.1:0', SVC_SESSION_SECRET: secret, ...env },
    { cores: 1 },
  );
  if (!parsed.ok) throw new Error(parsed.error.map(({ message }) => message).join());
  let last = 0;
  const clock = newVirtualClock();
  const tokens = new PageTokens({
    settings: parsed.value.settings,
    clock,
    wallClock: { now: () => nowS * 1000 },
    newId: () => `call-${(last += 1)}`,
  });
  const ask = (headers: Headers, peer = '127.0.0.1', url = '/token') =>
    tokens.give({ head: { url, headers }, peer });
  const codeOf = (headers: Headers, peer?: string): string => {
    const given = ask(headers, peer);
    return given.ok ? 'token' : given.error.code;
  };
  return { clock, ask, codeOf };
}

const local = { host: '127.0.0.1:8088' };

describe('the endpoint for tokens', () => {
  it('gives a new token for the WebSocket listener, valid for a minute', () => {
    const { ask } = newTokens();
    const sids = [1, 2].map(() => {
      const given = ask(local);
      const claims = verifySessionToken(given.ok ? given.value : '', {
        secrets: [secret],
        audience: 'svc-ws',
        nowS,
      });
      expect(claims).toMatchObject({ ok: true, value: { expS: nowS + 60 } });
      return claims.ok && claims.value.sid;
    });
    expect(sids).toEqual(['call-1', 'call-2']);
  });

  it('gives one for the WebRTC listener where the page asks for it', () => {
    const given = newTokens().ask(local, '127.0.0.1', '/token?transport=webrtc');
    const options = { secrets: [secret], audience: 'svc-webrtc', nowS } as const;
    expect(verifySessionToken(given.ok ? given.value : '', options).ok).toBe(true);
  });

  it.each([
    ['the page on this machine', { ...local, origin: 'http://127.0.0.1:8088' }, 'token'],
    ['the page by its name', { host: 'localhost:8088', origin: 'http://localhost:8088' }, 'token'],
    ['the page by IPv6', { host: '[::1]:8088', origin: 'http://[::1]:8088' }, 'token'],
    ['another page on this machine', { ...local, origin: 'http://127.0.0.1:3000' }, 'origin_refused'],
    ['a page of another site', { ...local, origin: 'https://evil.example' }, 'origin_refused'],
    ['a page without an origin', { ...local, origin: 'null' }, 'origin_refused'],
    [
      'a site whose name leads here',
      { host: 'evil.example:8088', origin: 'http://evil.example:8088' },
      'tokens_closed',
    ],
    ['a proxy that keeps the name', { host: 'voice.example' }, 'tokens_closed'],
    ['a proxy that says for whom it asks', { ...local, 'x-forwarded-for': '203.0.113.9' }, 'tokens_closed'],
    ['a proxy that says so by the standard', { ...local, forwarded: 'for=203.0.113.9' }, 'tokens_closed'],
    ['a request without a host', {}, 'tokens_closed'],
    ['a host that is none', { host: '127.0.0.1@evil.example' }, 'tokens_closed'],
  ])('answers %s', (_, headers, code) => {
    expect(newTokens().codeOf(headers)).toBe(code);
  });

  it('gives tokens to everybody when it is told to, but not to pages of other sites', () => {
    const { codeOf } = newTokens({ SVC_INSECURE_LISTENERS: '1' });
    expect(codeOf({ host: 'voice.example', 'x-forwarded-for': '203.0.113.9' })).toBe('token');
    expect(codeOf({ host: 'voice.example', origin: 'https://evil.example' })).toBe('origin_refused');
  });

  it('gives an address thirty tokens a minute', () => {
    const { clock, ask, codeOf } = newTokens();
    for (let count = 0; count < 30; count += 1) expect(codeOf(local)).toBe('token');
    expect(ask(local)).toMatchObject({ ok: false, error: { status: 429, retryAfterS: 2 } });
    expect(codeOf(local, '127.0.0.2')).toBe('token');
    clock.advance(2_000);
    expect(codeOf(local)).toBe('token');
  });
});

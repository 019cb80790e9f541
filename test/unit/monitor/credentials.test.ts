/** Who may listen to a call, by what an upgrade presents. */
import { describe, expect, it } from 'vitest';
import { tenantToken } from '../../../shared/auth/tenant-token.ts';
import { Sensitive } from '../../../shared/config/sensitive.ts';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { operatorName, readOperator } from '../../../shared/monitor/messages.ts';
import { askedMonitor, operatorOf, withoutToken } from '../../../supervisor/monitor/credentials.ts';

const tokens = {
  listen: new Sensitive('l'),
  whisper: new Sensitive('w'),
  take_over: new Sensitive('t/+='),
};
const nowS = 1_000;
const url = '/live/calls/a/monitor';
const bySubprotocol = (token: string): string =>
  `svc-monitor, svc-monitor-token.${Buffer.from(token).toString('base64url')}`;

describe('the role of an operator', () => {
  it.each([
    ['l', 'listen'],
    ['w', 'whisper'],
    ['t/+=', 'take_over'],
    ['', undefined],
    ['L', undefined],
    ['ll', undefined],
  ])('of the token "%s" is %s, in whichever place it stands', (token, role) => {
    const bearer = { url, headers: { authorization: `Bearer ${token}` } };
    const protocol = { url, headers: { 'sec-websocket-protocol': bySubprotocol(token) } };
    const [one, other] = [operatorOf(bearer, { tokens, nowS }), operatorOf(protocol, { tokens, nowS })];
    expect([one, other]).toEqual(role === undefined ? [role, role] : [{ role }, { role }]);
  });

  it('is none for a role without a token, and for a token in the address', () => {
    const head = { url: `${url}?token=l`, headers: {} };
    expect(operatorOf(head, { tokens, nowS })).toBeUndefined();
    expect(
      operatorOf({ url, headers: { authorization: 'Bearer undefined' } }, { tokens: {}, nowS }),
    ).toBeUndefined();
    expect(operatorOf({ url, headers: { authorization: 'Bearer ' } }, { tokens: {}, nowS })).toBeUndefined();
  });

  it('is that of a tenant where its token was signed for one, for this role alone, until it expires', () => {
    const secrets = { listen: new Sensitive('l'.repeat(32)), take_over: new Sensitive('t'.repeat(32)) };
    const given = (token: string) =>
      operatorOf({ url, headers: { authorization: `Bearer ${token}` } }, { tokens: secrets, nowS });
    const claims = { to: 'take_over', tenant: 'clinic', expiresS: 2_000 } as const;
    expect(given(tenantToken(claims, 't'.repeat(32)))).toEqual({ role: 'take_over', tenant: 'clinic' });
    expect(given(tenantToken({ ...claims, to: 'listen' }, 'l'.repeat(32)))).toEqual({
      role: 'listen',
      tenant: 'clinic',
    });
    for (const bad of [
      tenantToken(claims, 'l'.repeat(32)),
      tenantToken({ ...claims, to: 'listen' }, 't'.repeat(32)),
      tenantToken({ ...claims, to: 'calls' }, 't'.repeat(32)),
      tenantToken({ ...claims, expiresS: 1_000 }, 't'.repeat(32)),
      tenantToken(claims, 't'.repeat(32)).replace('clinic', 'garage'),
    ])
      expect(given(bad)).toBeUndefined();
  });

  it('leaves no token in what travels on', () => {
    const headers = {
      authorization: 'Bearer l',
      'sec-websocket-protocol': bySubprotocol('l'),
      'sec-websocket-key': 'k',
    };
    expect(withoutToken({ url, headers })).toEqual({
      url,
      headers: { 'sec-websocket-protocol': 'svc-monitor', 'sec-websocket-key': 'k' },
    });
  });
});

describe('the call that is asked for', () => {
  it.each([
    ['/live/calls/a%2Fb/monitor?by=Maria%20K.', { call: 'a/b', by: 'Maria K.' }],
    ['/live/calls/a/monitor?by=%0A', { call: 'a', by: '' }],
    ['/live/calls/a/monitor', { call: 'a', by: '' }],
    ['/live/calls/%E0%A4%A/monitor', undefined],
    ['/live/calls//monitor', undefined],
    ['/live/calls/a/end', undefined],
    ['/live/calls/a/monitor/x', undefined],
    ['/', undefined],
  ])('of %s', (path, asked) => {
    expect(askedMonitor(path)).toEqual(asked);
  });

  it('takes names that are safe in a log alone', () => {
    expect(['Zoë', 'a@b.c', 'x'.repeat(65), 'a\nb', '<b>', ''].map(operatorName)).toEqual([
      'Zoë',
      'a@b.c',
      '',
      '',
      '',
      '',
    ]);
  });
});

describe('a message of an operator', () => {
  it('is read with its defaults', () => {
    expect(readOperator('{"type":"take_over"}')).toEqual({
      ok: true,
      value: { type: 'take_over', at: 'sentence' },
    });
    expect(readOperator('{"type":"hand_back"}')).toMatchObject({ value: { note: '', say: '' } });
  });

  it.each([
    '',
    'null',
    '[]',
    '{"type":"say"}',
    '{"type":"whisper"}',
    '{"type":"whisper","text":""}',
    JSON.stringify({ type: 'whisper', text: 'x'.repeat(2_001) }),
    '{"type":"take_over","at":"never"}',
    '{"type":"hand_back","more":1}',
  ])('is refused without a word of it: %s', (text) => {
    const read = readOperator(text);
    expect(read.ok).toBe(false);
    if (!read.ok) expect(read.error).not.toMatch(/xxx|never/);
  });
});

describe('the settings for operators', () => {
  const read = (env: Readonly<Record<string, string>>) =>
    parseServerSettings({ SVC_AGENT_FILE: 'a.toml', ...env }, { cores: 2, memoryBytes: 8e9 } as Parameters<
      typeof parseServerSettings
    >[1]);
  const problemsOf = (env: Readonly<Record<string, string>>): string[] => {
    const result = read(env);
    return result.ok ? [] : result.error.map(({ message }) => message);
  };

  it('are off unless there is a token, and each warns of being static', () => {
    const off = read({});
    expect(off.ok && off.value.settings.monitor).toBeUndefined();
    const on = read({ SVC_LIVE_TOKEN: 'live', SVC_MONITOR_LISTEN_TOKEN: 'l' });
    expect(on.ok && Object.keys(on.value.settings.monitor ?? {})).toEqual(['listen']);
    expect(on.ok && on.value.warnings.join()).toContain('SVC_MONITOR_LISTEN_TOKEN is a static token');
  });

  it('need the live view, and tokens that differ', () => {
    expect(problemsOf({ SVC_MONITOR_LISTEN_TOKEN: 'l' })).toEqual([
      'SVC_MONITOR_LISTEN_TOKEN needs SVC_LIVE_TOKEN beside it',
    ]);
    const same = 'must differ from the tokens of other roles and from SVC_LIVE_TOKEN';
    expect(
      problemsOf({ SVC_LIVE_TOKEN: 'a', SVC_MONITOR_LISTEN_TOKEN: 'b', SVC_MONITOR_TAKE_OVER_TOKEN: 'b' }),
    ).toEqual([`SVC_MONITOR_TAKE_OVER_TOKEN ${same}`]);
    expect(problemsOf({ SVC_LIVE_TOKEN: 'a', SVC_MONITOR_WHISPER_TOKEN: 'a' })).toEqual([
      `SVC_MONITOR_WHISPER_TOKEN ${same}`,
    ]);
  });
});

/** The field `overrides` of a session token: signed like the rest of it, and no reason to refuse one. */
import { describe, expect, it } from 'vitest';
import { mintSessionToken } from '../../../shared/auth/mint.ts';
import { readOverridesText } from '../../../shared/agents/overrides.ts';
import { readPayload } from '../../../shared/auth/token-payload.ts';
import { verifySessionToken } from '../../../shared/auth/session-token.ts';
import { signedMetadata } from '../../../supervisor/admission/credentials.ts';

const secret = 's'.repeat(32);
const claims = { aud: 'svc-ws', ttlS: 60, sid: 's1' } as const;

const minted = (overrides: Readonly<Record<string, unknown>>): string => {
  const token = mintSessionToken({ ...claims, overrides }, { secret, nowS: 1_000 });
  if (!token.ok) throw new Error(token.error);
  return token.value;
};

const payload = (overrides: string) =>
  readPayload(Buffer.from(`{"aud":"svc-ws","exp":2,"sid":"s","overrides":${overrides}}`));

describe('overrides of a session token', () => {
  it('reach the call as they were signed', () => {
    const overrides = { 'agent.greeting': 'Grüß "Gott"', 'turn.idle.ask_after_s': 30, tools: ['end_call'] };
    const read = verifySessionToken(minted(overrides), {
      secrets: [secret],
      audience: 'svc-ws',
      nowS: 1_000,
    });
    if (!read.ok) throw new Error(read.error);
    const metadata = signedMetadata(read.value);
    expect(readOverridesText(metadata['session.overrides'])).toEqual(overrides);
  });

  it('are nothing in a token without them', () => {
    const read = readPayload(Buffer.from('{"aud":"svc-ws","exp":2,"sid":"s"}'));
    expect(read.ok && signedMetadata(read.value)).toEqual({ session_id: 's' });
    expect(readOverridesText(undefined)).toEqual({});
  });

  it.each(['[1,2]', 'null', '"text"', 'true', '1.50'])('refuse no token whatever they are: %s', (text) => {
    const read = payload(text);
    expect(read.ok && read.value.overrides).toBe(text);
    expect(readOverridesText(text)).toBeUndefined();
  });

  it('stand under the bounds of the token: its size, no key twice, no deep nesting', () => {
    const long = mintSessionToken(
      { ...claims, overrides: { 'agent.prompt': 'x'.repeat(4_000) } },
      { secret, nowS: 1 },
    );
    expect(long.ok).toBe(false);
    expect(payload('{"a":1,"a":2}').ok).toBe(false);
    expect(payload(`${'['.repeat(20)}${']'.repeat(20)}`).ok).toBe(false);
  });
});

/** The rows of docs/tokens.md, Answers. */
import { describe, it, expect } from 'vitest';
import { tokenAnswers } from '../../../shared/auth/token-fault.ts';

describe('the answer to a token', () => {
  it.each([
    [401, 'missing'],
    [401, 'lifetime_too_long'],
    [403, 'malformed'],
    [403, 'wrong_signature'],
    [403, 'bad_payload'],
    [403, 'conflicting'],
    [403, 'expired'],
    [403, 'not_yet_valid'],
    [403, 'reused'],
    [403, 'wrong_audience'],
    [413, 'too_large'],
    [503, 'set_full'],
    [503, 'store_unavailable'],
  ] as const)('is %i when it is %s', (status, fault) => {
    expect(tokenAnswers[fault].status).toBe(status);
  });

  it('says that a lifetime is too long in the words of the specification', () => {
    expect(tokenAnswers.lifetime_too_long.message).toBe('token lifetime too long');
  });

  it('is the same whatever is wrong before the signature is established', () => {
    expect(tokenAnswers.malformed).toEqual(tokenAnswers.wrong_signature);
  });

  it('asks to come back only when the token is still unused', () => {
    const retried = Object.entries(tokenAnswers).filter(([, answer]) => answer.retryAfterS !== undefined);
    expect(retried.map(([fault]) => fault)).toEqual(['set_full', 'store_unavailable']);
  });
});

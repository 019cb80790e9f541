/**
 * Everything for which a token may be refused, and the one table of HTTP answers (docs/tokens.md, Answers). Messages are for
 * humans and say nothing about the token that was sent. A stranger who cannot sign learns one thing only: the token is not valid.
 */

export type TokenFault =
  /** No token was presented. */
  | 'missing'
  /** Several ways of presenting were used, with different tokens. */
  | 'conflicting'
  | 'too_large'
  /** Not three parts, not `v1`, or not base64url. */
  | 'malformed'
  /** The signature fits neither secret, or the static token is another one. */
  | 'wrong_signature'
  /** Signed, and its payload breaks a rule. */
  | 'bad_payload'
  | 'wrong_audience'
  | 'not_yet_valid'
  | 'expired'
  | 'lifetime_too_long'
  /** The session id has opened a call before. */
  | 'reused'
  | 'set_full'
  | 'store_unavailable';

export type TokenCode =
  | 'token_missing'
  | 'token_invalid'
  | 'token_wrong_audience'
  | 'token_not_yet_valid'
  | 'token_expired'
  | 'token_lifetime_too_long'
  | 'token_reused'
  | 'token_too_large'
  | 'token_set_full'
  | 'token_store_unavailable';

export interface TokenAnswer {
  readonly status: 401 | 403 | 413 | 503;
  /** Goes into the JSON body. */
  readonly code: TokenCode;
  readonly message: string;
  /** Seconds for `Retry-After`: the same token may work then. */
  readonly retryAfterS?: number;
}

/** The same object for every way in which a token can fail before its signature is established. */
const invalid: TokenAnswer = { status: 403, code: 'token_invalid', message: 'the token is not valid' };

const refused = (code: TokenCode, message: string): TokenAnswer => ({ status: 403, code, message });

export const tokenAnswers: Readonly<Record<TokenFault, TokenAnswer>> = {
  missing: { status: 401, code: 'token_missing', message: 'a token is required' },
  conflicting: refused('token_invalid', 'the request presents different tokens'),
  too_large: { status: 413, code: 'token_too_large', message: 'a token has at most 4096 bytes' },
  malformed: invalid,
  wrong_signature: invalid,
  bad_payload: refused('token_invalid', 'the payload of the token breaks a rule'),
  wrong_audience: refused('token_wrong_audience', 'the token is for another listener'),
  not_yet_valid: refused('token_not_yet_valid', 'the token is not valid yet'),
  expired: refused('token_expired', 'the token has expired'),
  lifetime_too_long: {
    status: 401,
    code: 'token_lifetime_too_long',
    message: 'token lifetime too long',
  },
  reused: refused('token_reused', 'the token has been used'),
  set_full: {
    status: 503,
    code: 'token_set_full',
    message: 'no more tokens can be remembered at the moment',
    retryAfterS: 5,
  },
  store_unavailable: {
    status: 503,
    code: 'token_store_unavailable',
    message: 'tokens cannot be checked at the moment',
    retryAfterS: 5,
  },
};

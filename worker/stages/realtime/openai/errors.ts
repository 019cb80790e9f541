/** What errors of servers of `openai_realtime` mean. Their names are not the same everywhere, so code and type are both looked at. Pure. */
import { textOf, type JsonRecord } from '../../json.ts';
import type { StageError } from '../../stage.ts';

/** No session with this key or account will do better. */
const fatal: readonly (readonly [RegExp, StageError])[] = [
  [
    /insufficient_quota|credit_balance_exhausted|billing_hard_limit_reached/,
    { kind: 'rejected', status: 429, retryable: false },
  ],
  [/invalid_api_key|authentication|unauthorized/, { kind: 'rejected', status: 401 }],
  [/account_deactivated|permission/, { kind: 'rejected', status: 403 }],
];

const others: readonly (readonly [RegExp, StageError])[] = [
  [/rate_limit|session_limit_reached/, { kind: 'rejected', status: 429 }],
  [/session_expired|model_load_error/, { kind: 'disconnected' }],
  [/server_error|internal/, { kind: 'rejected', status: 500 }],
  [/model_not_found/, { kind: 'rejected', status: 404 }],
  [
    /^(invalid_|unknown_parameter|missing_required_parameter|unsupported_)/,
    { kind: 'rejected', status: 400 },
  ],
];

const namesOf = (error: JsonRecord): string[] => [textOf(error['code']), textOf(error['type'])];

function find(rows: typeof fatal, error: JsonRecord): StageError | undefined {
  for (const name of namesOf(error)) {
    const row = rows.find(([pattern]) => name !== '' && pattern.test(name));
    if (row !== undefined) return { ...row[1] };
  }
  return undefined;
}

/** An error that ends every session of this key. */
export const fatalError = (error: JsonRecord): StageError | undefined => find(fatal, error);

/** Any error as that of a stage. @param retryAfterMs what the server said of its limits. */
export function errorOf(error: JsonRecord, retryAfterMs?: number): StageError {
  const found = find(fatal, error) ??
    find(others, error) ?? { kind: 'protocol', rule: 'the provider takes what it is sent' };
  const isLimit = found.kind === 'rejected' && found.status === 429 && found.retryable !== false;
  return isLimit && retryAfterMs !== undefined ? { ...found, retryAfterMs } : found;
}

/** What the end of a connection means. */
export function closeError(code: number): StageError {
  if (code === 1008) return { kind: 'rejected', status: 403 };
  const isOurFault = [1002, 1003, 1007, 1009, 1010].includes(code);
  return isOurFault
    ? { kind: 'protocol', rule: 'the provider takes what it is sent' }
    : { kind: 'disconnected' };
}

/** What a provider's error means for those who come after it, as one table. Pure. */
import { unreachable } from '../../../shared/base/assert.ts';
import type { StageError } from '../stage.ts';

export interface Verdict {
  /** It speaks of the provider and not of what it was asked. */
  readonly blames: boolean;
  /** Asking the same provider again may help. */
  readonly mayRepeat: boolean;
  /** How long the provider is to be left alone by everybody, in milliseconds. */
  readonly pauseMs?: number;
}

/** A provider that asks for more is asked again all the same. */
const longestPauseMs = 60_000;
/** An account without money is not filled up within seconds. */
const quotaPauseMs = 60_000;

/** The request itself was refused: too long, malformed, forbidden content. Another request may be fine. */
const faultsOfRequests: readonly number[] = [400, 413, 415, 422];
/** No waiting changes the answer: key, account or address are wrong. */
const faultsOfAccounts: readonly number[] = [401, 402, 403, 404];

export function verdictOn(error: StageError): Verdict {
  switch (error.kind) {
    case 'cancelled':
      return { blames: false, mayRepeat: false };
    case 'disconnected':
    case 'timeout':
      return { blames: true, mayRepeat: true };
    case 'protocol':
      return { blames: true, mayRepeat: false };
    case 'rejected':
      return verdictOnStatus(error);
    default:
      return unreachable(error);
  }
}

function verdictOnStatus(error: Extract<StageError, { kind: 'rejected' }>): Verdict {
  const { status, retryable, retryAfterMs } = error;
  if (faultsOfRequests.includes(status)) return { blames: false, mayRepeat: retryable === true };
  if (faultsOfAccounts.includes(status)) return { blames: true, mayRepeat: false };
  const isSpent = status === 429 && retryable === false;
  const asked = isSpent ? Math.max(quotaPauseMs, retryAfterMs ?? 0) : retryAfterMs;
  return {
    blames: true,
    mayRepeat: retryable ?? (status === 408 || status === 409 || status === 429 || status >= 500),
    ...(asked !== undefined && asked > 0 && { pauseMs: Math.min(asked, longestPauseMs) }),
  };
}

/** Names of errors in metrics: a closed set. */
export type ErrorKind =
  | 'rejected_rate'
  | 'rejected_client'
  | 'rejected_server'
  | 'disconnected'
  | 'protocol'
  | 'timeout'
  | 'cancelled'
  | 'stalled';

/** The status of a refusal in metrics: the ones that people act on, and classes for the others. A closed set. */
export function statusLabelOf(error: StageError | undefined): string {
  if (error?.kind !== 'rejected') return '';
  const { status } = error;
  if ([400, 401, 402, 403, 404, 429].includes(status)) return String(status);
  return status >= 500 ? '5xx' : status >= 400 ? '4xx' : '3xx';
}

export function kindOf(error: StageError): ErrorKind {
  if (error.kind !== 'rejected') return error.kind;
  if (error.status === 429) return 'rejected_rate';
  return error.status >= 500 ? 'rejected_server' : 'rejected_client';
}

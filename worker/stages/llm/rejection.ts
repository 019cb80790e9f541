/**
 * What a refused request means: its status, whether asking again can help, and how long to wait.
 *
 * Invariant: nothing of the body reaches the error but a status and a time; what else it says lies beside it. Pure: a date in `retry-after` is measured
 * against the response's own `date`, so no clock is needed.
 */
import { causeIn, explained } from '../failure.ts';
import type { StageError } from '../stage.ts';
import { listOf, recordOf, textOf } from '../json.ts';

/** Longest wait that is passed on, in milliseconds. A longer wait is told as this one. */
const MAX_WAIT_MS = 86_400_000;

/** Codes of a 429 that no waiting ends: the account's money is spent. */
const SPENT = new Set([
  'insufficient_quota',
  'enforced_spend_limit_reached',
  'contract_spend_limit_reached',
  'billing_hard_limit_reached',
]);
/** The model wrote a call that the server could not read; it may do better the next time. */
const BAD_DRAFT = 'tool_use_failed';

export interface RejectionHead {
  readonly status: number;
  readonly header: (name: string) => string;
}

/** @param body the parsed error body, or undefined. */
export function rejectionOf(head: RejectionHead, body: unknown): StageError {
  const error = errorIn(body);
  const advice = head.header('x-should-retry');
  const advised = advice === 'true' ? true : advice === 'false' ? false : undefined;
  const rejection = rejected(head.status, {
    retryable: retryableBy(error, head.status) ?? advised,
    retryAfterMs: waitInHeaders(head) ?? waitInBody(error),
  });
  return explained(rejection, causeIn(body));
}

/** The rejection that an error object within a stream stands for. */
export function streamRejection(status: number, error: unknown): StageError {
  const rejection = rejected(status, {
    retryable: retryableBy(error, status),
    retryAfterMs: waitInBody(error),
  });
  return explained(rejection, causeIn(error));
}

/** The error object of a body: under `error`, in a list of one, or the body itself. */
export function errorIn(body: unknown): unknown {
  const first = Array.isArray(body) ? listOf(body)[0] : body;
  return recordOf(first)?.['error'] ?? first;
}

interface Advice {
  readonly retryable: boolean | undefined;
  readonly retryAfterMs: number | undefined;
}

function rejected(status: number, { retryable, retryAfterMs }: Advice): StageError {
  return {
    kind: 'rejected',
    status,
    ...(retryable !== undefined && { retryable }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function retryableBy(error: unknown, status: number): boolean | undefined {
  const fields = recordOf(error);
  const codes = [
    textOf(fields?.['code']),
    textOf(fields?.['type']),
    textOf(recordOf(fields?.['details'])?.['error_code']),
  ];
  if (status === 429 && codes.some((code) => SPENT.has(code))) return false;
  if (status === 400 && codes.includes(BAD_DRAFT)) return true;
  return undefined;
}

function waitInHeaders({ header }: RejectionHead): number | undefined {
  const exact = bounded(numberIn(header('retry-after-ms')));
  if (exact !== undefined) return exact;
  const after = header('retry-after');
  const seconds = numberIn(after);
  if (seconds !== undefined) return bounded(seconds * 1_000);
  return after === '' ? undefined : bounded(Date.parse(after) - Date.parse(header('date')));
}

/** Google names the wait in a detail of its own, as seconds with an `s`. */
function waitInBody(error: unknown): number | undefined {
  for (const detail of listOf(recordOf(error)?.['details'])) {
    const delay = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(textOf(recordOf(detail)?.['retryDelay']))?.[1];
    if (delay !== undefined) return bounded(Number(delay) * 1_000);
  }
  return undefined;
}

function numberIn(text: string): number | undefined {
  return /^\d{1,12}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

function bounded(waitMs: number | undefined): number | undefined {
  if (waitMs === undefined || !Number.isFinite(waitMs)) return undefined;
  return Math.min(MAX_WAIT_MS, Math.max(0, Math.round(waitMs)));
}

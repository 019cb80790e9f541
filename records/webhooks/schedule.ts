/** When an event is tried again, and when it is given up: the schedule of Standard Webhooks. Pure. */
import type { Millis } from '../../shared/base/units.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
export const longestWaitMs: Millis = 24 * hour;

/** The wait before each attempt, from the one before; the first stands for the attempt at once. */
export const waits: readonly Millis[] = [
  ...[0, 5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour],
  longestWaitMs,
];
/** Waits grow by up to so much, so that events which failed together do not come back together. */
const jitter = 0.1;
/** An endpoint that has too much to do and does not say for how long. */
const usualPauseMs: Millis = 5 * second;

/** Why no status came. */
export type Trouble = 'timeout' | 'unreachable' | 'private_address' | 'unknown_endpoint' | 'no_secret';

export type Answer =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string | undefined }
  | { readonly kind: 'trouble'; readonly trouble: Trouble };

export type Next =
  | { readonly type: 'delivered' }
  /** The endpoint wants no event ever again. */
  | { readonly type: 'disabled' }
  | { readonly type: 'given_up' }
  /** `pauseUntil`: no other event goes to this endpoint before. */
  | { readonly type: 'again'; readonly at: number; readonly pauseUntil?: number };

export interface AttemptMade {
  /** With this one. */
  readonly attempts: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** From 0 to 1. */
  readonly chance: number;
}

const tooMuch: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** What an attempt leads to. A redirect is a failure like any other. */
export function afterAttempt({ attempts, now, chance }: AttemptMade, answer: Answer): Next {
  const status = answer.kind === 'status' ? answer.status : undefined;
  if (status !== undefined && status >= 200 && status <= 299) return { type: 'delivered' };
  if (status === 410) return { type: 'disabled' };
  const wait = waits[attempts];
  if (wait === undefined) return { type: 'given_up' };
  const at = now + Math.round(wait * (1 + jitter * chance));
  if (answer.kind !== 'status' || !tooMuch.has(answer.status)) return { type: 'again', at };
  const pauseMs = retryAfterMs(answer.retryAfter, now) ?? usualPauseMs;
  return { type: 'again', at: Math.max(at, now + pauseMs), pauseUntil: now + pauseMs };
}

/** What the header `retry-after` asks for, seconds or a date; undefined for anything else. */
export function retryAfterMs(text: string | undefined, now: number): Millis | undefined {
  if (text === undefined) return undefined;
  const asked = /^\d{1,9}$/.test(text.trim()) ? Number(text) * second : dateIn(text) - now;
  return Number.isFinite(asked) ? Math.min(longestWaitMs, Math.max(0, asked)) : undefined;
}

/** Dates of HTTP begin with a day of the week, and their oldest form names no zone; `Date` would read a bare number as a year. */
function dateIn(text: string): number {
  const date = text.trim();
  if (!/^[A-Z][a-z]{2}/.test(date)) return Number.NaN;
  return Date.parse(/\d{4}$/.test(date) ? `${date} GMT` : date);
}

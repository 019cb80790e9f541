/**
 * The last part of a media stream's address (docs/telephony.md, What is checked): made for one call by HMAC over its id, good until it expires, and
 * for one use. It is `<expiry>.<call id>.<mac>`; the expiry is Unix milliseconds in base 36.
 */
import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../../shared/auth/same-secret.ts';

/** The carrier opens the stream as soon as it has read the answer of the webhook. */
const lifetimeS = 120;
const callIdForm = /^[\w-]{1,192}$/;

export interface StreamPass {
  readonly callId: string;
  /** Unix seconds. */
  readonly expS: number;
  /** The same for every use of this segment. */
  readonly id: string;
}

const macOf = (callId: string, expiry: string, secret: string): string =>
  createHmac('sha256', secret).update(`carrier_a/stream\n${callId}\n${expiry}`).digest('base64url');

/** Undefined for what is no id of a call. */
export function streamSegment(
  callId: string,
  { secret, nowS }: { secret: string; nowS: number },
): string | undefined {
  if (!callIdForm.test(callId)) return undefined;
  // In milliseconds, so that a call that comes back gets an address of its own.
  const expiry = (Math.floor(nowS * 1000) + lifetimeS * 1000).toString(36);
  return `${expiry}.${callId}.${macOf(callId, expiry, secret)}`;
}

/** What a segment is good for; undefined when it is not of our making or its time is over. */
export function readSegment(
  segment: string,
  { secret, nowS }: { secret: string; nowS: number },
): StreamPass | undefined {
  const [expiry = '', callId = '', mac = '', ...more] = segment.split('.');
  const isFormed = more.length === 0 && /^[0-9a-z]{1,9}$/.test(expiry) && callIdForm.test(callId);
  if (!isFormed || !isSameSecret(mac, macOf(callId, expiry, secret))) return undefined;
  const expS = Number.parseInt(expiry, 36) / 1000;
  return nowS < expS ? { callId, expS, id: `carrier_a ${expiry} ${callId}` } : undefined;
}

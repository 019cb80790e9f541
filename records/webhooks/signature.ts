/** The signature of Standard Webhooks, version 1: HMAC-SHA256 over id, time of the attempt and body. */
import { createHmac } from 'node:crypto';

export interface Signed {
  readonly id: string;
  /** Whole seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** One signature for each key, parted by blanks: while a secret is changed, a receiver knows the old one or the new one. */
export const signatureOf = ({ id, timestamp, body }: Signed, keys: readonly Buffer[]): string =>
  keys
    .map((key) => createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((digest) => `v1,${digest}`)
    .join(' ');

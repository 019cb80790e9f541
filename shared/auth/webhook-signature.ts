/**
 * Signatures of requests that the service sends of its own accord, as Standard Webhooks 1.0.0 has them (`v1`): its libraries verify them. The
 * bytes that are signed are the bytes that are sent.
 */
import { createHmac } from 'node:crypto';
import { fail, ok, type Result } from '../base/result.ts';

/** A secret is its prefix and so many bytes in base64. */
export const webhookSecret = { prefix: 'whsec_', leastBytes: 24, mostBytes: 64 } as const;
const { prefix, leastBytes, mostBytes } = webhookSecret;
const mostSecrets = 4;

const form = `must hold ${prefix} and the base64 of ${leastBytes} to ${mostBytes} bytes; while it is changed, the new one and the old one with a space between them`;

/** Keys of a setting: while a secret is changed, both sign. The error is the rule that is broken. */
export function readSigningKeys(text: string): Result<readonly Buffer[], string> {
  const secrets = text.split(' ').filter((part) => part !== '');
  const keys = secrets.flatMap((secret) => keyOf(secret) ?? []);
  const isRight = keys.length > 0 && keys.length === secrets.length && keys.length <= mostSecrets;
  return isRight ? ok(keys) : fail(form);
}

function keyOf(secret: string): Buffer | undefined {
  const text = secret.startsWith(prefix) ? secret.slice(prefix.length) : '';
  const key = Buffer.from(text, 'base64');
  const isRight = key.length >= leastBytes && key.length <= mostBytes;
  // The decoder passes over what is no base64.
  return isRight && key.toString('base64').replaceAll('=', '') === text.replaceAll('=', '') ? key : undefined;
}

export interface SignedMessage {
  /** Stays the same when the message is sent again; has no dot. */
  readonly id: string;
  /** Unix seconds of this attempt. */
  readonly atS: number;
  readonly body: string;
}

/** The headers of a message; without a key it has no signature. */
export function webhookHeaders(
  { id, atS, body }: SignedMessage,
  keys: readonly Buffer[],
): Readonly<Record<string, string>> {
  const sign = (key: Buffer): string =>
    `v1,${createHmac('sha256', key).update(`${id}.${atS}.${body}`).digest('base64')}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(atS),
    ...(keys.length > 0 && { 'webhook-signature': keys.map(sign).join(' ') }),
  };
}

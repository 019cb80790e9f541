/** The secrets of webhooks: `whsec_` and 24 to 64 bytes in base64, as Standard Webhooks writes them. */
import { webhookSecret } from '../../auth/webhook-signature.ts';

const { prefix, leastBytes, mostBytes } = webhookSecret;

export const secretRule = `must hold ${prefix} and ${leastBytes} to ${mostBytes} bytes in base64`;

/** The key that a text stands for; undefined for one that breaks the rule. */
export function webhookKey(text: string): Buffer | undefined {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined;
  const key = Buffer.from(encoded, 'base64');
  return key.length >= leastBytes && key.length <= mostBytes ? key : undefined;
}

/** A secret as receivers are given it. */
export const shownSecret = (key: Buffer): string => `${prefix}${key.toString('base64')}`;

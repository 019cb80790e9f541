/** Makes tokens by hand, right and wrong ones, without the code under test. */
import { createHmac } from 'node:crypto';

export const secret = 'current-secret-of-at-least-32-bytes!';
export const previousSecret = 'previous-secret-of-at-least-32-byte';
export const nowS = 1_800_000_000;

export const right = { aud: 'svc-ws', exp: nowS + 60, sid: 'call-1' };

const text64 = (bytes: string | Buffer): string => Buffer.from(bytes).toString('base64url');

/** A token over exactly this payload text. */
export function craftRaw(payload: string | Buffer, { key = secret }: { key?: string } = {}): string {
  const signature = createHmac('sha256', key).update(payload).digest();
  return `v1.${text64(payload)}.${text64(signature)}`;
}

/** A token with the right claims and these instead; undefined takes a claim out. */
export function craft(claims: Record<string, unknown> = {}, options: { key?: string } = {}): string {
  return craftRaw(JSON.stringify({ ...right, ...claims }), options);
}

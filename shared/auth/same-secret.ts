/** Comparing what somebody presents with a secret. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares digests, so that neither the content nor the length of the secret shows in the time it takes. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

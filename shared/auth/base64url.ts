/**
 * Base64url without padding, strictly: every byte sequence has exactly one text, so that a token has exactly one form.
 * Padding, other alphabets, white space and stray bits at the end are refused, never repaired.
 */

const alphabet = /^[A-Za-z0-9_-]*$/;

/** The bytes of a text, or undefined when it is not the one text that stands for them. */
export function decodeBase64Url(text: string): Buffer | undefined {
  if (!alphabet.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** The one text of these bytes. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
}

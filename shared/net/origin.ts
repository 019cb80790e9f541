/**
 * Origins of web pages as the `Origin` header names them: a scheme, a host, and a port where it is not the scheme's own. Applications
 * that bring a browser along have schemes of their own, such as `capacitor://localhost`.
 */
import { fail, ok, type Result } from '../base/result.ts';

/** Origins in the form of {@link canonicalOrigin}, or every one. */
export type AllowedOrigins = 'any' | readonly string[];

export const originsForm = 'origins separated by commas, such as https://app.example, or * for every one';

const mostOrigins = 64;
const longestOrigin = 512;

/** The one form of an origin that can be compared; undefined for `null` and for what is no origin. */
export function canonicalOrigin(text: string): string | undefined {
  if (text.length > longestOrigin || !/^[a-z][a-z0-9+.-]*:\/\/[^\s/\\?#@,*]+$/i.test(text)) return undefined;
  if (!/^https?:/i.test(text)) return text.toLowerCase();
  return URL.canParse(text) ? new URL(text).origin : undefined;
}

/** Reads SVC_WS_ORIGINS. The error is the rule and never repeats the text. */
export function parseOrigins(text: string): Result<AllowedOrigins, string> {
  if (text.trim() === '*') return ok('any');
  const entries = text.split(',');
  const origins = entries.map((entry) => canonicalOrigin(entry.trim())).filter((one) => one !== undefined);
  if (origins.length < entries.length) return fail(`must be ${originsForm}; an origin has no path`);
  return origins.length <= mostOrigins ? ok(origins) : fail(`must have at most ${mostOrigins} entries`);
}

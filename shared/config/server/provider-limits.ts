/**
 * The text of SVC_PROVIDER_LIMITS: `provider:limit=number`, further limits of a provider after `;`, providers separated by
 * commas. `sessions` is the most calls that use the provider at the same time, `rpm` the most requests per minute. Every
 * problem names the entry by its place and the rule; a text is never repeated.
 */
import { fail, ok, type Result } from '../../base/result.ts';

export interface ProviderLimit {
  /** Most calls that use the provider at the same time; absent is unlimited. */
  readonly sessions?: number;
  /** Most requests in 60 seconds; absent is unlimited. */
  readonly rpm?: number;
}

export type ProviderLimits = ReadonlyMap<string, ProviderLimit>;

const limitNames = ['sessions', 'rpm'] as const;
type LimitName = (typeof limitNames)[number];

const mostEntries = 64;
const most: Readonly<Record<LimitName, number>> = { sessions: 1_000_000, rpm: 10_000_000 };

export const providerLimitsForm =
  'limits such as stt_cloud_a:sessions=100,llm_responses:rpm=3000;sessions=200';

/** Reads the limits. `knownProviders` are the names that may appear. The error is the rule that is broken. */
export function parseProviderLimits(
  text: string,
  knownProviders: readonly string[],
): Result<ProviderLimits, string> {
  const entries = text.split(',');
  if (entries.length > mostEntries) return fail(`must have at most ${mostEntries} providers`);
  const limits = new Map<string, ProviderLimit>();
  for (const [index, entry] of entries.entries()) {
    const place = `entry ${index + 1}`;
    const colon = entry.indexOf(':');
    if (colon === -1) return fail(`${place} must be provider:limit=number`);
    const provider = entry.slice(0, colon).trim();
    if (!knownProviders.includes(provider))
      return fail(`${place} must begin with one of ${knownProviders.join(', ')}`);
    if (limits.has(provider))
      return fail(`${place} names ${provider} a second time; write its limits in one entry`);
    const limit = parseLimit(entry.slice(colon + 1));
    if (!limit.ok) return fail(`${place} (${provider}) ${limit.error}`);
    limits.set(provider, limit.value);
  }
  return ok(limits);
}

function parseLimit(text: string): Result<ProviderLimit, string> {
  const found: { -readonly [Name in LimitName]?: number } = {};
  for (const part of text.split(';')) {
    const [, word, digits] = /^\s*(\w+)\s*=\s*(\d{1,9})\s*$/.exec(part) ?? [];
    if (word === undefined) return fail('must set sessions=N, rpm=N or both with ; between them');
    const name = limitNames.find((known) => known === word);
    if (name === undefined) return fail(`has an unknown limit; the limits are ${limitNames.join(' and ')}`);
    if (found[name] !== undefined) return fail(`sets ${name} twice`);
    const value = Number(digits);
    if (value < 1 || value > most[name]) return fail(`${name} must be from 1 to ${most[name]}`);
    found[name] = value;
  }
  return ok(found);
}

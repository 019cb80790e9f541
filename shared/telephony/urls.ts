/** Addresses that lead to a carrier, and by which a carrier reaches this service. */
import { fail, ok, type Result } from '../base/result.ts';
import { isLoopbackHost } from '../net/loopback.ts';
import { readVariable, type Variable } from '../config/server/variables.ts';

/** An address without user, query and fragment; undefined for every other text. */
export function plainUrl(value: string): URL | undefined {
  if (!URL.canParse(value) || value.length > 1_024) return undefined;
  const url = new URL(value);
  const { username, password, search, hash } = url;
  return username === '' && password === '' && search === '' && hash === '' ? url : undefined;
}

const form = 'an https:// address without query, or http:// on a loopback address';

function readApiUrl(value: string): Result<string, string> {
  const { protocol, hostname = '' } = plainUrl(value) ?? {};
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
  return isSafe ? ok(value.replace(/\/+$/, '')) : fail(`must be ${form}`);
}

/** The address of a carrier's API: credentials go there, so that it is https:// but for this machine itself. */
export const apiUrlVariable = (name: `SVC_${string}`, text: string, fallback: string): Variable<string> =>
  readVariable<string>(name, text, { form, defaultText: fallback, read: readApiUrl, fallback });

/** The address of a carrier's API: credentials go there, so that it is https:// but for this machine itself. */
import { fail, ok, type Result } from '../../base/result.ts';
import { isLoopbackHost } from '../../net/loopback.ts';
import { readVariable, type Variable } from './variables.ts';

const form = 'an https:// address without query, or http:// on a loopback address';

function readApiUrl(value: string): Result<string, string> {
  if (!URL.canParse(value) || value.length > 1_024) return fail(`must be ${form}`);
  const { protocol, hostname, username, password, search, hash } = new URL(value);
  const isPlain = username === '' && password === '' && search === '' && hash === '';
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
  return isPlain && isSafe ? ok(value.replace(/\/+$/, '')) : fail(`must be ${form}`);
}

export const apiUrlVariable = (name: `SVC_${string}`, text: string, fallback: string): Variable<string> =>
  readVariable<string>(name, text, { form, defaultText: fallback, read: readApiUrl, fallback });

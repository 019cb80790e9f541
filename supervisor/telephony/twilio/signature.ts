/**
 * The signature of Twilio (header `X-Twilio-Signature`): HMAC-SHA1 over the public address and, of a form, its parameters sorted
 * by name. The address comes from the settings and never from the request, which a proxy may have changed.
 */
import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../../shared/auth/same-secret.ts';

export const signatureHeader = 'x-twilio-signature';

/** Form parameters as they came; a name may stand more than once. */
export type FormParameters = readonly (readonly [name: string, value: string])[];

/** Base64 of the signature over an address and the parameters of a form. */
export function signatureOf(url: string, parameters: FormParameters, token: string): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of parameters) values.set(name, (values.get(name) ?? new Set()).add(value));
  const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  let data = url;
  for (const name of [...values.keys()].toSorted(byBytes))
    for (const value of [...(values.get(name) ?? [])].toSorted(byBytes)) data += name + value;
  return createHmac('sha1', token).update(data, 'utf8').digest('base64');
}

/** Whether the carrier signed this. It may have signed the address with its port or without; both are tried, in constant time. */
export function isSigned(
  header: string | string[] | undefined,
  { url, parameters = [], token }: { url: string; parameters?: FormParameters; token: string },
): boolean {
  if (typeof header !== 'string') return false;
  const isRight = portForms(url).map((form) => isSameSecret(header, signatureOf(form, parameters, token)));
  return isRight.includes(true);
}

/** The address as it is, without its port, and with the port of its scheme; the text is otherwise left alone. */
function portForms(url: string): string[] {
  const [, scheme = '', host = '', rest = ''] = /^(\w+:\/\/)([^/]*)(.*)$/.exec(url) ?? [];
  const bare = host.replace(/:\d+$/, '');
  return [...new Set([url, `${scheme}${bare}${rest}`, `${scheme}${bare}:443${rest}`])];
}

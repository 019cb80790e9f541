/** The server variables of the call page: whether it is served, and where it gets its tokens. Part of the list in `server.ts`. */
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { HostPort } from '../../net/address.ts';
import type { Reader } from './environment.ts';
import { listenerVariable, readVariable } from './variables.ts';

export interface PageSettings {
  readonly addr: HostPort;
  /** Where the page asks for a session token instead of the service: an address, or a path on the host of the page. */
  readonly tokenUrl?: string;
}

const tokenUrlForm = 'an http or https address, or a path such as /api/call-token; at most 2048 characters';

/** Visible ASCII without what ends a source in a Content-Security-Policy. */
function readTokenUrl(value: string): Result<string, string> {
  const isPath = value.startsWith('/') && !value.startsWith('//') && !value.startsWith('/\\');
  const isPlain = /^[\x21-\x7e]{1,2048}$/.test(value) && !/[;,'"]/.test(value);
  const url = isPath ? `http://page${value}` : value;
  if (!isPlain || !URL.canParse(url)) return fail(`must be ${tokenUrlForm}`);
  const { protocol, username, password } = new URL(url);
  if (!/^https?:$/.test(protocol)) return fail(`must be ${tokenUrlForm}`);
  return username === '' && password === '' ? ok(value) : fail('must hold neither a user nor a password');
}

export const pageVariables = {
  pageAddr: listenerVariable(
    'SVC_PAGE_ADDR',
    'Listener of the call page, which takes calls from it at /ws. Off loopback it needs authentication and SVC_PAGE_TOKEN_URL, or SVC_INSECURE_LISTENERS.',
    { port: 8088, unset: 'no page' },
  ),
  pageTokenUrl: readVariable<string | undefined>(
    'SVC_PAGE_TOKEN_URL',
    'Endpoint where the call page gets a session token for each call (POST, answered with {"token": "..."}), instead of from the service.',
    { form: tokenUrlForm, read: readTokenUrl, fallback: undefined },
  ),
} as const;

export function takePage(reader: Reader): { readonly page?: PageSettings } {
  const { pageAddr: addr, pageTokenUrl: tokenUrl } = reader.takeAll(pageVariables);
  return addr === undefined ? {} : { page: present({ addr, tokenUrl }) };
}

/**
 * Which web pages may open calls. A listener on loopback that asks for no token is meant for programs of this machine, but a page
 * of any site that is open in a browser here reaches it too, and each call costs what its providers cost. So a page of
 * another origin is refused there, and a request for a name that is not of this machine with it: a site can have its name
 * lead here, and is its own origin then. A request without `Origin` is from no page.
 */
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { HostPort } from '../../shared/net/address.ts';
import { parseIp } from '../../shared/net/cidr.ts';
import { isLoopbackHost } from '../../shared/net/loopback.ts';
import { canonicalOrigin } from '../../shared/net/origin.ts';
import { refusal, type Answer } from '../http/refusals.ts';
import type { RequestHead } from './credentials.ts';

export const originRefused = (variable: string): Answer =>
  refusal('origin_refused', {
    message: `a web page of this origin may not open calls; ${variable} names those that may`,
  });
const hostRefused = (variable: string): Answer =>
  refusal('host_refused', {
    message: `without a token calls are taken for localhost and for addresses; ${variable} names the pages of other hosts`,
  });

export interface ListenerAccess {
  /** Where the listener is bound. */
  readonly bind: HostPort;
  readonly access: Pick<ServerSettings['access'], 'wsToken' | 'sessionSecrets' | 'wsOrigins'>;
  /** Where an operator names origins; absent: SVC_WS_ORIGINS. */
  readonly originsVariable?: string | undefined;
}

/**
 * The answer to a page that may not open a call at this listener; undefined when it may, or when nobody is a page. Pages of the
 * host that is asked, as one that this service serves, are always allowed. SVC_WS_ORIGINS counts wherever it is set.
 */
export function originRefusal(headers: RequestHead['headers'], at: ListenerAccess): Answer | undefined {
  const { wsOrigins: allowed } = at.access;
  const { originsVariable = 'SVC_WS_ORIGINS' } = at;
  const isPrivate = isOpen(at) && isLoopbackHost(at.bind.host);
  if (allowed === 'any' || (allowed === undefined && !isPrivate)) return undefined;
  const [host, origin] = [one(headers['host']), headers['origin']];
  if (isPrivate && !isOfThisMachine(host) && !(allowed ?? []).some((known) => known.endsWith(`://${host}`)))
    return hostRefused(originsVariable);
  if (origin === undefined) return undefined;
  const asking = canonicalOrigin(one(origin));
  if (asking === undefined) return originRefused(originsVariable);
  const own = canonicalOrigin(asking.replace(/:\/\/.*/, `://${host}`));
  return asking === own || allowed?.includes(asking) === true ? undefined : originRefused(originsVariable);
}

const isOpen = ({ access }: ListenerAccess): boolean =>
  access.wsToken === undefined && access.sessionSecrets.length === 0;

/** An address, which no site can have lead elsewhere, or a name that browsers never ask a server about. */
function isOfThisMachine(host: string): boolean {
  if (!URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  return /^\[|(^|\.)localhost$/.test(hostname) || parseIp(hostname) !== undefined;
}

const one = (value: string | string[] | undefined): string =>
  typeof value === 'string' ? value.toLowerCase() : '';

/** Who wants to listen to a call: reads the token of an upgrade, says which role it gives, and takes it out of what travels on. Pure. */
import { readerOf, type Reader } from '../../shared/auth/tenant-token.ts';
import {
  monitorProtocol,
  monitorRoles,
  operatorName,
  tokenProtocol,
  type MonitorRole,
} from '../../shared/monitor/messages.ts';
import type { MonitorSettings } from '../../shared/monitor/variables.ts';
import type { RequestHead } from '../admission/credentials.ts';

export interface AskedMonitor {
  readonly call: string;
  /** The name that the operator gave. */
  readonly by: string;
}

/** The call that a request is for; undefined for every other path. */
export function askedMonitor(url: string): AskedMonitor | undefined {
  const [path = '', query = ''] = url.split('?');
  const part = /^\/live\/calls\/([^/]{1,400})\/monitor$/.exec(path)?.[1];
  if (part === undefined) return undefined;
  try {
    return { call: decodeURIComponent(part), by: operatorName(new URLSearchParams(query).get('by')) };
  } catch {
    return undefined;
  }
}

const listOf = (value: string | string[] | undefined): string[] =>
  [value ?? []]
    .flat()
    .flatMap((one) => one.split(','))
    .map((one) => one.trim());

function tokenOf({ headers }: RequestHead): string {
  const [given] = [headers['authorization'] ?? []].flat();
  const bearer = /^Bearer (.+)$/i.exec(given ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const entry = listOf(headers['sec-websocket-protocol']).find((one) => one.startsWith(tokenProtocol));
  return Buffer.from(entry?.slice(tokenProtocol.length) ?? '', 'base64url').toString();
}

export interface Operator extends Reader {
  readonly role: MonitorRole;
}

/** What the token of a request lets its operator do, and in whose calls; undefined: nothing. */
export function operatorOf(
  head: RequestHead,
  { tokens, nowS }: { readonly tokens: MonitorSettings; readonly nowS: number },
): Operator | undefined {
  const given = tokenOf(head);
  for (const role of monitorRoles.toReversed()) {
    const secret = tokens[role]?.reveal();
    const reader = secret === undefined ? undefined : readerOf(given, { to: role, secret, nowS });
    if (reader !== undefined) return { role, ...reader };
  }
  return undefined;
}

/** The request without its token. */
export function withoutToken({ url, headers }: RequestHead): RequestHead {
  const kept = Object.fromEntries(
    Object.entries(headers).filter(([name]) => name !== 'authorization' && name !== 'sec-websocket-protocol'),
  );
  const isAsked = listOf(headers['sec-websocket-protocol']).includes(monitorProtocol);
  return { url, headers: { ...kept, ...(isAsked && { 'sec-websocket-protocol': monitorProtocol }) } };
}

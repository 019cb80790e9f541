/**
 * The address of an agent process (docs/reference/agent-file.md, `[agent_link]`). It may hold a path and a query, which may be secrets:
 * everybody but the connection itself shows scheme, host and port only.
 */
import { fail, ok, type Result } from '../base/result.ts';
import { hostReach, type HostReach } from '../net/plain-host.ts';

export interface AgentUrl {
  /** What the WebSocket client is given; without the zone id of a link-local address. */
  readonly href: string;
  /** What is connected to: a name, or an address without brackets and with its zone id. */
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** Scheme, host and port. */
  readonly shown: string;
  readonly reach: HostReach;
}

const longestUrl = 2_048;
const form = 'must be a ws:// or wss:// address';
/** WHATWG addresses have no zone ids; RFC 6874 writes them `%25eth0`. */
const zonePattern = /^(wss?:\/\/\[[0-9a-f:.]+)%(?:25)?([A-Za-z0-9._~-]{1,64})(\].*)$/is;

/** Reads an address; the error is the rule that it breaks and repeats nothing of it. */
export function readAgentUrl(text: string): Result<AgentUrl, string> {
  const [, before, zone, behind] = zonePattern.exec(text) ?? [];
  const plain = zone === undefined ? text : `${before ?? ''}${behind ?? ''}`;
  if (!/^wss?:\/\//i.test(plain) || /[\s\\]/.test(plain) || !URL.canParse(plain)) return fail(form);
  if (text.length > longestUrl) return fail(`must be at most ${longestUrl} characters long`);
  const url = new URL(plain);
  if (url.username !== '' || url.password !== '')
    return fail('must not hold credentials; a token goes into a variable of its own');
  if (plain.includes('#')) return fail('must have no fragment');
  const isTls = url.protocol === 'wss:';
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  if (port === 0) return fail('must have a port above 0');
  const bare = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const host = zone === undefined ? bare : `${bare}%${zone}`;
  const shown = `${url.protocol}//${host.includes(':') ? `[${host}]` : host}:${port}`;
  return ok({ href: url.href, host, port, isTls, shown, reach: hostReach(host) });
}

/** What the start has to say of an address that is not encrypted. */
export type PlaintextVerdict =
  | { readonly kind: 'fine' }
  | { readonly kind: 'warned'; readonly rule: string }
  | { readonly kind: 'refused'; readonly rule: string };

/** The rule for `ws://` (docs/security.md, Unencrypted links). The link carries transcripts, context and tool calls. */
export function judgePlaintext(
  { isTls, reach }: Pick<AgentUrl, 'isTls' | 'reach'>,
  { allowInsecure }: { readonly allowInsecure: boolean },
): PlaintextVerdict {
  if (isTls || reach === 'private') return { kind: 'fine' };
  if (reach === 'single_label')
    return {
      kind: 'warned',
      rule: 'is a ws:// address of a name without a dot: a resolver search list may lead it off the private network',
    };
  if (allowInsecure)
    return {
      kind: 'warned',
      rule: 'is a ws:// address off the private network: what callers say travels unencrypted',
    };
  return {
    kind: 'refused',
    rule: 'must be a wss:// address; ws:// only to a host of the private network, or with allow_insecure',
  };
}

/** URLs of TURN servers (RFC 7065), and what a server of relays is to its clients. Pure; no message repeats a URL. */
import { parseIp } from '../net/cidr.ts';

/** As browsers take it (RTCIceServer), with no member besides. */
export interface IceServer {
  readonly urls: readonly string[];
  readonly username?: string;
  readonly credential?: string;
}

/** One way to a TURN server. */
export interface TurnServer {
  readonly transport: 'udp' | 'tcp' | 'tls';
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly credential: string;
}

const form = /^(turns?):(\[[\dA-Fa-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?(?:\?transport=(udp|tcp))?$/;

/** Undefined where the text is no such URL, and for TURN by DTLS, which nobody here speaks. */
export function parseTurnUrl(url: string): Pick<TurnServer, 'transport' | 'host' | 'port'> | undefined {
  const [, scheme, name = '', portText, transport] = url.length > 512 ? [] : (form.exec(url) ?? []);
  const isSecure = scheme === 'turns';
  const port = portText === undefined ? (isSecure ? 5349 : 3478) : Number(portText);
  const host = name.replace(/^\[|\]$/g, '');
  if (scheme === undefined || port < 1 || port > 65_535) return undefined;
  if (name.startsWith('[') && parseIp(host) === undefined) return undefined;
  if (isSecure) return transport === 'udp' ? undefined : { transport: 'tls', host, port };
  return { transport: transport === 'tcp' ? 'tcp' : 'udp', host, port };
}

/** The ways to servers of relays among these, in their order. */
export const turnServersOf = (servers: readonly IceServer[]): readonly TurnServer[] =>
  servers.flatMap(({ urls, username, credential }) =>
    urls.flatMap((url) => {
      const way = parseTurnUrl(url);
      return way === undefined || username === undefined || credential === undefined
        ? []
        : [{ ...way, username, credential }];
    }),
  );

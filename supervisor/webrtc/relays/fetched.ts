/**
 * Asks a provider of relays for credentials: Cloudflare's TURN service, and Twilio's Network Traversal Service. Its answer is a
 * stranger's: it is read by a schema, bounded, and becomes what browsers take and nothing besides.
 */
import * as z from 'zod';
import type { TurnProvider } from '../../../shared/config/server/reach/turn-variables.ts';
import type { IceServer } from '../../../shared/webrtc/turn-url.ts';

const timeoutMs = 5_000;
const mostBytes = 64 * 1024;
/** Nothing that would end a header or a quoted string of one. */
const text = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/);
const url = z.string().regex(/^(stun|turn)s?:[\w.:[\]-]{1,256}(\?[\w=&-]{1,64})?$/);
const serverShape = z.object({
  urls: z.union([url.transform((one) => [one]), z.array(url).max(16)]),
  username: text.optional(),
  credential: text.optional(),
});
const serversShape = z.array(serverShape).max(16);
/** An earlier endpoint gives one server, the present one several. */
const cdnShape = z.object({ iceServers: z.union([serversShape, serverShape.transform((one) => [one])]) });
const carrierShape = z.object({ ice_servers: serversShape });

/** Browsers do not go to this port, and wait for it. */
const isBlocked = (url: string): boolean => /^(turn|stun):[^?]*:53(\?|$)/.test(url);

type FetchedProvider = Exclude<TurnProvider, { name: 'self_hosted_turn' }>;

/** Rejects with a message that holds nothing of the answer but its status. */
export async function fetchIceServers(
  provider: TurnProvider,
  { ttlS, fetch }: { readonly ttlS: number; readonly fetch: typeof globalThis.fetch },
): Promise<readonly IceServer[]> {
  if (provider.name === 'self_hosted_turn') return [];
  const { url, request } = requestOf(provider, ttlS);
  const body = await answered(fetch, url, request);
  const read = provider.name === 'cdn_turn' ? cdnShape.safeParse(body) : carrierShape.safeParse(body);
  if (!read.success) throw new Error('the answer is of another form');
  const servers = 'iceServers' in read.data ? read.data.iceServers : read.data.ice_servers;
  return servers
    .map(({ urls, username, credential }) => ({
      urls: urls.filter((one) => !isBlocked(one)),
      ...(username !== undefined && credential !== undefined && { username, credential }),
    }))
    .filter(({ urls }) => urls.length > 0);
}

function requestOf(provider: FetchedProvider, ttlS: number): { url: string; request: RequestInit } {
  if (provider.name === 'cdn_turn')
    return {
      url: `${provider.apiUrl}/v1/turn/keys/${provider.keyId}/credentials/generate-ice-servers`,
      request: {
        headers: {
          Authorization: `Bearer ${provider.apiToken.reveal()}`,
          'Content-Type': 'application/json',
        },
        body: JSON.stringify({ ttl: ttlS }),
      },
    };
  const signed = Buffer.from(`${provider.user}:${provider.password.reveal()}`).toString('base64');
  return {
    url: `${provider.apiUrl}/2010-04-01/Accounts/${provider.accountSid}/Tokens.json`,
    request: {
      headers: { Authorization: `Basic ${signed}`, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: `Ttl=${ttlS}`,
    },
  };
}

async function answered(fetch: typeof globalThis.fetch, url: string, request: RequestInit): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(url, {
      ...request,
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch {
    throw new Error('it is not reached');
  }
  if (response.status !== 200 && response.status !== 201) {
    await response.body?.cancel();
    throw new Error(`it answered with ${response.status}`);
  }
  try {
    return JSON.parse(await boundedText(response));
  } catch {
    throw new Error('the answer cannot be read');
  }
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > mostBytes) throw new Error('too long');
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString('utf8');
}

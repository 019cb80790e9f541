/**
 * Which web pages may use the signaling port, and what their browsers are told of it (docs/reference/server-settings.md, `SVC_WEBRTC_CORS_ORIGIN`). A
 * page of the host that is asked always may; others where that variable names them. Refusals have these headers too: without them a browser
 * hides from a page why it was refused.
 */
import { canonicalOrigin, type AllowedOrigins } from '../../shared/net/origin.ts';
import type { RequestHead } from '../admission/credentials.ts';
import { originRefusal, originRefused } from '../admission/origins.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { WebrtcSettings } from '../../shared/webrtc/variables.ts';
import type { Answer } from '../http/refusals.ts';

const pageRefused = originRefused('SVC_WEBRTC_CORS_ORIGIN');

const allowedMethods = 'POST, GET, PATCH, DELETE, OPTIONS';

const one = (value: string | string[] | undefined): string =>
  typeof value === 'string' ? value.toLowerCase() : '';

/** Whether a page of this origin may ask; a request without an origin comes from no page. */
function mayAsk(headers: RequestHead['headers'], allowed: AllowedOrigins | undefined): boolean {
  if (headers['origin'] === undefined || allowed === 'any') return true;
  const asking = canonicalOrigin(one(headers['origin']));
  if (asking === undefined) return false;
  const own = canonicalOrigin(asking.replace(/:\/\/.*/, `://${one(headers['host'])}`));
  return asking === own || allowed?.includes(asking) === true;
}

/** The answer to a page that may not ask; undefined when it may. */
export function signalingRefusal(
  headers: RequestHead['headers'],
  { webrtc, access }: { webrtc: WebrtcSettings; access: ServerSettings['access'] },
): Answer | undefined {
  if (!mayAsk(headers, webrtc.corsOrigin)) return pageRefused;
  const { token, corsOrigin, addr } = webrtc;
  // Without a token, on a loopback address, the host that is asked for has to be this machine, too.
  return originRefusal(headers, {
    bind: addr,
    access: {
      sessionSecrets: access.sessionSecrets,
      ...(token !== undefined && { wsToken: token }),
      ...(corsOrigin !== undefined && { wsOrigins: corsOrigin }),
    },
  });
}

/** Headers of every answer to a page that may ask. */
export function corsHeaders(
  headers: RequestHead['headers'],
  allowed: AllowedOrigins | undefined,
): Readonly<Record<string, string>> {
  const { origin } = headers;
  if (typeof origin !== 'string' || !mayAsk(headers, allowed)) return { Vary: 'Origin' };
  return {
    Vary: 'Origin',
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'Location, ETag, Link, Retry-After, Access-Control-Allow-Methods',
  };
}

/** What a browser is told before it asks in earnest. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': allowedMethods,
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-Match, ETag, Prefer',
  'Access-Control-Max-Age': '86400',
  'Accept-Post': 'application/sdp',
  Allow: allowedMethods,
};

/**
 * Which agent process a call is connected to. The word of a verified token stands above the client's: else a token for one
 * customer would lead to the process of another one. Of telephone calls the carrier tells the route that the operator gave it.
 *
 * Invariant: a route that demands it is reached by a signed word alone, and a call that is refused is led nowhere else.
 */
import type { RouteTarget } from '../../shared/agent-link/agent-file.ts';
import { carrierKeys } from '../../shared/telephony/twilio/protocol.ts';
import type { CallStart } from '../transports/transport.ts';

/** Where a call goes. */
export type Routed =
  /** To this route, or without one to the default process. */
  | { readonly kind: 'led'; readonly route?: string }
  /** Nothing that was signed names the route, which demands it. */
  | { readonly kind: 'refused'; readonly named: string };

/** Says where a call goes. */
export type RouteOf = (start: Pick<CallStart, 'callId' | 'metadata'>) => Routed;

/** The key of a call's metadata, and of a token's `meta`, that names its route. */
const routeKey = 'agent_route';

/** `unknown` is told of calls that name a route that is not there: they go to the default process. */
export const newRouteOf =
  (
    routes: ReadonlyMap<string, Pick<RouteTarget, 'signed'>>,
    unknown: (call: string, named: string) => void,
  ): RouteOf =>
  ({ callId, metadata }) => {
    const signed = signedRoute(metadata, routes);
    const named = signed ?? metadata[routeKey] ?? '';
    const target = routes.get(named);
    if (target === undefined) {
      if (named !== '') unknown(callId, named);
      return { kind: 'led' };
    }
    return target.signed && signed === undefined ? { kind: 'refused', named } : { kind: 'led', route: named };
  };

/** What was signed; empty where that is the default process, undefined where the client is free to choose. */
function signedRoute(
  metadata: Readonly<Record<string, string>>,
  routes: ReadonlyMap<string, unknown>,
): string | undefined {
  const inMeta = metadata[`session.meta.${routeKey}`];
  if (inMeta !== undefined) return inMeta;
  // An agent that no route is named by is the application's own business.
  const agent = metadata['session.agent'];
  if (agent !== undefined && routes.has(agent)) return agent;
  // The server sets it for calls whose address it made itself, for that one call: their parameters come from the operator.
  return metadata[carrierKeys.callId] === undefined ? undefined : metadata[routeKey];
}

/** A call as the engine goes by it: named by the service, and led to the agent process that it may reach. */
import type { Log } from '../../shared/runtime/log.ts';
import type { RouteOf } from '../agent-link/routes.ts';
import type { CallStart } from '../transports/transport.ts';

export interface AdmittedStart extends CallStart {
  /** The `sid` of the call's token, or an id of the service: never what a client or a carrier chose. */
  readonly sessionId: string;
  /** When it began, Unix milliseconds. */
  readonly at: number;
  /** The route of the agent link that the call goes by; absent: it goes to the default process, or there is none. */
  readonly route?: string;
  /** Names the record of the call; absent: none is kept. The same in whichever worker. */
  readonly recordId?: string;
}

export interface AdmissionSite {
  readonly newSessionId: () => string;
  /** Unix milliseconds. */
  readonly wallNow: () => number;
  /** Absent: calls have no agent process. */
  readonly routeOf?: RouteOf;
  readonly log: Log;
}

/** Undefined for a call that nothing signed leads to the route that it names: it is refused, and no other process gets it. */
export function admitCall(
  start: CallStart,
  { newSessionId, wallNow, routeOf, log }: AdmissionSite,
): AdmittedStart | undefined {
  const { callId, isOwnId = false } = start;
  const sessionId = start.metadata['session_id'] ?? (isOwnId ? callId : newSessionId());
  const routed = routeOf?.(start) ?? { kind: 'led' };
  if (routed.kind === 'led')
    return { ...start, sessionId, at: wallNow(), ...(routed.route !== undefined && { route: routed.route }) };
  log.warn(
    { call: callId, route: routed.named },
    'a call is refused: its route is led to by a signed word alone',
  );
  return undefined;
}

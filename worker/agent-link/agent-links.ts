/**
 * The agent processes of a worker: which of them a call is connected to, and what it is told of its caller
 * (docs/reference/agent-file.md, `[agent_link]`).
 */
import { present } from '../../shared/base/present.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import { linkTargets, type LinkTarget, type LinkTargets } from '../../shared/agent-link/agent-file.ts';
import { agentLinkOf } from '../../shared/agent-link/variables.ts';
import type { Env } from '../../shared/config/server/environment.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { WorkerMetrics } from '../../shared/runtime/metrics.ts';
import { Seldom } from '../../shared/runtime/seldom.ts';
import { callLog, traceparentOf, type TraceOf } from '../call/trace.ts';
import type { CallStart } from '../transports/transport.ts';
import { publicLookup } from '../stages/fence.ts';
import { newRouteOf, type RouteOf } from './routes.ts';
import { newDialer, type Dial } from './agent-socket.ts';
import { AgentCallLink } from './call-link.ts';
import { callerOf, saidOf, signedOf } from './caller-identity.ts';
import type { CallLink, OpenCallLink } from './contract.ts';
import { newLink, resumedLink, type LinkSettings } from './link-state.ts';

export interface AgentLinksOptions {
  /** What the agent's file was read with. */
  readonly env: Env;
  /** Telephone numbers may be passed on. */
  readonly showsNumbers: boolean;
  /** Trusted beside the public ones, as PEM. */
  readonly certificates: readonly string[];
  /** Whether the carrier of a call can transfer it. */
  readonly mayTransfer: (start: CallStart) => boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<WorkerMetrics, 'agentHop' | 'agentLinks' | 'agentWrite'>;
  /** Absent: calls have no trace. */
  readonly traceOf?: TraceOf | undefined;
}

interface Process {
  readonly target: LinkTarget;
  readonly dial: Dial;
}

const goneText = 'the agent process of a call is not in the agent file any more: the call goes on by itself';
/** Of what a client names, in a log. */
const mostNamed = 64;

/** What calls are connected to their agent processes with; nothing where neither the agent file nor the environment names one. */
export function agentLinkServices(
  definition: AgentDefinition,
  options: AgentLinksOptions,
): { readonly openLink?: OpenCallLink; readonly routeOf?: RouteOf } {
  const targets = linkTargets(definition.agentLink, agentLinkOf(options.env));
  return targets === undefined
    ? {}
    : { openLink: newAgentLinks(targets, definition, options), routeOf: newRouting(targets, options) };
}

function newRouting({ routes }: LinkTargets, { clock, log }: AgentLinksOptions): RouteOf {
  const unknownRoutes = new Seldom(clock);
  return newRouteOf(routes, (call, named) => {
    if (unknownRoutes.isDue(named))
      log.warn({ call, route: named.slice(0, mostNamed) }, 'a call names a route that is not there');
  });
}

function newAgentLinks(
  targets: LinkTargets,
  { agent: { name: agent }, reach }: AgentDefinition,
  { env, showsNumbers, certificates, mayTransfer, clock, log, metrics, traceOf }: AgentLinksOptions,
): OpenCallLink {
  // Where the operator says which process it is, it may be anywhere.
  const isOwn = ({ url }: LinkTarget): boolean => url === agentLinkOf(env).url;
  const findFor = (target: LinkTarget) =>
    reach?.isPublicOnly === true && !isOwn(target) ? publicLookup : undefined;
  const processOf = (target: LinkTarget): Process => ({
    target,
    dial: newDialer(target, certificates, findFor(target)),
  });
  const fallback = targets.fallback === undefined ? undefined : processOf(targets.fallback);
  const routes = new Map([...targets.routes].map(([name, target]) => [name, processOf(target)]));
  const shows = { showsNumbers };
  return (start, site, left): CallLink | undefined => {
    const { route } = start;
    const found = route === undefined ? fallback : routes.get(route);
    if (left !== undefined && left.terms === undefined) return undefined;
    if (found === undefined) {
      // Another file came into force while it ran: nobody else's process takes the call.
      if (left !== undefined) log.warn({ call: start.callId, route }, goneText);
      return undefined;
    }
    const caller = found.target.callerIdentity ? callerOf(start, shows) : undefined;
    const settings: LinkSettings = {
      sessionId: start.sessionId,
      agent,
      ...present({ route, session: signedOf(start.metadata), metadata: saidOf(start.metadata), caller }),
      capabilities: { transfer: mayTransfer(start), tools: true },
      farewell: site.farewell,
      takesMessages: site.client?.sendMessage !== undefined,
    };
    const now = clock.now();
    const state =
      left === undefined
        ? newLink(settings, now)
        : resumedLink(settings, left.terms, { saved: left.saved, downMs: left.downMs, now });
    const { shown } = found.target.url;
    const ownLog = callLog({ log, agent, traceOf }, start).child({
      process: shown,
      session: start.sessionId,
    });
    const trace = traceOf?.(start);
    const headers = trace === undefined ? {} : { traceparent: traceparentOf(trace, trace.spanId) };
    const dial: Dial = (...[ofProcess, events]) => found.dial(ofProcess, events, headers);
    return new AgentCallLink({ clock, metrics, log: ownLog, dial, site, state });
  };
}

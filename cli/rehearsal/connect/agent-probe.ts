/** The agent processes that an agent file and the environment name, each tried with a handshake as of a call. */
import { linkTargets, type LinkTarget } from '../../../shared/agent-link/agent-file.ts';
import { agentLinkOf, agentLinkVariables } from '../../../shared/agent-link/variables.ts';
import type { AgentDefinition } from '../../../shared/config/agent-file.ts';
import type { Env } from '../../../shared/config/server/environment.ts';
import { certificateLimits, readCertificates } from '../../../shared/net/certificates.ts';
import { faultText } from '../../../shared/agent-link/errors.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { newDialer } from '../../../worker/agent-link/agent-socket.ts';
import { probeAgent } from '../../../worker/agent-link/probe.ts';
import type { Tried } from './connect-check.ts';

export interface AgentProbeOptions {
  readonly clock: Clock;
  readonly env: Env;
  readonly readBytes: (path: string, most: number) => Uint8Array | undefined;
}

/** One attempt for each process, all of them at once. */
export function tryAgents(definition: AgentDefinition, options: AgentProbeOptions): Promise<Tried>[] {
  const targets = linkTargets(definition.agentLink, agentLinkOf(options.env));
  if (targets === undefined) return [];
  const all: [string, LinkTarget][] = [...targets.routes];
  if (targets.fallback !== undefined) all.unshift(['process', targets.fallback]);
  return all.map((one) => tryAgent(one, definition, options));
}

async function tryAgent(
  [name, target]: [string, LinkTarget],
  { agent }: AgentDefinition,
  { clock, env, readBytes }: AgentProbeOptions,
): Promise<Tried> {
  const { url } = target;
  const who = { stage: 'agent', provider: name, host: `${url.host}:${url.port}` };
  const bundle = certificatesOf(env, readBytes);
  if (typeof bundle === 'string')
    return { who, steps: [], failure: { reason: 'certificates', rule: bundle } };
  const settings = {
    sessionId: `check-${name}`,
    agent: agent.name,
    capabilities: { transfer: false, tools: true },
    farewell: agent.farewell,
  };
  const startedAt = clock.now();
  const probed = await probeAgent(newDialer(target, bundle), settings, clock);
  const ms = clock.now() - startedAt;
  if ('why' in probed) return { who, steps: [], failure: { reason: 'no link', text: probed.why } };
  const { tools, problems } = probed.accept;
  const what = `call accepted with ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`;
  const [problem] = problems;
  if (problem === undefined) return { who, steps: [{ what, ms }] };
  return {
    who,
    steps: [{ what, ms }],
    failure: { reason: 'something was left out', text: faultText(problem) },
  };
}

/** The certificates of SVC_AGENT_TLS_CA, or what is wrong with them. */
function certificatesOf(env: Env, readBytes: AgentProbeOptions['readBytes']): readonly string[] | string {
  const { name } = agentLinkVariables.agentTlsCa;
  const path = env[name];
  if (path === undefined) return [];
  const bundle = readBytes(path, certificateLimits.bytes);
  if (bundle === undefined) return `${name} must name a file that can be read`;
  const read = readCertificates(bundle);
  return read.ok ? read.value : `${name} ${read.error}`;
}

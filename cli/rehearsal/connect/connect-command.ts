/** The command `check FILE --connect`: the file first, and then everything that it reaches (see docs/providers.md). */
import type { WriteStream } from 'node:tty';
import {
  loadAgentFileAt,
  packagesOf,
  runCheck,
  type CheckOptions,
} from '../../commands/check/check-command.ts';
import { readArguments, usageError } from '../../commands/commands.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { coloursFor } from '../colours.ts';
import { checkConnections, type Tried } from './connect-check.ts';
import { linkTargets, type LinkTarget } from '../../../shared/agent-link/agent-file.ts';
import { agentLinkOf, agentLinkVariables } from '../../../shared/agent-link/variables.ts';
import type { AgentDefinition } from '../../../shared/config/agent-file.ts';
import type { Env } from '../../../shared/config/server/environment.ts';
import { certificateLimits, readCertificates } from '../../../shared/net/certificates.ts';
import { faultText } from '../../../shared/agent-link/errors.ts';
import { newDialer } from '../../../worker/agent-link/agent-socket.ts';
import { probeAgent } from '../../../worker/agent-link/probe.ts';

export interface ConnectCommandOptions extends Omit<CheckOptions, 'requireSecrets' | 'write'> {
  readonly clock: Clock;
  readonly output: Pick<NodeJS.WritableStream, 'write'> & Partial<Pick<WriteStream, 'isTTY'>>;
  readonly writeError: (line: string) => void;
}

/** Returns the exit status: 0 when the file is valid and everything answers. */
export async function runConnectCheck(
  args: readonly string[],
  { clock, output, writeError, ...sources }: ConnectCommandOptions,
): Promise<0 | 1 | 2> {
  const parsed = readArguments('check', args);
  if (!parsed.ok) {
    writeError(usageError('check', parsed.error));
    return 2;
  }
  const [file = ''] = parsed.value.given;
  const write = (line: string): void => void output.write(`${line}\n`);
  const packages = await packagesOf(file, sources);
  const checked = { ...sources, packages, requireSecrets: true, write };
  if (runCheck(file, checked) !== 0) return 1;
  const definition = loadAgentFileAt(file, checked)?.definition;
  if (definition === undefined) return 1;
  const agents = tryAgents(definition, { clock, env: sources.env, readBytes: sources.readBytes });
  return await checkConnections(definition, {
    packages,
    clock,
    write,
    agents,
    colours: coloursFor(output, sources.env),
  });
}

/** The agent processes that an agent file and the environment name, each tried with a handshake as of a call. */
interface AgentProbeOptions {
  readonly clock: Clock;
  readonly env: Env;
  readonly readBytes: (path: string, most: number) => Uint8Array | undefined;
}

/** One attempt for each process, all of them at once. */
function tryAgents(definition: AgentDefinition, options: AgentProbeOptions): Promise<Tried>[] {
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

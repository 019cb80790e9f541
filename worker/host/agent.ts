/** What a worker's calls run on: the agent file as the supervisor read it, and the adapters of the providers that it names. */
import { present } from '../../shared/base/present.ts';
import { assert } from '../../shared/base/assert.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import { loadAgentFile, takesSessions } from '../../shared/config/load.ts';
import { hashOf, type NamedFiles } from '../../shared/agents/version.ts';
import type { WorkerSetup } from '../../shared/protocol/ipc.ts';
import { importPackage } from '../../shared/runtime/packages.ts';
import type { Packages } from '../../shared/config/stages/package.ts';
import type { RealtimeModel } from '../stages/realtime/contract.ts';
import { loadAdapters, loadRealtime } from '../stages/registry.ts';
import { stageDefinitions } from './definition.ts';

interface AgentSource extends Pick<WorkerSetup, 'agentText' | 'files'> {
  /** Absent: it is the operator's own. */
  readonly tenant?: string | undefined;
}

/** A tenant's agent has what was read for it, and nothing of the service. */
const envOf = ({ files: { secrets }, tenant }: AgentSource): NodeJS.ProcessEnv =>
  tenant === undefined ? { ...process.env, ...secrets } : { ...secrets };

/** The agent file as the supervisor read it. */
function readDefinition(source: AgentSource, packages: Packages): AgentDefinition {
  const { agentText, files } = source;
  const { definition } = loadAgentFile(agentText, {
    env: envOf(source),
    hasSessions: takesSessions(process.env),
    packages,
    ...present({ reach: files.reach }),
    readFile: (path) => files.texts[path],
    readBytes: (path) => {
      const recording = files.recordings[path];
      return recording === undefined ? undefined : Buffer.from(recording, 'base64');
    },
    requireSecrets: true,
  });
  assert(definition !== undefined, 'the agent file is as valid here as it was for the supervisor');
  return definition;
}

/** The modules of the packages that the supervisor found. */
async function loadPackages({ packages = {} }: NamedFiles): Promise<Packages> {
  const loaded = Object.entries(packages).map(
    async ([name, address]) => [name, await importPackage(address)] as const,
  );
  return new Map(await Promise.all(loaded));
}

export interface LoadedAgent {
  readonly definition: AgentDefinition;
  /** Hash of what it consists of. */
  readonly version: string;
  readonly adapters: Awaited<ReturnType<typeof loadAdapters>>;
  /** The model that hears and speaks by itself, where the agent has one. */
  readonly realtime?: RealtimeModel | undefined;
  /** What the file was read with, for calls that have something of it otherwise. */
  readonly env: NodeJS.ProcessEnv;
  readonly packages: Packages;
}

/** The definition alone, with the packages that it names. */
export async function readAgent(
  source: AgentSource,
): Promise<{ readonly definition: AgentDefinition; readonly packages: Packages }> {
  const packages = await loadPackages(source.files);
  return { definition: readDefinition(source, packages), packages };
}

/** `hash`: of the version; absent: of an agent of the operator's own. @throws Error as {@link loadAdapters} does. */
export async function loadAgent(setup: AgentSource, hash?: string): Promise<LoadedAgent> {
  const { definition, packages } = await readAgent(setup);
  const definitions = stageDefinitions(definition);
  const { realtime } = definitions;
  return {
    definition,
    version: hash ?? hashOf(definition.agent.name, { text: setup.agentText, files: setup.files }),
    adapters: await loadAdapters(definitions, packages),
    realtime: realtime && (await loadRealtime(realtime, packages)),
    env: envOf(setup),
    packages,
  };
}

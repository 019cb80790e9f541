/** What a worker's calls run on: the agent file as the supervisor read it, and the adapters of the providers that it names. */
import { assert } from '../../shared/base/assert.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import { loadAgentFile } from '../../shared/config/load.ts';
import type { NamedFiles } from '../../shared/agents/version.ts';
import type { WorkerSetup } from '../../shared/protocol/ipc.ts';
import { importPackage } from '../../shared/runtime/packages.ts';
import type { Packages } from '../../shared/config/stages/package.ts';
import { loadAdapters } from '../stages/registry.ts';
import { stageDefinitions } from './definition.ts';

/** The agent file as the supervisor read it. */
type AgentGiven = Pick<WorkerSetup, 'agentText' | 'files'>;

function readDefinition({ agentText, files }: AgentGiven, packages: Packages): AgentDefinition {
  const { definition } = loadAgentFile(agentText, {
    env: process.env,
    packages,
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
  readonly adapters: Awaited<ReturnType<typeof loadAdapters>>;
  /** What the file was read with, for calls that have something of it otherwise. */
  readonly env: NodeJS.ProcessEnv;
  readonly packages: Packages;
}

/** @throws Error as {@link loadAdapters} does. */
export async function loadAgent(setup: AgentGiven): Promise<LoadedAgent> {
  const packages = await loadPackages(setup.files);
  const definition = readDefinition(setup, packages);
  const adapters = await loadAdapters(stageDefinitions(definition), packages);
  return { definition, adapters, env: process.env, packages };
}

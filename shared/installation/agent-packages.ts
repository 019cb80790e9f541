/**
 * The packages with providers that an agent file names. They are looked for beside the file and beside the service, and loaded here so
 * that their rules judge the file; stages are opened by workers alone.
 */
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fail } from '../base/result.ts';
import { packagesIn, type LoadedPackage, type Packages } from '../config/stages/package.ts';
import { findPackage, importPackage } from '../runtime/packages.ts';

export interface AgentPackages {
  readonly packages: Packages;
  /** Where the module of each package is, for workers. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** Of a file that must not have any: each of them is refused. */
export const packagesOfNobody = (agentText: string): AgentPackages => ({
  packages: new Map(
    packagesIn(agentText).map((provider) => [
      provider,
      fail('names a package, which a tenant may where allow.programs of its tenant file says so'),
    ]),
  ),
  addresses: {},
});

/** `agentPath` is where the text was read. */
export async function loadAgentPackages(agentText: string, agentPath: string): Promise<AgentPackages> {
  const folders = [dirname(resolve(agentPath)), dirname(fileURLToPath(import.meta.url))];
  const packages = new Map<string, LoadedPackage>();
  const addresses: Record<string, string> = {};
  for (const provider of packagesIn(agentText)) {
    const found = findPackage(provider.slice('npm:'.length), folders);
    const loaded = found.ok ? await importPackage(found.value) : found;
    packages.set(provider, loaded.ok ? loaded : fail(`names a package that ${loaded.error}`));
    if (found.ok) addresses[provider] = found.value;
  }
  return { packages, addresses };
}

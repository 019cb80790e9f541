/**
 * The folder of agents as it lies on the disk: which files are agents and whose, and what each of them consists of. No file of another tenant is
 * read for an agent, nothing that is no plain file, and nothing beyond a bounded size.
 */
import { readdirSync, realpathSync, statSync, type BigIntStats } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { AgentDefinition } from '../config/agent-file.ts';
import { present } from '../base/present.ts';
import { agentIdOf, hashOf, type AgentVersion, type NamedFiles } from '../agents/version.ts';
import { loadAgentFile, takesSessions } from '../config/load.ts';
import { showProblem, type Problem } from '../config/problem.ts';
import {
  checkTenantRules,
  reachOf,
  readTenantFile,
  strictTenant,
  tenantFileEnd,
  type TenantReading,
  type TenantSettings,
} from '../agents/tenant-file.ts';
import { loadAgentPackages, packagesOfNobody } from './agent-packages.ts';
import { AgentSecrets, type Environment } from './agent-secrets.ts';
import { readBytes, reasonOfFile, whyUnreadable } from './named-files.ts';

const mostAgents = 10_000;
/** No tenant takes the place of all others. */
const mostOfTenant = 1_000;
const mostAgentBytes = 1_048_576;
const tenantForm = /^[A-Za-z0-9_-]{1,64}$/;
/** Scripts of rehearsals may lie beside the agents that they rehearse. */
const isAgentName = (name: string): boolean =>
  name.endsWith('.toml') &&
  !name.startsWith('.') &&
  !name.endsWith('.rehearsal.toml') &&
  !name.endsWith(tenantFileEnd);

/** An agent file and where it belongs. */
export interface AgentPlace {
  readonly path: string;
  /** As people are told of it: relative to the folder of agents. */
  readonly shown: string;
  readonly tenant?: string;
  /** The folder that it may take files from; absent: every one. */
  readonly within?: string;
  /** Where the operator says of its tenant what it may, if anything. */
  readonly tenantFile?: string;
}

export interface AgentsFolder {
  readonly places: readonly AgentPlace[];
  /** What lies there and cannot be an agent or a tenant, with the reason. */
  readonly unusable: readonly { readonly shown: string; readonly why: string }[];
  /** Folders whose content counts. */
  readonly folders: readonly string[];
}

/** @throws Error of the file system where the folder itself cannot be read. */
export function listAgents(dir: string): AgentsFolder {
  const places: AgentPlace[] = [];
  const unusable: AgentsFolder['unusable'][number][] = [];
  const folders = [dir];
  const add = (folder: string, tenant?: string): void => {
    const most = tenant === undefined ? mostAgents : Math.min(mostAgents, places.length + mostOfTenant);
    const tenants: (readonly [path: string, name: string])[] = [];
    for (const name of readdirSync(folder).toSorted()) {
      const path = join(folder, name);
      const shown = relative(dir, path);
      if (isAgentName(name) && places.length < most)
        places.push({ path, shown, within: folder, ...ofTenant(tenant) });
      else if (name.endsWith(tenantFileEnd)) addTenantFile(name, { shown, tenant });
      else if (isAgentName(name)) unusable.push({ shown, why: tooMany(tenant) });
      else if (tenant === undefined && !name.startsWith('.') && isFolder(path)) tenants.push([path, name]);
    }
    for (const one of tenants) addTenant(...one);
  };
  const ofTenant = (tenant: string | undefined): Partial<AgentPlace> =>
    tenant === undefined ? {} : { tenant, tenantFile: join(dir, `${tenant}${tenantFileEnd}`) };
  const addTenantFile = (
    name: string,
    { shown, tenant }: { readonly shown: string; readonly tenant: string | undefined },
  ): void => {
    // A tenant may have the right to write its folder.
    if (tenant !== undefined)
      unusable.push({ shown, why: 'what a tenant may is said beside its folder, not in it' });
    else if (!isFolder(join(dir, name.slice(0, -tenantFileEnd.length))))
      unusable.push({ shown, why: 'there is no folder of this tenant' });
  };
  const addTenant = (path: string, name: string): void => {
    if (!tenantForm.test(name)) {
      unusable.push({ shown: name, why: 'a tenant has 1 to 64 letters, digits, _ or - in its name' });
      return;
    }
    folders.push(path);
    try {
      add(path, name);
    } catch (error) {
      unusable.push({ shown: name, why: reasonOfFile(error) });
    }
  };
  add(dir);
  const sorted = places.toSorted((one, other) => (one.shown < other.shown ? -1 : 1));
  return { places: sorted, unusable, folders };
}

const tooMany = (tenant: string | undefined): string =>
  tenant === undefined
    ? `there are more than ${mostAgents} agents`
    : `its tenant has more than ${mostOfTenant} agents, or all have more than ${mostAgents}`;

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** An agent as it was read, or what is wrong with it. */
export interface AgentReading {
  readonly version?: AgentVersion;
  readonly definition?: AgentDefinition;
  readonly problems: readonly Problem[];
  /** Why the file itself cannot be read, where that is so. */
  readonly unreadable?: string;
  /** Files that it names, whether they are there or not. */
  readonly named: readonly string[];
}

/** Why a file may not be read for an agent of this place; undefined where it may. */
function whyOutside(path: string, within: string | undefined): string | undefined {
  if (within === undefined) return undefined;
  try {
    // A file that stands for a device or for another program is never read: it may have no end.
    if (!statSync(path).isFile()) return 'it is no file';
    const isInside = realpathSync(path).startsWith(realpathSync(within) + sep);
    return isInside ? undefined : 'it lies outside of the folder of its tenant';
  } catch (error) {
    return reasonOfFile(error);
  }
}

const ofFile = (message: string): Problem => ({ severity: 'error', path: '', line: 1, column: 1, message });

export interface ReadAgentOptions {
  readonly requireSecrets: boolean;
  /** SVC_SECRETS_DIR. */
  readonly secretsDir?: string | undefined;
}

/** What the operator says of the tenant of an agent; a file that is wrong lets the agent be nothing. */
function tenantOfPlace({ tenant, tenantFile }: AgentPlace): TenantReading & { readonly text?: string } {
  if (tenant === undefined || tenantFile === undefined) return { settings: strictTenant, problems: [] };
  const bytes = readBytes(tenantFile, mostAgentBytes);
  if (bytes === undefined) {
    const isThere = statSync(tenantFile, { throwIfNoEntry: false }) !== undefined;
    const problem = ofFile(`${tenant}${tenantFileEnd} cannot be read: ${whyUnreadable(tenantFile)}`);
    return isThere ? { problems: [problem] } : { settings: strictTenant, problems: [] };
  }
  const text = Buffer.from(bytes).toString('utf8');
  const { settings, problems } = readTenantFile(text);
  const wrong = problems
    .filter(({ severity }) => severity === 'error')
    .map((problem) => ofFile(showProblem(`${tenant}${tenantFileEnd}`, problem)));
  return { text, problems: wrong, ...present({ settings }) };
}

/** Reads an agent and every file that it names, once. */
export async function readAgentAt(
  place: AgentPlace,
  env: Environment,
  options: ReadAgentOptions,
): Promise<AgentReading> {
  const { tenantFile } = place;
  const tenant = tenantOfPlace(place);
  const { settings } = tenant;
  const secrets = new AgentSecrets({
    env,
    dir: options.secretsDir,
    tenant: place.tenant,
    allowed: settings?.env ?? [],
  });
  const reading =
    settings === undefined
      ? { problems: tenant.problems, named: [] }
      : await readAgentOf(place, {
          ...options,
          settings,
          secrets,
          tenantText: tenant.text,
          hasSessions: takesSessions(env),
        });
  return {
    ...reading,
    named: [...reading.named, ...secrets.paths, ...(tenantFile === undefined ? [] : [tenantFile])],
  };
}

interface AgentSite extends ReadAgentOptions {
  readonly settings: TenantSettings;
  readonly tenantText: string | undefined;
  readonly secrets: AgentSecrets;
  readonly hasSessions: boolean;
}

async function readAgentOf(
  { path, tenant, within }: AgentPlace,
  { requireSecrets, settings, tenantText, secrets, hasSessions }: AgentSite,
): Promise<AgentReading> {
  const why = whyOutside(path, within);
  const bytes = why === undefined ? readBytes(path, mostAgentBytes) : undefined;
  if (bytes === undefined) {
    const unreadable = why ?? whyUnreadable(path);
    return { problems: [ofFile(`the file cannot be read: ${unreadable}`)], unreadable, named: [] };
  }
  if (bytes.length > mostAgentBytes)
    return { problems: [ofFile(`the file has more than ${mostAgentBytes} bytes`)], named: [] };
  const text = Buffer.from(bytes).toString('utf8');
  const named: string[] = [];
  const texts: Record<string, string> = {};
  const recordings: Record<string, string> = {};
  const placeOf = (name: string): string => {
    const place = resolve(dirname(path), name);
    named.push(place);
    return place;
  };
  const read = (name: string, most: number): Uint8Array | undefined => {
    const place = placeOf(name);
    return whyOutside(place, within) === undefined ? readBytes(place, most) : undefined;
  };
  const mayLoad = tenant === undefined || settings.programs;
  const { packages, addresses } = mayLoad ? await loadAgentPackages(text, path) : packagesOfNobody(text);
  const { definition, problems } = loadAgentFile(text, {
    packages,
    env: secrets.env,
    requireSecrets,
    hasSessions,
    ...(tenant !== undefined && { rules: (tree, list) => checkTenantRules(tree, settings, list) }),
    readFile: (name) => {
      const content = read(name, mostAgentBytes);
      if (content !== undefined) texts[name] = Buffer.from(content).toString('utf8');
      return texts[name];
    },
    readBytes: (name, most) => {
      const content = read(name, most);
      if (content !== undefined) recordings[name] = Buffer.from(content).toString('base64');
      return content;
    },
    whyUnreadable: (name) =>
      whyOutside(resolve(dirname(path), name), within) ?? whyUnreadable(resolve(dirname(path), name)),
  });
  if (definition === undefined) return { problems, named };
  const files: NamedFiles = {
    texts,
    recordings,
    packages: addresses,
    secrets: secrets.found,
    ...(tenant !== undefined && { reach: reachOf(settings) }),
  };
  const { name } = definition.agent;
  const version: AgentVersion = {
    id: agentIdOf(tenant, name),
    hash: hashOf(agentIdOf(tenant, name), { text, files }, tenantText),
    name,
    ...(tenant !== undefined && { tenant }),
    text,
    files,
    routing: definition.routing,
    ...present({ limits: definition.limits, tenantLimits: settings.limits }),
  };
  return { version, definition, problems, named };
}

/** What tells one state of some files from another without reading them, and when the newest of them changed, in Unix milliseconds. */
export function stampOf(paths: readonly string[]): { readonly stamp: string; readonly changedMs: number } {
  let changedMs = 0;
  const stamp = paths
    .map((path) => {
      const found: BigIntStats | undefined = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (found === undefined) return '-';
      changedMs = Math.max(changedMs, Number(found.mtimeMs), Number(found.ctimeMs));
      return `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
    })
    .join();
  return { stamp, changedMs };
}

/**
 * What happens after calls, by the version of the agent that they began with. Each version lies on the disk as long as something may need it:
 * a call, its events or its analysis may outlast the supervisor that knew the version. Secrets lie nowhere: the supervisor tells them, and of a
 * version that it does not know any more they are read where its agent file would have them from.
 */
import { tenantReach } from '../shared/agents/takeover.ts';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { present } from '../shared/base/present.ts';
import { AgentSecrets } from '../shared/installation/agent-secrets.ts';
import type { AfterCallSetup, AfterCallVersions } from '../shared/calls/messages.ts';
import type { RecordedAgent } from '../shared/calls/record.ts';
import { callEvents } from '../shared/calls/webhooks/events.ts';
import type { WallClock } from '../shared/runtime/clock.ts';
import type { Endpoint } from './webhooks/webhooks.ts';

/** Events of a call are sent for three days, and a call may last for one. */
const keptMs = 5 * 86_400_000;
const mostCached = 256;
const extension = '.json';

const texts = z.record(z.string(), z.string());
const setupSchema = z.object({
  agent: z.string(),
  version: z.string(),
  tenant: z.string().exactOptional(),
  variables: z.array(z.string()),
  endpoints: z.array(
    z.object({
      url: z.string(),
      secretEnv: z.array(z.string()),
      events: z.array(z.enum(callEvents)),
      allowPrivate: z.boolean(),
    }),
  ),
  recordUrl: z.string().exactOptional(),
  analysis: z
    .object({
      agentText: z.string(),
      files: z.object({
        texts,
        recordings: texts,
        packages: texts.exactOptional(),
        reach: tenantReach.exactOptional(),
      }),
      tenant: z.string().exactOptional(),
      timeoutMs: z.number(),
    })
    .exactOptional(),
});

export interface VersionsOptions {
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** SVC_SECRETS_DIR. */
  readonly secretsDir?: string | undefined;
  readonly wallClock: WallClock;
}

export class KeptVersions {
  readonly #options: VersionsOptions;
  /** As the supervisor has told them, and as they were read from the disk. */
  readonly #told = new Map<string, AfterCallSetup>();
  readonly #cached = new Map<string, AfterCallSetup>();
  #kept: ReadonlySet<string> = new Set();
  #inForce: ReadonlyMap<string, string> = new Map();

  constructor(options: VersionsOptions) {
    this.#options = options;
    mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  }

  /** @throws where the disk does not take a version; this process knows it all the same. */
  know({ versions, kept, inForce }: AfterCallVersions): void {
    this.#kept = new Set(kept);
    this.#inForce = new Map(inForce.map(({ id, hash }) => [id, hash]));
    for (const version of this.#told.keys()) if (!this.#kept.has(version)) this.#told.delete(version);
    for (const setup of versions) this.#told.set(setup.version, setup);
    for (const setup of versions) this.#write(setup);
  }

  /** Undefined where nothing happens after calls of this version. */
  of({ name, version }: RecordedAgent): AfterCallSetup | undefined {
    if (version === undefined) return undefined;
    const setup = this.#told.get(version) ?? this.#cached.get(version) ?? this.#read(version);
    return setup?.agent === name ? setup : undefined;
  }

  /**
   * The endpoints of a version, with its secrets. Where the agent has another one by now that tells the same endpoint, its secrets are there as
   * well: who changes a secret changes that of events that wait.
   */
  endpointsOf(agent: RecordedAgent): readonly Endpoint[] {
    const { name } = agent;
    const setup = this.of(agent);
    if (setup === undefined) return [];
    const hash = this.#inForce.get(name);
    const newest =
      hash === undefined || hash === setup.version ? undefined : this.of({ name, version: hash });
    return setup.endpoints.map(({ url, secretEnv, events, allowPrivate }) => {
      const other = newest?.endpoints.find((one) => one.url === url);
      const secrets = [
        ...this.#valuesOf(setup, secretEnv),
        ...(newest === undefined ? [] : this.#valuesOf(newest, other?.secretEnv ?? [])),
      ];
      return { agent: name, url, secrets: [...new Set(secrets)], events, allowPrivate };
    });
  }

  /** A tenant has its own secrets alone. */
  #valuesOf({ tenant, secrets }: AfterCallSetup, variables: readonly string[]): string[] {
    const { env } = this.#options;
    return variables.flatMap((name) => secrets[name] ?? (tenant === undefined ? env[name] : undefined) ?? []);
  }

  /** Deletes what nothing can need any more. */
  tidy(): void {
    const { dir, wallClock } = this.#options;
    const now = wallClock.now();
    for (const file of readdirSync(dir)) {
      const path = join(dir, file);
      if (this.#kept.has(file.slice(0, -extension.length))) utimesSync(path, now / 1000, now / 1000);
      else if (now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > keptMs)
        rmSync(path, { force: true });
    }
  }

  #write(setup: AfterCallSetup): void {
    const path = this.#path(setup.version);
    // A version is named by its content.
    if (existsSync(path)) return;
    const unfinished = `${path}.${process.pid}.part`;
    writeFileSync(unfinished, JSON.stringify(withoutSecrets(setup)), { mode: 0o600 });
    renameSync(unfinished, path);
  }

  #read(version: string): AfterCallSetup | undefined {
    const path = this.#path(version);
    if (!/^[0-9a-f]{1,64}$/.test(version) || !existsSync(path)) return undefined;
    const read = setupSchema.safeParse(jsonIn(readFileSync(path, 'utf8')));
    if (!read.success) return undefined;
    const setup = this.#withSecrets(read.data);
    this.#cache(setup);
    return setup;
  }

  #withSecrets({ variables, analysis, ...kept }: z.output<typeof setupSchema>): AfterCallSetup {
    const { env, secretsDir: dir } = this.#options;
    // Only the tenant's file says which other things the service had let the tenant have.
    const found = new AgentSecrets({ env, dir, tenant: kept.tenant, allowed: [] });
    for (const name of variables) Reflect.get(found.env, name);
    const secrets = { ...found.found };
    if (analysis === undefined) return { ...kept, secrets };
    return { ...kept, secrets, analysis: { ...analysis, files: { ...analysis.files, secrets } } };
  }

  #cache(setup: AfterCallSetup): void {
    this.#cached.delete(setup.version);
    this.#cached.set(setup.version, setup);
    const [oldest] = this.#cached.keys();
    if (oldest !== undefined && this.#cached.size > mostCached) this.#cached.delete(oldest);
  }

  #path(version: string): string {
    return join(this.#options.dir, `${version}${extension}`);
  }
}

/** As it lies on the disk: names of variables in the place of what they stand for. */
function withoutSecrets({ secrets, analysis, ...setup }: AfterCallSetup): object {
  const kept = { ...setup, variables: Object.keys(secrets) };
  if (analysis === undefined) return kept;
  const { texts: named, recordings, packages, reach } = analysis.files;
  return {
    ...kept,
    analysis: { ...analysis, files: present({ texts: named, recordings, packages, reach }) },
  };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

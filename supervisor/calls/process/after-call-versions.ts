/**
 * What happens after calls, by the version of the agent that they began with. Each version lies on the disk as long as something may need it:
 * a call, its events or its analysis may outlast the supervisor that knew the version. Secrets are read from the environment and lie nowhere.
 */
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
import type { AfterCallSetup, AfterCallVersions } from '../../../shared/calls/messages.ts';
import type { RecordedAgent } from '../../../shared/calls/record.ts';
import { callEvents } from '../../../shared/calls/webhooks/events.ts';
import type { WallClock } from '../../../shared/runtime/clock.ts';
import type { Endpoint } from './webhooks/webhooks.ts';

/** Events of a call are sent for three days, and a call may last for one. */
const keptMs = 5 * 86_400_000;
const mostCached = 256;
const extension = '.json';

const texts = z.record(z.string(), z.string());
const setupSchema = z.object({
  agent: z.string(),
  version: z.string(),
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
      files: z.object({ texts, recordings: texts, packages: texts.exactOptional() }),
      timeoutMs: z.number(),
    })
    .exactOptional(),
});

export interface VersionsOptions {
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly wallClock: WallClock;
}

export class KeptVersions {
  readonly #options: VersionsOptions;
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
    for (const setup of versions) this.#cache(setup);
    for (const setup of versions) this.#write(setup);
  }

  /** Undefined where nothing happens after calls of this version. */
  of({ name, version }: RecordedAgent): AfterCallSetup | undefined {
    if (version === undefined) return undefined;
    const setup = this.#cached.get(version) ?? this.#read(version);
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
    const present =
      hash === undefined || hash === setup.version ? undefined : this.of({ name, version: hash });
    return setup.endpoints.map(({ url, secretEnv, events, allowPrivate }) => {
      const other = present?.endpoints.find((one) => one.url === url);
      const secrets = [...secretEnv, ...(other?.secretEnv ?? [])].flatMap(
        (variable) => this.#options.env[variable] ?? [],
      );
      return { agent: name, url, secrets: [...new Set(secrets)], events, allowPrivate };
    });
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
    writeFileSync(unfinished, JSON.stringify(setup), { mode: 0o600 });
    renameSync(unfinished, path);
  }

  #read(version: string): AfterCallSetup | undefined {
    const path = this.#path(version);
    if (!/^[0-9a-f]{1,64}$/.test(version) || !existsSync(path)) return undefined;
    const read = setupSchema.safeParse(jsonIn(readFileSync(path, 'utf8')));
    if (!read.success) return undefined;
    this.#cache(read.data);
    return read.data;
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

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

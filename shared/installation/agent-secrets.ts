/**
 * The environment that an agent file is read with. A secret is a file of its name (SVC_SECRETS_DIR), as Kubernetes and systemd mount them; a
 * tenant's lie in the folder of its name, and it has no others but those that the operator lets it have.
 */
import { join } from 'node:path';
import { readBytes } from './named-files.ts';

const mostSecretBytes = 65_536;
const nameForm = /^[A-Z_][A-Z0-9_]{0,127}$/;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface SecretsSite {
  readonly env: Environment;
  /** Absent: there are no such files. */
  readonly dir?: string | undefined;
  readonly tenant?: string | undefined;
  /** Variables of the service that the tenant may have. */
  readonly allowed: readonly string[];
}

export class AgentSecrets {
  readonly #site: SecretsSite;
  /** What was found, by name, where it is not what the whole service has. */
  readonly found: Record<string, string> = {};
  /** Files that were looked for, whether they are there or not. */
  readonly paths: string[] = [];
  readonly #read = new Map<string, string | undefined>();
  /** Reads what is asked for, once. */
  readonly env: Environment = new Proxy(
    {},
    { get: (_, name) => (typeof name === 'string' ? this.#take(name) : undefined) },
  );

  constructor(site: SecretsSite) {
    this.#site = site;
  }

  #take(name: string): string | undefined {
    if (!this.#read.has(name)) this.#read.set(name, this.#find(name));
    return this.#read.get(name);
  }

  #find(name: string): string | undefined {
    const { env, tenant, allowed } = this.#site;
    const kept = this.#ofFile(name);
    const value = kept ?? (tenant === undefined || allowed.includes(name) ? env[name] : undefined);
    if (value !== undefined && (kept !== undefined || tenant !== undefined)) this.found[name] = value;
    return value;
  }

  #ofFile(name: string): string | undefined {
    const { dir, tenant } = this.#site;
    // A setting of the service is no secret of an agent.
    if (dir === undefined || !nameForm.test(name) || name.startsWith('SVC_')) return undefined;
    const path = join(dir, tenant ?? '', name);
    this.paths.push(path);
    const bytes = readBytes(path, mostSecretBytes);
    if (bytes === undefined || bytes.length > mostSecretBytes) return undefined;
    // Editors and `echo` end a file with a line's end.
    return Buffer.from(bytes)
      .toString('utf8')
      .replace(/\r?\n$/, '');
  }
}

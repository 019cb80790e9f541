/**
 * The tool servers of a worker. Agents of one tenant that say the same of a server have one connection to it, or one process, and so have two
 * versions of an agent; it ends with the last of them. Tenants never share one.
 */
import { createHash } from 'node:crypto';
import type { McpDefinition } from '../../../shared/config/agent/mcp.ts';
import type { Sensitive } from '../../../shared/config/sensitive.ts';
import { McpServer, type McpOptions } from './server.ts';

interface Shared {
  readonly server: McpServer;
  /** Told when the server lists other tools, one for each agent that has it. */
  readonly users: Set<() => void>;
  started: Promise<void> | undefined;
}

/** A server in the hands of one agent. */
export interface SharedServer {
  readonly server: McpServer;
  /** Done after the first attempt or its time, whatever came of it. */
  readonly start: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export class ToolServers {
  readonly #shared = new Map<string, Shared>();

  /** `owner`: the tenant; undefined: the operator. */
  take(definition: McpDefinition, owner: string | undefined, options: McpOptions): SharedServer {
    const key = keyOf(definition, owner, options.isPublicOnly === true);
    const shared = this.#shared.get(key) ?? newShared(definition, options);
    this.#shared.set(key, shared);
    const user = (): void => options.changed();
    shared.users.add(user);
    return {
      server: shared.server,
      start: () => (shared.started ??= shared.server.start()),
      close: async () => {
        if (!shared.users.delete(user) || shared.users.size > 0) return;
        this.#shared.delete(key);
        await shared.server.close();
      },
    };
  }
}

function newShared(definition: McpDefinition, options: McpOptions): Shared {
  const users = new Set<() => void>();
  const changed = (): void => {
    for (const user of users) user();
  };
  return { server: new McpServer(definition, { ...options, changed }), users, started: undefined };
}

const revealed = (secrets: ReadonlyMap<string, Sensitive<string>>): readonly (readonly [string, string])[] =>
  [...secrets].map(([name, secret]) => [name, secret.reveal()] as const);

/** Of everything that is said of the server, and by whom. */
function keyOf({ from, ...rest }: McpDefinition, owner: string | undefined, isPublicOnly: boolean): string {
  const source =
    'url' in from ? [from.url, revealed(from.secretHeaders)] : [from.command, revealed(from.env)];
  const content = JSON.stringify([owner ?? null, isPublicOnly, source, rest]);
  return createHash('sha256').update(content).digest('hex');
}

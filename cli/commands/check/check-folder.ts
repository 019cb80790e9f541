/**
 * The command `check DIR`: reads every agent of a folder as the service would (SVC_AGENTS_DIR), opens nothing, and prints every problem with its
 * place, those between agents among them.
 */
import { join } from 'node:path';
import { claimsOf } from '../../../shared/agents/claims.ts';
import { agentIdOf, type AgentVersion } from '../../../shared/agents/version.ts';
import { unknownVariables } from '../../../shared/config/server/server.ts';
import { showProblem } from '../../../shared/config/problem.ts';
import { listAgents, readAgentAt } from '../../../shared/installation/agents-folder.ts';
import { reasonOfFile } from '../../../shared/installation/named-files.ts';

export interface CheckFolderOptions {
  readonly requireSecrets: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Takes one line without its end. */
  readonly write: (line: string) => void;
}

/** Returns the exit status: 0 where every agent is right, 1 otherwise. */
export async function runCheckFolder(dir: string, options: CheckFolderOptions): Promise<0 | 1> {
  const { requireSecrets, env, write } = options;
  for (const warning of unknownVariables(env)) write(`warning: ${warning}`);
  const found = list(dir);
  if (typeof found === 'string') {
    write(`${dir}: error: the folder cannot be read: ${found}`);
    return 1;
  }
  if (found.places.length === 0 && found.unusable.length === 0) {
    write(`${dir}: error: the folder holds no agent: an agent is a .toml file in it, or in a folder of it`);
    return 1;
  }
  let wrong = 0;
  const agents = new Map<string, AgentVersion>();
  for (const { shown, why } of found.unusable) {
    wrong += 1;
    write(`${join(dir, shown)}: error: ${why}`);
  }
  for (const place of found.places) {
    const { version, problems } = await readAgentAt(place, env, {
      requireSecrets,
      secretsDir: env['SVC_SECRETS_DIR'],
    });
    for (const problem of problems) write(showProblem(place.path, problem));
    if (version === undefined) wrong += 1;
    else agents.set(place.path, version);
  }
  const between = problemsBetween(agents);
  for (const line of between) write(line);
  wrong += between.filter((line) => line.includes(': error: ')).length;
  write(
    `${dir}: ${counted(found.places.length, 'agent')}, ${wrong === 0 ? 'all valid' : counted(wrong, 'error')}`,
  );
  return wrong === 0 ? 0 : 1;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function list(dir: string): ReturnType<typeof listAgents> | string {
  try {
    return listAgents(dir);
  } catch (error) {
    return reasonOfFile(error);
  }
}

/** Problems between files that are right by themselves. */
function problemsBetween(agents: ReadonlyMap<string, AgentVersion>): string[] {
  const holders = new Map<string, string>();
  const lines: string[] = [];
  for (const [path, version] of agents)
    for (const { key, words } of claimsOf(version)) {
      const other = holders.get(key);
      if (other === undefined) holders.set(key, path);
      else lines.push(`${path}: error: ${words} is also that of ${other}`);
    }
  const ids = new Set([...agents.values()].map(({ id }) => id));
  for (const [path, { tenant, routing }] of agents)
    for (const { agent } of routing.splits)
      if (!ids.has(agentIdOf(tenant, agent)))
        lines.push(`${path}: warning: routing.split names an agent that is not there: its share stays`);
  return lines;
}

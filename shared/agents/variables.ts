/** The server variables of a service with many agents. Part of the list in `server.ts`. */
import { present } from '../base/present.ts';
import type { Reader } from '../config/server/environment.ts';
import { choiceVariable, optionalPathVariable } from '../config/server/variables.ts';

export interface AgentsSettings {
  readonly agents: {
    /** Absent: the service has one agent. */
    readonly dir?: string;
    /** What becomes of a call that names an agent which is not there. */
    readonly unknown: 'default' | 'refuse';
    /** Absent: secrets come from the environment alone. */
    readonly secrets?: string;
  };
}

export const agentsVariables = {
  agentsDir: optionalPathVariable(
    'SVC_AGENTS_DIR',
    'Folder of agent files: each *.toml in it is an agent beside that of SVC_AGENT_FILE, and each folder in it holds those of a tenant. Files are read again when they change.',
  ),
  agentUnknown: choiceVariable(
    'SVC_AGENT_UNKNOWN',
    'With SVC_AGENTS_DIR: what a call gets that names an agent which is not there, the agent of SVC_AGENT_FILE or a refusal.',
    { of: ['default', 'refuse'], fallback: 'default' },
  ),
  secretsDir: optionalPathVariable(
    'SVC_SECRETS_DIR',
    'Folder of secrets: a file of the name of a variable stands for that variable in agent files, and TENANT/NAME in those of a tenant. With SVC_AGENTS_DIR files are read again when they change.',
  ),
} as const;

export function takeAgents(reader: Reader): AgentsSettings {
  const { agentsDir: dir, agentUnknown: unknown, secretsDir: secrets } = reader.takeAll(agentsVariables);
  return { agents: { unknown, ...present({ dir, secrets }) } };
}

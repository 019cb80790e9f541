/** The server variables of the agent link (docs/reference/server-settings.md). They stand above the agent file's `[agent_link]`. */
import { present } from '../base/present.ts';
import { judgePlaintext, readAgentUrl, type AgentUrl } from '../config/agent-url.ts';
import { Reader, type Env } from '../config/server/environment.ts';
import type { Sensitive } from '../config/sensitive.ts';
import {
  optionalPathVariable,
  readVariable,
  secretVariable,
  switchVariable,
} from '../config/server/variables.ts';

export interface AgentLinkVariables {
  readonly url?: AgentUrl;
  readonly token?: Sensitive<string>;
  /** Absent: as the agent file says. */
  readonly callerIdentity?: boolean;
  /** ws:// is permitted everywhere. */
  readonly allowInsecure: boolean;
}

export interface AgentLinkSettings {
  readonly agentLink: AgentLinkVariables;
  /** Path of certificates that are trusted beside the public ones, for wss:// addresses of agents. */
  readonly agentCa?: string;
}

export const agentLinkVariables = {
  agentUrl: readVariable<AgentUrl | undefined>(
    'SVC_AGENT_URL',
    'Agent process that each call is connected to; overrides url in [agent_link].',
    {
      form: 'a ws:// or wss:// address, at most 2048 characters',
      defaultText: 'unset: as the agent file says',
      read: readAgentUrl,
      fallback: undefined,
      isSecret: true,
    },
  ),
  agentToken: secretVariable('SVC_AGENT_TOKEN', 'Bearer token for that process; not sent to routes.'),
  agentAllowInsecure: switchVariable(
    'SVC_AGENT_ALLOW_INSECURE',
    'Allows ws:// to agents outside the private network, with a warning for each.',
    false,
  ),
  agentCallerIdentity: switchVariable(
    'SVC_AGENT_CALLER_IDENTITY',
    "Sends the carrier's id of telephone calls to that process, and the numbers where SVC_REDACT_PHONE_NUMBERS is off. Not for routes.",
    false,
  ),
  agentTlsCa: optionalPathVariable(
    'SVC_AGENT_TLS_CA',
    'Certificates in PEM form that are trusted beside the public ones for wss:// agents: at most 16, 256 KiB.',
  ),
} as const;

export function takeAgentLink(reader: Reader): AgentLinkSettings {
  const variables = agentLinkVariables;
  const taken = reader.takeAll(variables);
  const { agentUrl: url, agentToken: token, agentAllowInsecure: allowInsecure, agentTlsCa: agentCa } = taken;
  const callerIdentity = reader.isSet(variables.agentCallerIdentity) ? taken.agentCallerIdentity : undefined;
  if (url !== undefined && judgePlaintext(url, { allowInsecure }).kind === 'refused')
    reader.refuse(
      variables.agentUrl,
      `must be a wss:// address; ws:// only to a host of the private network, or with ${variables.agentAllowInsecure.name}=1`,
    );
  return { agentLink: present({ url, token, callerIdentity, allowInsecure }), ...present({ agentCa }) };
}

/** What the start warns of. */
export function agentLinkWarnings({ agentLink: { url, allowInsecure } }: AgentLinkSettings): string[] {
  const verdict = url === undefined ? undefined : judgePlaintext(url, { allowInsecure });
  return verdict?.kind === 'warned' ? [`${agentLinkVariables.agentUrl.name} ${verdict.rule}`] : [];
}

/** The same for a process that has the environment alone, which was found valid before. */
export const agentLinkOf = (env: Env): AgentLinkVariables =>
  takeAgentLink(new Reader(env, { cores: 1 })).agentLink;

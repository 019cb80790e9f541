/** What the process that keeps records is told of `[after_call]`: its child reads the agent file itself, as workers do. */
import { present } from '../../shared/base/present.ts';
import type { AfterCallSetup, AfterCallVersions } from '../../shared/calls/messages.ts';
import { callsVariables } from '../../shared/calls/variables.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { AgentRef, AgentVersion } from '../../shared/agents/version.ts';

export interface AfterCallOfVersion {
  readonly version: AgentRef;
  readonly afterCall?: AfterCallSetup | undefined;
}

/** Undefined for a version after whose calls nothing happens. */
export function afterCallSetup(
  { afterCall }: Pick<AgentDefinition, 'afterCall'>,
  { id: agent, hash: version, tenant, text: agentText, files }: AgentVersion,
): AfterCallSetup | undefined {
  if (afterCall === undefined) return undefined;
  const { endpoints, recordUrl, analysis } = afterCall;
  const analyst = analysis && present({ agentText, files, tenant, timeoutMs: analysis.timeoutMs });
  const { secrets = {} } = files;
  return { agent, version, secrets, endpoints, ...present({ tenant, recordUrl, analysis: analyst }) };
}

/** Of a service of one agent. */
export const ownAfterCall = ({ version, afterCall }: AfterCallOfVersion): AfterCallVersions => ({
  versions: afterCall === undefined ? [] : [afterCall],
  kept: [version.hash],
  inForce: [{ id: version.id, hash: version.hash }],
});

/** Why nothing can happen after calls here; undefined when it can. */
export const whyNothingAfterCalls = (
  { calls }: Pick<ServerSettings, 'calls'>,
  { afterCall }: Pick<AgentDefinition, 'afterCall'>,
): string | undefined =>
  afterCall !== undefined && calls === undefined
    ? `${callsVariables.callsDb.name} must be set: the agent file has [after_call]`
    : undefined;

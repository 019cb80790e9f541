/** What the process that keeps records is told of `[after_call]`: its child reads the agent file itself, as workers do. */
import type { AfterCallSetup } from '../../shared/calls/messages.ts';
import { callsVariables } from '../../shared/calls/variables.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { AgentText } from '../../shared/agents/version.ts';

/** Undefined for an agent after whose calls nothing happens. */
export function afterCallSetup(
  { agent: { name: agent }, afterCall }: AgentDefinition,
  { text: agentText, files }: AgentText,
): AfterCallSetup | undefined {
  if (afterCall === undefined) return undefined;
  const { endpoints, recordUrl, analysis } = afterCall;
  return {
    endpoints: endpoints.map(({ url, secrets, events, allowPrivate }) => ({
      agent,
      url,
      secrets: secrets.map((secret) => secret.reveal()),
      events,
      allowPrivate,
    })),
    recordUrls: recordUrl === undefined ? {} : { [agent]: recordUrl },
    analyses: analysis === undefined ? {} : { [agent]: { agentText, files, timeoutMs: analysis.timeoutMs } },
  };
}

/** Why nothing can happen after calls here; undefined when it can. */
export const whyNothingAfterCalls = (
  { calls }: Pick<ServerSettings, 'calls'>,
  afterCall: AfterCallSetup | undefined,
): string | undefined =>
  afterCall !== undefined && calls === undefined
    ? `${callsVariables.callsDb.name} must be set: the agent file has [after_call]`
    : undefined;

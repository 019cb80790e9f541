/**
 * Brings what came with a call into the texts that its agent works with: the variables of prompts and of lines that are spoken.
 * Pure, and the same each time: a worker that takes a call up makes the same settings from the start that was written down.
 */
import { callTime } from '../../shared/agents/call-time.ts';
import { fillVariables, withCallFacts, type CallMetadata } from '../../shared/config/agent/call-variables.ts';
import { carrierKeys } from '../../shared/telephony/twilio/protocol.ts';
import { callerOf } from '../agent-link/caller-identity.ts';
import type { FlowNode } from '../core/flow/flow.ts';
import type { CallSettings } from '../core/settings.ts';
import { directionOf } from '../../shared/telephony/call-control.ts';
import type { AdmittedStart } from './admission.ts';
import type { CallServices } from './services.ts';

/** What can be filled in for a call. */
export function variablesOf(
  start: Pick<AdmittedStart, 'callId' | 'metadata' | 'at'>,
  {
    showsNumbers,
    timezone,
    settings,
  }: Pick<CallServices, 'showsNumbers' | 'timezone'> & {
    readonly settings: Pick<CallServices['settings'], 'languages'>;
  },
  variables?: CallMetadata,
): CallMetadata {
  const { callId: id, metadata } = start;
  const { carrier_call_id: carrierCallId, from, to } = callerOf(start, { showsNumbers }) ?? {};
  // Clients of the first listener have no label.
  const transport = metadata[carrierKeys.transport] ?? 'websocket';
  const [language = 'en'] = settings.languages;
  return withCallFacts(metadata, {
    transport,
    id,
    carrierCallId,
    from,
    to,
    variables,
    direction: directionOf(metadata),
    time: callTime(start.at, { language, timezone }),
  });
}

type Settings = Omit<CallSettings, 'tools'>;

/** The settings of one call: those of its agent, with the variables in them filled in. */
export function withVariables(settings: Settings, metadata: CallMetadata): Settings {
  const { flow } = settings;
  // In quotes the model sees where a caller's words begin and end.
  const prompt = (text: string): string => fillVariables(text, metadata, (value) => JSON.stringify(value));
  const nodeOf = (node: FlowNode): FlowNode => ({
    ...node,
    prompt: prompt(node.prompt),
    say: fillVariables(node.say, metadata),
  });
  return {
    ...settings,
    prompt: prompt(settings.prompt),
    greeting: fillVariables(settings.greeting, metadata),
    ...(settings.consent !== undefined && { consent: fillVariables(settings.consent, metadata) }),
    ...(flow !== undefined && {
      flow: {
        ...flow,
        nodes: Object.fromEntries(Object.entries(flow.nodes).map(([name, node]) => [name, nodeOf(node)])),
      },
    }),
  };
}

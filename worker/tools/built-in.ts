/**
 * The tools that come with the engine (docs/tools.md, Built-in tools). A call has those that its transport can do; the
 * core performs them. A number never gets to the LLM: destinations have names.
 */
import { fail, ok, type Result } from '../../shared/base/result.ts';
import { agentTool, summaryOf, type TeamDefinition } from '../../shared/agents/team.ts';
import { pauseTool, resumeTool } from '../../shared/config/agent/tool-names.ts';
import type { TelephonyDefinition } from '../../shared/telephony/agent-file.ts';
import { controlBudgetMs } from '../../shared/telephony/call-control.ts';
import { defaultCallLimits } from '../core/settings.ts';
import type { ToolRule } from '../core/tools/tools-state.ts';
import type { ToolDeclaration } from '../stages/stage.ts';
import type { CallControl } from './tool.ts';

export interface BuiltInTool {
  readonly declaration: ToolDeclaration;
  readonly rule: ToolRule;
  /** Rules beyond the schema: the arguments as they are used, or what is wrong with them. */
  readonly refine?: (given: Arguments) => Result<Arguments, string>;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Performed by the core in an instant; identical calls are its own business. */
export const coreRule: ToolRule = {
  kind: 'side_effect',
  timeoutMs: 5_000,
  fillerAfterMs: 0,
  confirm: false,
  repeatable: true,
};

/** While a carrier works the caller hears what is heard in any other silence. */
const carrierRule: ToolRule = { ...coreRule, fillerAfterMs: defaultCallLimits.fillerAfterMs };

/** What a carrier is given, beside the wait for the hand-off sentence. */
const carrierBudgetMs = controlBudgetMs + 2_000;

const endCall: BuiltInTool = {
  declaration: {
    name: 'end_call',
    description: 'Ends the call. Use it when the caller says goodbye or asks to hang up.',
    parameters: { type: 'object', properties: {} },
  },
  rule: coreRule,
};

const recordingTool = (name: string, description: string): BuiltInTool => ({
  declaration: { name, description, parameters: { type: 'object', properties: {} } },
  rule: coreRule,
});

const recordingTools: readonly BuiltInTool[] = [
  recordingTool(
    pauseTool,
    'Pauses the recording of this call. Use it before you ask for what must not be kept, such as the number of a card.',
  ),
  recordingTool(resumeTool, 'Goes on with the recording of this call, once what must not be kept was said.'),
];

function transferCall(telephony: TelephonyDefinition, { warm }: { readonly warm: boolean }): BuiltInTool {
  const modes = telephony.warmTransfer && warm ? ['cold', 'warm'] : ['cold'];
  const timeoutMs = telephony.transferTimeoutMs ?? telephony.settleTimeoutMs + carrierBudgetMs;
  const note = { type: 'string', maxLength: 512 };
  return {
    declaration: {
      name: 'transfer_call',
      description: 'Hands the caller over to somebody else. Tell the caller before you use it.',
      parameters: {
        type: 'object',
        properties: {
          destination: { type: 'string', enum: [...telephony.destinations.keys()] },
          mode: { type: 'string', enum: modes },
          summary: { ...note, description: 'What the destination should know.' },
          reason: note,
        },
        required: ['destination'],
        additionalProperties: false,
      },
    },
    // One transfer runs at a time and at most one succeeds; whether another may be tried is the core's to say.
    rule: { ...carrierRule, timeoutMs, outlives: true },
  };
}

const sendDtmf: BuiltInTool = {
  declaration: {
    name: 'send_dtmf',
    description: 'Presses keys of the phone. w waits half a second, W a whole one.',
    parameters: {
      type: 'object',
      properties: { digits: { type: 'string', pattern: '^[0-9A-Da-d*#wW]{1,32}$' } },
      required: ['digits'],
      additionalProperties: false,
    },
  },
  rule: { ...carrierRule, timeoutMs: carrierBudgetMs },
  refine: ({ digits }) => {
    const keys = typeof digits === 'string' ? digits.replace(/[A-D]/g, (key) => key.toLowerCase()) : '';
    if (!/[0-9a-d*#]/.test(keys)) return fail('digits must hold at least one key');
    return ok({ digits: keys });
  },
};

/** Longer than the core waits for the sentence before it and for the other agent. */
const agentChangeMs = 30_000;

/** Of whatever hands the caller to another agent. */
export const agentChangeRule: ToolRule = { ...carrierRule, timeoutMs: agentChangeMs, outlives: true };

function transferToAgent({ agents, context, farewell }: TeamDefinition): BuiltInTool {
  const members = Object.entries(agents).map(([name, what]) => `${name}: ${what}`);
  const before =
    farewell === ''
      ? 'Tell the caller in a short sentence before you use it.'
      : 'The caller is told: say nothing before it.';
  return {
    declaration: {
      name: agentTool,
      description: `Hands the caller over to another agent, who goes on with the call. ${before}`,
      parameters: {
        type: 'object',
        properties: {
          agent: { type: 'string', enum: Object.keys(agents), description: members.join('\n') },
          ...(context === 'summary' && {
            summary: {
              type: 'string',
              maxLength: 2_000,
              description: summaryOf,
            },
          }),
        },
        required: ['agent', ...(context === 'summary' ? ['summary'] : [])],
        additionalProperties: false,
      },
    },
    rule: agentChangeRule,
  };
}

/** The built-in tools of a call on such a transport. */
export function builtInTools(
  telephony: TelephonyDefinition,
  control: CallControl,
  { team, isRecorded }: { readonly team: TeamDefinition | undefined; readonly isRecorded: boolean },
): readonly BuiltInTool[] {
  const { transfer } = control;
  const canTransfer = transfer !== undefined && telephony.destinations.size > 0;
  return [
    endCall,
    ...(canTransfer ? [transferCall(telephony, transfer)] : []),
    ...(control.sendDtmf ? [sendDtmf] : []),
    ...(team === undefined ? [] : [transferToAgent(team)]),
    ...(isRecorded ? recordingTools : []),
  ];
}

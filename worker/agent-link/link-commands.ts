/** What an agent wants done, and how it is answered (docs/reference/agent-link.md, Agent to service). Pure. */
import { readCommand, type MessageFields } from '../../shared/agent-link/decode.ts';
import { agentLinkLimits as limits } from '../../shared/agent-link/limits.ts';
import type { AgentCommand } from '../../shared/agent-link/agent-messages.ts';
import type { AgentLinkFault } from '../../shared/agent-link/errors.ts';
import type { CallCommand } from '../core/commands.ts';
import type { CommandOutcome, ConversationEvent, RefusalCode } from '../core/told.ts';
import { admit, resultOf, settle } from './command-ids.ts';
import { sendToClient } from './link-client.ts';
import { report, say, type LinkStep } from './link-say.ts';
import { onToolResult } from './link-tools.ts';
import { ageOf } from './outbox.ts';

/** How the core is given ids, which it hands back: those of agents are told from those of others. */
const idPrefix = 'agent:';
/** Of a command without an id. */
const noId = 'agent';

export function onCommandText(step: LinkStep, fields: MessageFields): void {
  const read = readCommand(fields);
  switch (read.kind) {
    case 'result':
      noteHop(step, read.result.re);
      onToolResult(step, read.result);
      return;
    case 'command':
      onCommand(step, read.command);
      return;
    case 'fault':
      refuse(step, read.id, read.fault);
  }
}

function noteHop({ state, now, actions }: LinkStep, re: number | undefined): void {
  const ms = re === undefined ? undefined : ageOf(state.outbox, re, now);
  if (ms !== undefined) actions.push({ type: 'hop', ms });
}

function refuse(step: LinkStep, id: string | undefined, fault: AgentLinkFault): void {
  if (id === undefined) report(step, fault);
  else say(step, resultOf(id, fault));
}

function onCommand(step: LinkStep, command: AgentCommand): void {
  noteHop(step, command.re);
  const { state, actions } = step;
  const { id } = command;
  if (id !== undefined) {
    const known = admit(state.ids, id);
    if (known !== 'new') {
      if (known !== 'waits') say(step, known);
      return;
    }
  }
  if (command.type === 'client.send') {
    answerId(step, id, sendToClient(step, command));
    return;
  }
  const wanted = callCommand(command, state.settings.farewell);
  if ('code' in wanted) {
    answerId(step, id, wanted);
    return;
  }
  if (wanted.type === 'end') state.ends += 1;
  if ('reason' in command && command.reason !== undefined && command.reason !== '')
    actions.push({ type: 'reason', command: command.type, reason: command.reason });
  if (command.type === 'tools.set') noteUnknownTools(step, command.enabled ?? []);
  actions.push({ type: 'command', id: id === undefined ? noId : idPrefix + id, command: wanted });
}

/** A name that is no tool of the call changes nothing: the rest of the command is done, and the agent is told. */
function noteUnknownTools(step: LinkStep, names: readonly string[]): void {
  const unknown = names.flatMap((name, at) => (step.state.isTool(name) ? [] : [`[${at}]`]));
  if (unknown.length === 0) return;
  const shown = unknown.slice(0, limits.handshakeProblems).join(', ');
  report(step, {
    code: 'unknown_tool',
    message: `tools.set.enabled${shown}: no tool of the call has this name`,
  });
}

/** The command in the words of the core, or why it cannot be done. */
function callCommand(
  command: Exclude<AgentCommand, { type: 'client.send' }>,
  farewell: string,
): CallCommand | AgentLinkFault {
  switch (command.type) {
    case 'say':
      return { type: 'say', text: command.text, interrupt: command.interrupt, interruptible: true };
    case 'end':
      return { type: 'end', farewell: command.say ?? farewell };
    case 'transfer':
      return {
        type: 'transfer',
        destination: command.destination,
        mode: command.mode,
        summary: command.summary ?? '',
      };
    case 'context.update':
      return {
        type: 'edit',
        edit: {
          ...(command.system_prompt !== undefined && { systemPrompt: command.system_prompt }),
          ...(command.append !== undefined && { append: command.append }),
        },
      };
    case 'tools.set':
      return { type: 'edit', edit: { tools: command.enabled } };
  }
}

function answerId(step: LinkStep, id: string | undefined, fault: AgentLinkFault | undefined): void {
  if (id === undefined) {
    if (fault !== undefined) report(step, fault);
    return;
  }
  for (const result of settle(step.state.ids, id, fault)) say(step, result);
}

/** The core has answered a command. */
export function answerCommand(
  step: LinkStep,
  { id, command, outcome }: Extract<ConversationEvent, { type: 'command.answered' }>,
): void {
  if (id !== noId && id?.startsWith(idPrefix) !== true) return;
  if (command === 'end' && outcome.kind === 'refused') step.state.ends -= 1;
  if (outcome.kind === 'dropped' && id === noId) return;
  answerId(step, id === noId ? undefined : id.slice(idPrefix.length), faultOf(outcome));
}

const faultByRefusal: Readonly<Record<RefusalCode, AgentLinkFault>> = {
  empty: { code: 'invalid_message', message: 'say.text must not be empty' },
  too_long: { code: 'invalid_message', message: 'the text is too long' },
  queue_full: { code: 'queue_full' },
  call_ending: { code: 'call_ending' },
  call_over: { code: 'call_ending' },
  unsupported: { code: 'unsupported' },
  already_done: { code: 'already_done', message: 'a transfer is under way or was made already' },
  transfer_failed: { code: 'transfer_failed' },
  outcome_unknown: { code: 'outcome_unknown' },
};

function faultOf(outcome: CommandOutcome): AgentLinkFault | undefined {
  switch (outcome.kind) {
    case 'done':
      return undefined;
    case 'dropped':
      return { code: 'dropped' };
    case 'refused':
      return faultByRefusal[outcome.code];
  }
}

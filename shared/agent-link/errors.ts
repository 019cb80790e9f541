/**
 * Everything that can be wrong on the agent link, with its exact words (docs/reference/agent-link.md, Errors). The words stand in `command.result`,
 * behind the code in `error` events, and as the reason of a close frame; none of them holds what was received.
 */
import { agentLinkLimits as limits } from './limits.ts';

export const agentLinkErrors = {
  // ---- the codes of version 1 of the protocol ----
  unsupported_version: 'none of the offered versions is spoken',
  unknown_type: 'this message type is not part of the protocol',
  unknown_tool: 'no tool of this name is offered',
  unsupported: 'the call cannot be transferred',
  already_done: 'the same call has already been done in this turn',
  tool_failed: 'the tool failed',
  outcome_unknown: 'the outcome of the transfer was lost; repeat it with the same command id',
  // ---- messages that cannot be read ----
  binary_frame: 'binary frames are not part of the protocol',
  invalid_json: 'a text frame must hold one JSON object with a string type',
  invalid_message: 'a field of the message is missing or invalid',
  too_deep: `a message must nest at most ${limits.nestedLevels} levels`,
  message_too_large: `a message must be at most ${limits.messageBytes} bytes`,
  /** A `session.*` message outside of the handshake. */
  unexpected_message: 'this message belongs into the handshake',
  // ---- what is left out of an accepted handshake ----
  tool_refused: 'a tool was left out',
  unknown_event: 'an event type is not part of the protocol',
  empty_context_message: 'a context message without text was left out',
  too_many: 'more than the limit was given; the rest was left out',
  // ---- commands ----
  queue_full: `${limits.waitingLines} lines or too many edits wait already`,
  dropped: 'the command was dropped before it could take effect',
  call_ending: 'the call is ending',
  transfer_failed: 'the carrier did not take the transfer; the caller is still with the agent',
  // ---- tools ----
  unknown_call: 'no tool call of this id waits for a result',
  /** What the LLM is told of a remote tool while its agent is away. */
  unavailable: 'the tool cannot be reached at the moment',
  // ---- links that are read more slowly ----
  too_fast: 'more messages came than are taken in at once; they wait, and are done in order',
  // ---- links that are closed ----
  too_slow: 'the agent does not read fast enough',
  agent_down: 'no message and no pong arrived in time',
} as const;

export type AgentLinkErrorCode = keyof typeof agentLinkErrors;

/** One fault: what overrides the words of its code is given here. */
export interface AgentLinkFault {
  readonly code: AgentLinkErrorCode;
  /** The field and the rule; never what was received. */
  readonly message?: string;
}

/** The words of a fault. */
export const faultMessage = ({ code, message }: AgentLinkFault): string => message ?? agentLinkErrors[code];

/** The message of an `error` event, which starts with the code (docs/reference/agent-link.md, `error`). */
export const faultText = (fault: AgentLinkFault): string => `${fault.code}: ${faultMessage(fault)}`;

/** Codes of the close frame that ends a link from this side. */
export const agentLinkCloseCodes = {
  /** The call is over, or the agent refused it. */
  normal: 1000,
  /** The handshake failed, or the agent broke a rule. */
  violation: 1008,
  messageTooLarge: 1009,
  tooSlow: 1013,
} as const;

/**
 * Commands that somebody outside the conversation gives (docs/reference/agent-link.md, Lines and Agent to service): the agent process
 * behind the link, or a client that types. A command reaches the core as the event `command.given`, and `command.answered` is told of
 * it exactly once, whatever happens to the call; also of one without an `id`, because a refusal is news in any case.
 *
 * | Command | `done` is told | `dropped` is told | `refused` with |
 * | --- | --- | --- | --- |
 * | `say` | when the agent begins to speak the line, as a turn of an epoch of its own; lines that wait when the call goes to its end come before the farewell | when a line that interrupts comes after it, or the call ends outright while it waits | `empty`, `queue_full`, `call_ending`, `call_over` |
 * | `edit` | at once: it comes into force as a whole, right before the next response starts | never | `queue_full`, `call_ending`, `call_over` |
 * | `end` | when the call is being ended, behind the farewell or after `endGraceMs` | when the caller has hung up before that | `call_ending`, `call_over` |
 * | `text` | when the turn is answered that it is, or is part of | when the call goes to its end while it waits | `empty`, `too_long`, `queue_full`, `call_over`, and `call_ending` where it interrupts no farewell of `end` |
 * | `operator` | at once; what comes of it is told (`operator.took_over`, `operator.handed_back`) | never | `empty`, `already_done`, `call_ending`, `call_over` |
 * | `transfer` | when the carrier has taken it | never | `unsupported`, `already_done`, `transfer_failed`, `outcome_unknown`, `call_ending`, `call_over` |
 *
 * The codes stand in told.ts. An edit is not held back until it is in force: an agent process that waits for the answer within a tool would wait
 * for itself.
 */
import { list, maybe, opaque, record, text, time } from '../../shared/base/codec.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { TypedText } from '../../shared/protocol/call.ts';
import { agentChangeCodec, newAgentChange, type AgentChange } from './answer/agent-claim.ts';
import { transferCodec, type TransferClaim } from './answer/transfer-claim.ts';
import type { ContextEdit } from './answer/edits.ts';
import { tell, type CommandOutcome, type Told } from './told.ts';

export type CallCommand =
  /**
   * The agent says this word by word. It waits while the caller speaks or a response runs; with `interrupt` it drops the lines that
   * wait and cuts the response, never the caller. With `interruptible` the caller may cut it.
   */
  | {
      readonly type: 'say';
      readonly text: string;
      readonly interrupt: boolean;
      readonly interruptible: boolean;
    }
  /** Changes the conversation: prompt, messages, tools that are offered. */
  | { readonly type: 'edit'; readonly edit: ContextEdit }
  /** Ends the call as soon as nobody speaks, behind the farewell; without words it is none. */
  | { readonly type: 'end'; readonly farewell: string }
  /** What the caller types: a turn, or a part of the one that is being spoken. It interrupts the agent where the caller may. */
  | { readonly type: 'text'; readonly text: string; readonly answer?: 'text' }
  /** The caller is given over to this number, once the agent has said its sentence. */
  | {
      readonly type: 'transfer';
      readonly destination: string;
      readonly mode: 'cold' | 'warm';
      readonly summary: string;
    }
  /** An operator takes the call over, behind a sentence of the agent or at once; a second time it only says that one is there again. */
  | { readonly type: 'operator'; readonly does: 'take_over'; readonly atOnce: boolean }
  /** The operator's connection is gone. */
  | { readonly type: 'operator'; readonly does: 'leave' }
  /** What the operator has said to the caller. */
  | { readonly type: 'operator'; readonly does: 'said'; readonly text: string }
  /** The agent goes on: it knows the note, and says `say` where that has words. */
  | { readonly type: 'operator'; readonly does: 'hand_back'; readonly note: string; readonly say: string };

/** Lines that wait at a time (docs/reference/agent-link.md, Limits), and typed texts. */
export const mostWaiting = 8;
/** A longer line, or typed text, would not fit into what is written down of the call (docs/reference/agent-link.md, Limits). */
export const longestTextChars = 4_096;
/** After `end` the call goes on for no longer than this (docs/reference/agent-link.md, Limits). */
export const endGraceMs = 30_000;

/** The command that typed text is: a turn, or with `none` words that the next answer knows of. */
export function typedCommand({ text: typed, answer: as }: TypedText): CallCommand {
  if (as === 'none') return { type: 'edit', edit: { append: [{ role: 'user', text: typed }] } };
  return { type: 'text', text: typed, ...(as === 'text' && { answer: as }) };
}

/** The name that the giver of a command gave it. */
type CommandId = string | undefined;

/** A line that waits until nobody speaks. */
export interface WaitingLine {
  readonly id: CommandId;
  readonly text: string;
  readonly interruptible: boolean;
  /** It cuts the running response as soon as the caller is silent. */
  readonly cuts: boolean;
}

/** Commands that have yet to be answered. */
export interface Commands {
  readonly lines: WaitingLine[];
  readonly texts: { readonly id: CommandId; readonly text: string; readonly answer?: 'text' }[];
  /** The call is to be ended; the words that are left to say before that, and when it is ended at the latest. */
  end: { readonly id: CommandId; farewell: string; readonly by: Millis } | undefined;
  /** The one transfer of the call, whoever asked for it. */
  transfer: TransferClaim;
  /** Another agent that is to have the call. */
  readonly agentChange: AgentChange;
}

export const newCommands = (): Commands => ({
  lines: [],
  texts: [],
  end: undefined,
  transfer: { phase: 'none' },
  agentChange: newAgentChange(),
});

type Teller = { readonly actions: { push(told: Told): unknown } };

export function answer(
  step: Teller,
  command: { readonly id: CommandId; readonly type: CallCommand['type'] },
  outcome: CommandOutcome,
): void {
  tell(step, { type: 'command.answered', id: command.id, command: command.type, outcome });
}

/** Drops the lines that wait. */
export function dropLines(step: Teller, { lines }: Commands): void {
  for (const { id } of lines.splice(0)) answer(step, { id, type: 'say' }, { kind: 'dropped' });
}

/** Drops what was typed. */
export function dropTexts(step: Teller, { texts }: Commands): void {
  for (const { id } of texts.splice(0)) answer(step, { id, type: 'text' }, { kind: 'dropped' });
}

/** The call is over: nothing is left without its answer. With `ended` it was ended as `end` asked for. */
export function closeCommands(step: Teller, commands: Commands, { ended }: { ended: boolean }): void {
  dropLines(step, commands);
  dropTexts(step, commands);
  const { end } = commands;
  commands.end = undefined;
  if (end !== undefined) answer(step, { id: end.id, type: 'end' }, { kind: ended ? 'done' : 'dropped' });
}

/** Takes what was typed: it is answered now. Returns its texts as one. */
export function takeTexts(step: Teller, { texts }: Commands): string {
  const taken = texts.splice(0);
  for (const { id } of taken) answer(step, { id, type: 'text' }, { kind: 'done' });
  return taken.map(({ text: typed }) => typed).join(' ');
}

export const commandsCodec = record<Commands>({
  lines: list(opaque<WaitingLine>()),
  texts: list(opaque<Commands['texts'][number]>()),
  end: maybe(record<NonNullable<Commands['end']>>({ id: maybe(text()), farewell: text(), by: time })),
  transfer: transferCodec,
  agentChange: agentChangeCodec,
});

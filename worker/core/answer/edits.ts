/**
 * Changes of the conversation that somebody outside wants (docs/reference/agent-link.md, Agent to service): another prompt, messages,
 * fewer tools. They wait for the next safe point, right before a response starts, so that calls of tools stay with their results. With a flow
 * a prompt holds until the next transition.
 *
 * Messages stand behind what was said and before what the caller asks next, whenever they came: also those that come while the caller speaks, or
 * between the end of the turn and the request. A message that comes while a response runs stands behind it, before the words that follow.
 */
import { list, maybe, opaque, record, text } from '../../../shared/base/codec.ts';
import type { ContextMessage, OfferedTool } from '../actions.ts';
import { mostEditBytes, savedBytes } from '../bounds.ts';
import { addBeforeQuestion, type History } from '../delivery/history.ts';

export interface ContextEdit {
  readonly systemPrompt?: string;
  readonly append?: readonly ContextMessage[];
  /** Names of the tools that are offered from then on; null: all of them again. */
  readonly tools?: readonly string[] | null;
}

export interface Edits {
  pending: ContextEdit[];
  /** What is in force. */
  prompt: string | undefined;
  tools: readonly string[] | undefined;
}

/** Edits that wait at a time; more come from somebody who does not listen. */
const mostPending = 16;

export const newEdits = (): Edits => ({ pending: [], prompt: undefined, tools: undefined });

/** False when too many wait already: all of this one is left out. */
export function noteEdit({ pending }: Edits, edit: ContextEdit): boolean {
  const bytes = pending.reduce((sum, one) => sum + savedBytes(one), savedBytes(edit));
  if (pending.length >= mostPending || bytes > mostEditBytes) return false;
  pending.push(edit);
  return true;
}

/** At a safe point: what waits comes into force. */
export function applyEdits(edits: Edits, history: History): void {
  for (const { systemPrompt, append, tools } of edits.pending.splice(0)) {
    if (systemPrompt !== undefined) edits.prompt = systemPrompt;
    if (append !== undefined) addBeforeQuestion(history, append);
    if (tools !== undefined) edits.tools = tools ?? undefined;
  }
}

/** What is left of the tools that are offered otherwise; those named by `always` stay whatever an edit says. */
export const narrowed = (
  { tools }: Edits,
  offered: readonly OfferedTool[],
  always: readonly string[],
): readonly OfferedTool[] =>
  tools === undefined
    ? offered
    : offered.filter(
        ({ name, ownName = name }) =>
          [name, ownName].some((one) => tools.includes(one)) || always.includes(name),
      );

export const editsCodec = record<Edits>({
  pending: list(opaque<ContextEdit>()),
  prompt: maybe(text()),
  tools: maybe(opaque<readonly string[]>()),
});

/**
 * Calls of tools that a vendor tells once more in another session, where its adapter does not know them. The history has their results, which are
 * given again: no tool runs twice. Pure.
 */
import { canonicalJson } from '../../../shared/base/exact-json.ts';
import { parseJson } from '../json.ts';
import type { ChatMessage, LlmRequest, ToolCall } from '../stage.ts';

/** A model that writes a call once more may put spaces and keys elsewhere. */
const formOf = (given: string): string => canonicalJson(parseJson(given) ?? given);

/** The result of this very call; undefined where it was not made before. */
export function resultOf(
  { messages }: LlmRequest,
  { id, name, arguments: given }: ToolCall,
): ChatMessage | undefined {
  const form = formOf(given);
  const isSame = (call: ToolCall): boolean =>
    call.id === id && call.name === name && formOf(call.arguments) === form;
  const wasMade = messages.some(
    (message) => message.role === 'assistant' && message.toolCalls?.some(isSame) === true,
  );
  return wasMade ? messages.find((message) => message.role === 'tool' && message.callId === id) : undefined;
}

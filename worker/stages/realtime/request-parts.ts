/** What a request of the core is made of, for a model that holds the conversation itself. */
import { unwritten, writtenOut } from '../../core/unwritten.ts';
import type { ChatMessage, LlmRequest } from '../stage.ts';

export const emptyRequest: LlmRequest = { messages: [], tools: [] };

/** The prompt, and what was said. */
export function partsOf({ messages }: LlmRequest): { instructions: string; history: readonly ChatMessage[] } {
  const [first] = messages;
  return first?.role === 'system'
    ? { instructions: first.text, history: messages.slice(1) }
    : { instructions: '', history: messages };
}

/** The request with the words of its newest turn. */
export function withWords({ messages, tools }: LlmRequest, text: string): LlmRequest {
  const at = messages.findLastIndex((message) => message.role === 'user' && message.text.includes(unwritten));
  const written = messages.map((message, index) =>
    index === at ? { ...message, text: writtenOut(message.text, text) } : message,
  );
  return { messages: written, tools };
}

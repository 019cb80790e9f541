/** Ids for calls of tools that a server sends without one. */
import type { ChatMessage } from '../stage.ts';

/** They start above every such id of the conversation, so that two rounds never share one. */
export function syntheticIds(messages: readonly ChatMessage[]): () => string {
  let next = 0;
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const call of message.toolCalls ?? []) {
      const digits = /^call_(\d{1,9})$/.exec(call.id)?.[1];
      if (digits !== undefined) next = Math.max(next, Number(digits) + 1);
    }
  }
  return () => `call_${next++}`;
}

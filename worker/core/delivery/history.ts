/**
 * What was said in a call, as the LLM gets to see it. Assistant texts enter only when they are known to have been
 * heard, so nothing here ever needs to be taken back. A tool call stands next to its results, and neither is cut from the other.
 */
import type { ContextMessage } from '../actions.ts';

export interface History {
  readonly messages: ContextMessage[];
}

/** Rough size of a token in characters; generous for English, so that the budget is kept. */
const charsPerToken = 3.5;
/** Tokens that a message costs beside its text. */
const messageOverheadTokens = 4;
/** Messages kept in memory; far above what any context window takes. */
const maxMessages = 2_000;

export const newHistory = (): History => ({ messages: [] });

export function addUser(history: History, text: string): void {
  add(history, { role: 'user', text });
}

/** Adds what the caller heard of the bot, before the newest `before` messages; nothing when that is nothing. */
export function addHeard(history: History, text: string, { before = 0 } = {}): void {
  const heard = text.trim();
  if (heard !== '') add(history, { role: 'assistant', text: heard }, before);
}

/** Adds messages as they are, before the newest `before`: calls of tools with their results. */
export function addMessages(
  history: History,
  messages: readonly ContextMessage[],
  { before = 0 } = {},
): void {
  for (const message of messages) add(history, message, before);
}

function add(history: History, message: ContextMessage, before = 0): void {
  history.messages.splice(history.messages.length - before, 0, message);
  if (history.messages.length > maxMessages)
    history.messages.splice(0, history.messages.length - maxMessages);
}

/**
 * The request's messages: the prompt, then as many of the newest messages as the budget allows, at least one, then `behind`
 * in any case. Results of tools whose call did not fit are left out.
 */
export function contextFor(
  history: History,
  options: { prompt: string; budgetTokens: number; behind?: readonly ContextMessage[] },
): ContextMessage[] {
  const { prompt, behind = [] } = options;
  let left = options.budgetTokens - textTokens(prompt);
  for (const message of behind) left -= tokensOf(message);
  const { messages } = history;
  let from = messages.length;
  while (from > 0) {
    const message = messages[from - 1];
    if (message === undefined) break;
    left -= tokensOf(message);
    if (left < 0 && from < messages.length) break;
    from -= 1;
  }
  while (messages[from]?.role === 'tool') from += 1;
  const kept = [...messages.slice(from), ...behind];
  return prompt === '' ? kept : [{ role: 'system', text: prompt }, ...kept];
}

const textTokens = (text: string): number => Math.ceil(text.length / charsPerToken) + messageOverheadTokens;

function tokensOf(message: ContextMessage): number {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return calls.reduce((sum, call) => sum + textTokens(call.name + call.arguments), textTokens(message.text));
}

/**
 * What was said in a call, as the LLM gets to see it. Assistant texts enter only when they are known to have been
 * heard, so nothing here ever needs to be taken back.
 */
import type { ContextMessage } from './actions.ts';

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

/** Adds what the caller heard of the bot; nothing when that is nothing. */
export function addHeard(history: History, text: string): void {
  const heard = text.trim();
  if (heard !== '') add(history, { role: 'assistant', text: heard });
}

function add(history: History, message: ContextMessage): void {
  history.messages.push(message);
  if (history.messages.length > maxMessages)
    history.messages.splice(0, history.messages.length - maxMessages);
}

/** The request's messages: the prompt, then as many of the newest messages as the budget allows, at least one. */
export function contextFor(
  history: History,
  options: { prompt: string; budgetTokens: number },
): ContextMessage[] {
  let left = options.budgetTokens - tokensOf(options.prompt);
  const kept: ContextMessage[] = [];
  for (let i = history.messages.length - 1; i >= 0; i -= 1) {
    const message = history.messages[i];
    if (message === undefined) break;
    left -= tokensOf(message.text);
    if (left < 0 && kept.length > 0) break;
    kept.push(message);
  }
  kept.reverse();
  return options.prompt === '' ? kept : [{ role: 'system', text: options.prompt }, ...kept];
}

const tokensOf = (text: string): number => Math.ceil(text.length / charsPerToken) + messageOverheadTokens;

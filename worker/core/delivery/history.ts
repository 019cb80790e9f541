/**
 * What was said in a call, as the LLM gets to see it. Assistant texts enter only when they are known to have been
 * heard, so nothing here ever needs to be taken back. A tool call stands next to its results, and neither is cut from the other.
 */
import { historyBytes } from '../../../shared/protocol/call-record.ts';
import type { ContextMessage } from '../actions.ts';
import { savedBytes } from '../bounds.ts';
import { unwritten, writtenOut } from '../unwritten.ts';

export interface History {
  readonly messages: ContextMessage[];
  /** What they take in the record of the call. */
  bytes: number;
  /** Counts changes, so that it is written down when there are any. */
  changes: number;
  /** So many of the newest messages are what the caller said and nobody has answered yet. */
  asked: number;
}

/** What is said, without a note of who was answered. */
export type Said = Pick<History, 'messages'>;

/** Rough size of a token in characters; generous for English, so that the budget is kept. */
const charsPerToken = 3.5;
/** Tokens that a message costs beside its text. */
const messageOverheadTokens = 4;
/** Messages kept; far above what any context window takes. */
const maxMessages = 2_000;

/** A history with what was said before, such as what another worker wrote down. */
export function newHistory(messages: readonly ContextMessage[] = []): History {
  const asked = messages.length - messages.findLastIndex(({ role }) => role !== 'user') - 1;
  const history: History = { messages: [], bytes: '[]'.length, changes: 0, asked };
  for (const message of messages) add(history, message);
  return history;
}

export function addUser(history: History, text: string): void {
  add(history, { role: 'user', text });
  history.asked = Math.min(history.asked + 1, history.messages.length);
}

/** The oldest turn of the caller whose words are owed has them now; false where there is none. */
export function amendUser(history: History, text: string): boolean {
  const index = history.messages.findIndex((one) => one.role === 'user' && one.text.includes(unwritten));
  const message = history.messages[index];
  if (message?.role !== 'user') return false;
  const amended = { ...message, text: writtenOut(message.text, text) };
  history.messages[index] = amended;
  history.bytes += bytesOf(amended) - bytesOf(message);
  history.changes += 1;
  return true;
}

/** Adds what the LLM should know before what the caller has said since: behind a question it would be taken for the answer. */
export function addBeforeQuestion(history: History, messages: readonly ContextMessage[]): void {
  for (const message of messages) add(history, message, history.asked);
}

/** Forgets everything. */
export function clearHistory(history: History): void {
  history.messages.length = 0;
  history.bytes = '[]'.length;
  history.changes += 1;
  history.asked = 0;
}

/** Adds what the caller heard of the agent, before the newest `before` messages; nothing when that is nothing. */
export function addHeard(history: History, text: string, { before = 0 } = {}): void {
  const heard = text.trim();
  if (heard === '') return;
  add(history, { role: 'assistant', text: heard }, before);
  history.asked = before;
}

/** Adds messages as they are, before the newest `before`: calls of tools with their results. */
export function addMessages(
  history: History,
  messages: readonly ContextMessage[],
  { before = 0 } = {},
): void {
  for (const message of messages) add(history, message, before);
  if (messages.length > 0) history.asked = before;
}

function add(history: History, message: ContextMessage, before = 0): void {
  const { messages } = history;
  messages.splice(messages.length - before, 0, message);
  history.bytes += bytesOf(message);
  history.changes += 1;
  while (messages.length > maxMessages || history.bytes > historyBytes) dropOldest(history);
}

/** Calls of tools go with their results. */
function dropOldest(history: History): void {
  const { messages } = history;
  do {
    const message = messages.shift();
    if (message === undefined) return;
    history.bytes -= bytesOf(message);
  } while (messages[0]?.role === 'tool');
  history.asked = Math.min(history.asked, messages.length);
}

/** With the comma behind it. */
const bytesOf = (message: ContextMessage): number => savedBytes(withoutReasoning(message)) + 1;

/** As a message is saved: what a provider wants back may be large, and the conversation goes on without it. */
export function withoutReasoning(message: ContextMessage): ContextMessage {
  if (message.role !== 'assistant' || message.reasoning === undefined) return message;
  const { role, text: said, toolCalls } = message;
  return { role, text: said, ...(toolCalls !== undefined && { toolCalls }) };
}

/**
 * The request's messages: the prompt, then as many of the newest messages as the budget allows, at least one, then `behind`
 * in any case. Results of tools whose call did not fit are left out.
 */
export function contextFor(
  history: Said,
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

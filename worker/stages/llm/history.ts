/**
 * The messages of a request, brought into the order that every hosted model accepts.
 *
 * Invariant: turns alternate as far as they can, no text is blank, every tool call has exactly one result and valid JSON
 * arguments, and ids of calls are unique within the request. Pure; it must not reorder what was said.
 */
import type { ChatMessage, LlmRequest, OpaqueReasoning, ToolCall } from '../stage.ts';
import { isRecord, parseJson } from './json.ts';

export interface PairedCall {
  /** As the model gave it; opaque reasoning refers to it. */
  readonly id: string;
  /** Letters, digits, `_` and `-`, at most 64, unique in the request. */
  readonly wireId: string;
  readonly name: string;
  /** JSON text of an object. */
  readonly arguments: string;
  readonly result: string;
}

export interface UserTurn {
  readonly role: 'user';
  readonly text: string;
}

export interface AssistantTurn {
  readonly role: 'assistant';
  /** Empty only together with calls. */
  readonly text: string;
  readonly calls: readonly PairedCall[];
  readonly reasoning: OpaqueReasoning | undefined;
}

export type Turn = UserTurn | AssistantTurn;

export interface PairedHistory {
  /** The leading system messages; later ones became notes among the user's words. */
  readonly system: string;
  readonly turns: readonly Turn[];
}

/** What stands in for the result of a call that was interrupted: servers refuse a call without one. */
const NO_RESULT = '{"status":"interrupted"}';
/** What stands in where a service wants the user to have spoken. */
const NOTHING_SAID = '.';
const MAX_ID_CHARS = 64;

/** How a system message reads that has to go out as the user's: models answer what they take for the caller's words. */
export const asNote = (text: string): string => `[Note, not said by the caller: ${text}]`;

export function pairHistory(messages: LlmRequest['messages']): PairedHistory {
  const system: string[] = [];
  const turns: Turn[] = [];
  const used = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') continue;
    const text = message.text.trim() === '' ? '' : message.text;
    if (message.role === 'assistant') {
      const results = resultsAfter(messages, at);
      const calls = (message.toolCalls ?? []).map((call) => pair(call, results, used));
      if (text !== '' || calls.length > 0) addAssistant(turns, { text, calls, reasoning: message.reasoning });
    } else if (text !== '') {
      if (message.role === 'system' && turns.length === 0) system.push(text);
      else addUser(turns, message.role === 'system' ? asNote(text) : text);
    }
  }
  return { system: system.join('\n\n'), turns };
}

/** The turns with the user first and last, for services that want it so. */
export function userFirstAndLast(turns: readonly Turn[]): readonly Turn[] {
  const filler: UserTurn = { role: 'user', text: NOTHING_SAID };
  const last = turns.at(-1);
  const begun: readonly Turn[] = turns[0]?.role === 'user' ? turns : [filler, ...turns];
  return last?.role === 'assistant' && last.calls.length === 0 ? [...begun, filler] : begun;
}

/** The results that directly follow the message at `at`, in order: a model may give two calls of a round one id. */
function resultsAfter(messages: readonly ChatMessage[], at: number): ReadonlyMap<string, string[]> {
  const results = new Map<string, string[]>();
  for (let next = at + 1; next < messages.length; next += 1) {
    const message = messages[next];
    if (message?.role !== 'tool') break;
    const known = results.get(message.callId);
    if (known === undefined) results.set(message.callId, [message.text]);
    else known.push(message.text);
  }
  return results;
}

/** Takes the call's result out of `results`: the next call of the same id has the next one. */
function pair(call: ToolCall, results: ReadonlyMap<string, string[]>, used: Set<string>): PairedCall {
  // Services parse the arguments of the history; a call that was cut must not fail every later request.
  const isValid = isRecord(parseJson(call.arguments));
  return {
    id: call.id,
    wireId: uniqueId(call.id, used),
    name: call.name,
    arguments: isValid ? call.arguments : '{}',
    result: results.get(call.id)?.shift() ?? NO_RESULT,
  };
}

/** Another provider's ids may hold characters that this one refuses, or repeat from round to round. */
function uniqueId(id: string, used: Set<string>): string {
  const base = id.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_ID_CHARS) || 'call';
  let unique = base;
  for (let n = 2; used.has(unique); n += 1) unique = `${base.slice(0, MAX_ID_CHARS - 8)}_${n}`;
  used.add(unique);
  return unique;
}

function addUser(turns: Turn[], text: string): void {
  const last = turns.at(-1);
  if (last?.role === 'user') turns[turns.length - 1] = { role: 'user', text: `${last.text}\n${text}` };
  else turns.push({ role: 'user', text });
}

function addAssistant(turns: Turn[], added: Omit<AssistantTurn, 'role'>): void {
  const last = turns.at(-1);
  if (last?.role === 'assistant' && last.calls.length === 0) {
    const text = [last.text, added.text].filter((part) => part !== '').join(' ');
    turns[turns.length - 1] = { role: 'assistant', ...added, text };
  } else turns.push({ role: 'assistant', ...added });
}

/**
 * The messages of a request, brought into the one form that every server accepts, whatever it is a history of: a greeting, words spoken
 * while a tool ran, an answer that was cut, calls that another provider made. No interface tells whose template is behind it
 * (Mistral's models stand behind chat completions, messages and responses alike), so the strictest one decides for all.
 *
 * Invariant: the user is first and speaks or has tools answer last, user and assistant take turns but for calls that follow one another, no text is blank or holds half a
 * character, every tool call has exactly one result right behind it and valid JSON arguments, and ids of calls are unique within the
 * request. Pure; what was said keeps its order.
 */
import type { LlmRequest, OpaqueReasoning, ToolCall } from '../stage.ts';
import { requestIds, type IdDialect } from './call-ids.ts';
import type { ModelShape } from './model-shape.ts';
import { isRecord, treeIn, wholeCharacters, wholeJson } from '../json.ts';

export interface PairedCall {
  /** As the model gave it; opaque reasoning refers to it. */
  readonly id: string;
  /** As the server takes it; unique in the request. */
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
const noResult = '{"status":"interrupted"}';
/** A result without a word, as JSON writes it. */
const emptyResult = '""';
/**
 * What stands in where the user has to have spoken: before a greeting, and behind words of the agent that nobody has answered. The
 * greeting stays the agent's own message; told within the prompt, models repeat it.
 */
const nothingSaid: UserTurn = { role: 'user', text: '.' };
/**
 * What stands in where the caller spoke before the agent had told what a tool found: Mistral takes no user behind a result. It is in no
 * language, and says that the answer is still to come.
 */
const nothingTold: AssistantTurn = { role: 'assistant', text: '…', calls: [], reasoning: undefined };

/** How a system message reads that has to go out as the user's: models answer what they take for the caller's words. */
const asNote = (text: string): string => `[Note, not said by the caller: ${text}]`;

/** A call whose result may still come. */
type OpenCall = Omit<PairedCall, 'result'> & { result: string };

export function pairHistory(request: LlmRequest, ids: IdDialect, shape: ModelShape): PairedHistory {
  const { system, turns } = pairedTurns(request, ids);
  const alone = shape.callsAlone ? withCallsAlone(turns) : turns;
  const shaped = shape.callsOneByOne ? alone.flatMap(oneByOne) : alone;
  if (!shape.isSystemless || system === '') return { system, turns: shaped };
  // The user is always first.
  const [first, ...others] = shaped;
  return { system: '', turns: [{ role: 'user', text: `${system}\n\n${first?.text ?? ''}` }, ...others] };
}

/** Words that came with calls go in front of the next ones; where none follow yet, they are left out. */
function withCallsAlone(turns: readonly Turn[]): Turn[] {
  let waiting = '';
  return turns.map((turn): Turn => {
    if (turn.role === 'user') return turn;
    const text = [waiting, turn.text].filter((part) => part !== '').join(' ');
    waiting = turn.calls.length > 0 ? text : '';
    return { ...turn, text: turn.calls.length > 0 ? '' : text };
  });
}

/** As if the model had waited for each result. */
function oneByOne(turn: Turn): readonly Turn[] {
  if (turn.role === 'user' || turn.calls.length < 2) return [turn];
  return turn.calls.map((call, at) => ({ ...turn, text: at === 0 ? turn.text : '', calls: [call] }));
}

function pairedTurns({ messages, tools }: LlmRequest, ids: IdDialect): PairedHistory {
  const system: string[] = [];
  const turns: Turn[] = [];
  const names = new Set(tools.map(({ name }) => name));
  const open = new OpenCalls(names, requestIds(ids));
  for (const message of messages) {
    if (message.role === 'tool') {
      open.answer(message.callId, message.text);
      continue;
    }
    const text = message.text.trim() === '' ? '' : wholeCharacters(message.text);
    if (message.role === 'assistant') {
      const calls = open.add(message.toolCalls ?? []);
      if (text !== '' || calls.length > 0) addAssistant(turns, { text, calls, reasoning: message.reasoning });
    } else if (text !== '') {
      if (message.role === 'system' && turns.length === 0) system.push(text);
      else addUser(turns, message.role === 'system' ? asNote(text) : text);
    }
  }
  const last = turns.at(-1);
  if (last === undefined || (last.role === 'assistant' && last.calls.length === 0)) turns.push(nothingSaid);
  return { system: system.join('\n\n'), turns };
}

/** The calls of a history, with their results wherever these stand behind them. */
class OpenCalls {
  readonly #names: ReadonlySet<string>;
  readonly #newId: (id: string) => string;
  /** By the id that the model gave: it may give two calls of a round one id, and the same again in a later round. */
  readonly #waiting = new Map<string, OpenCall[]>();

  constructor(names: ReadonlySet<string>, newId: (id: string) => string) {
    this.#names = names;
    this.#newId = newId;
  }

  add(calls: readonly ToolCall[]): readonly PairedCall[] {
    for (const { id } of calls) this.#waiting.set(id, []);
    return calls.map((call) => {
      const added: OpenCall = { ...this.#readable(call), wireId: this.#newId(call.id), result: noResult };
      this.#waiting.get(call.id)?.push(added);
      return added;
    });
  }

  answer(id: string, text: string): void {
    const call = this.#waiting.get(id)?.shift();
    if (call !== undefined) call.result = text.trim() === '' ? emptyResult : wholeCharacters(text);
  }

  /** Templates and services parse what a history holds; a call that was cut or misnamed must not fail every later request. */
  #readable({ id, name, arguments: given }: ToolCall): ToolCall {
    const isKnown = this.#names.has(name);
    return {
      id,
      name: isKnown ? name : name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown',
      arguments: isRecord(treeIn(given)) ? wholeJson(given) : '{}',
    };
  }
}

function addUser(turns: Turn[], text: string): void {
  const last = turns.at(-1);
  if (last?.role === 'user') turns[turns.length - 1] = { role: 'user', text: `${last.text}\n${text}` };
  else
    turns.push(...(last !== undefined && last.calls.length > 0 ? [nothingTold] : []), { role: 'user', text });
}

function addAssistant(turns: Turn[], added: Omit<AssistantTurn, 'role'>): void {
  const last = turns.at(-1);
  if (last === undefined) turns.push(nothingSaid);
  if (last?.role === 'assistant' && last.calls.length === 0) {
    const text = [last.text, added.text].filter((part) => part !== '').join(' ');
    turns[turns.length - 1] = { role: 'assistant', ...added, text };
  } else turns.push({ role: 'assistant', ...added });
}

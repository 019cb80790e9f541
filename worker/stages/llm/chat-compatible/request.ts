/**
 * The body of a chat completion request out of the engine's messages (docs/providers.md, What an LLM is sent).
 *
 * Invariant: one leading system message, and behind it the turns of the history, with the results of a round behind its calls. Pure.
 */
import type { ChatCompatibleOptions } from './declaration.ts';
import type { LlmRequest, ToolDeclaration } from '../../stage.ts';
import { kimiIds, nineLetters, type IdDialect } from '../call-ids.ts';
import { pairHistory, type AssistantTurn, type PairedCall, type Turn } from '../history.ts';
import { writeJson } from '../../json.ts';

interface WireToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

interface WireMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly tool_calls?: readonly WireToolCall[];
  readonly tool_call_id?: string;
}

/** JSON text of the request. */
export function renderChatRequest(request: LlmRequest, options: ChatCompatibleOptions): string {
  const tools = request.tools.map(renderTool);
  const provider = {
    ...(options.routerOrder === undefined ? {} : { order: options.routerOrder }),
    ...(options.routerAllowFallbacks === undefined ? {} : { allow_fallbacks: options.routerAllowFallbacks }),
  };
  return writeJson({
    model: options.model,
    stream: true,
    stream_options: { include_usage: true },
    messages: renderMessages(request, dialectOf(options.model)),
    ...(tools.length === 0 ? {} : { tools, tool_choice: 'auto' }),
    ...(options.maxTokens === undefined ? {} : { max_tokens: options.maxTokens }),
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(options.reasoningEffort === undefined ? {} : { reasoning_effort: options.reasoningEffort }),
    ...(Object.keys(provider).length === 0 ? {} : { provider }),
  });
}

function renderTool(tool: ToolDeclaration): unknown {
  // Some gateways end the stream without a word when the schema names its dialect.
  const parameters = Object.fromEntries(Object.entries(tool.parameters).filter(([key]) => key !== '$schema'));
  return { type: 'function', function: { name: tool.name, description: tool.description, parameters } };
}

interface Dialect {
  readonly ids: IdDialect;
  /** The most calls in one message. */
  readonly callsAtOnce: number;
  /** It knows no system message: what it says stands in front of the user's first words. */
  readonly isSystemless: boolean;
}

/** Only the name of the model tells where one wants more than the others, or something else. */
function dialectOf(model: string): Dialect {
  return {
    ids: /kimi/i.test(model) ? kimiIds : nineLetters,
    callsAtOnce: /llama[-_.]?3/i.test(model) ? 1 : Infinity,
    isSystemless: /gemma-(?:1\.1|2|[27]b)|mi(?:s|x)tral-(?:8x)?7b-instruct-v0\.[12]/i.test(model),
  };
}

function renderMessages(request: LlmRequest, { ids, callsAtOnce, isSystemless }: Dialect): WireMessage[] {
  const { system, turns } = pairHistory(request, ids);
  const messages = turns.flatMap((turn) => renderTurn(turn, callsAtOnce));
  const [first, ...others] = messages;
  if (system === '' || first === undefined) return messages;
  if (!isSystemless) return [{ role: 'system', content: system }, ...messages];
  return [{ ...first, content: `${system}\n\n${first.content ?? ''}` }, ...others];
}

function renderTurn(turn: Turn, callsAtOnce: number): WireMessage[] {
  if (turn.role === 'user' || turn.calls.length === 0) return [{ role: turn.role, content: turn.text }];
  const { calls } = turn;
  if (calls.length <= callsAtOnce) return renderCalls(turn);
  // One after the other, as if the model had waited for each.
  return calls.flatMap((call, at) => renderCalls({ text: at === 0 ? turn.text : '', calls: [call] }));
}

function renderCalls({ text, calls }: Pick<AssistantTurn, 'text' | 'calls'>): WireMessage[] {
  return [
    { role: 'assistant', content: text === '' ? null : text, tool_calls: calls.map(renderCall) },
    ...calls.map(({ wireId, result }): WireMessage => ({
      role: 'tool',
      tool_call_id: wireId,
      content: result,
    })),
  ];
}

function renderCall({ wireId, name, arguments: given }: PairedCall): WireToolCall {
  return { id: wireId, type: 'function', function: { name, arguments: given } };
}

/**
 * The body of a chat completion request out of the engine's messages (docs/providers.md, What an LLM is sent).
 *
 * Invariant: one leading system message, and behind it the turns of the history, with the results of a round behind its calls. Pure.
 */
import type { ChatCompatibleOptions } from './declaration.ts';
import type { LlmRequest, ToolDeclaration } from '../../stage.ts';
import { kimiIds, nineLetters, type IdDialect } from '../call-ids.ts';
import { pairHistory, type AssistantTurn, type PairedCall, type Turn } from '../history.ts';
import { shapeOf } from '../model-shape.ts';
import { textOf, writeJson } from '../../json.ts';
import { reasoningOf } from '../reasoning.ts';
import { CHAT_PROVIDER } from './stream.ts';

interface WireToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

interface WireMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly reasoning_content?: string;
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
    messages: renderMessages(request, options),
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
  /** Calls go back with the thoughts that led to them; `always`: every message of the agent has some. */
  readonly thoughts: 'never' | 'own' | 'always';
}

/** Only the name of the model tells where one wants more than the others, or something else. */
function dialectOf({ model, baseUrl }: Pick<ChatCompatibleOptions, 'model' | 'baseUrl'>): Dialect {
  const isOwner = /(?:^|\.)(?:deepseek\.com|moonshot\.(?:ai|cn)|kimi\.com)$/.test(new URL(baseUrl).hostname);
  return {
    ids: /kimi/i.test(model) ? kimiIds : nineLetters,
    // Others refuse the field.
    thoughts: !/deepseek|kimi/i.test(model) ? 'never' : isOwner ? 'always' : 'own',
  };
}

function renderMessages(request: LlmRequest, options: ChatCompatibleOptions): WireMessage[] {
  const dialect = dialectOf(options);
  const { system, turns } = pairHistory(request, dialect.ids, shapeOf(options.model));
  const messages = turns.flatMap((turn) => renderTurn(turn, dialect));
  return system === '' ? messages : [{ role: 'system', content: system }, ...messages];
}

function renderTurn(turn: Turn, dialect: Dialect): WireMessage[] {
  if (turn.role === 'user') return [{ role: turn.role, content: turn.text }];
  if (turn.calls.length === 0) return [{ role: turn.role, content: turn.text, ...thoughtsOf(turn, dialect) }];
  return renderCalls(turn, dialect);
}

function renderCalls(turn: AssistantTurn, dialect: Dialect): WireMessage[] {
  const { text, calls } = turn;
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...thoughtsOf(turn, dialect),
      tool_calls: calls.map(renderCall),
    },
    ...calls.map(({ wireId, result }): WireMessage => ({
      role: 'tool',
      tool_call_id: wireId,
      content: result,
    })),
  ];
}

/** Thoughts are lost with a worker, and were another provider's after a failover: a blank is taken for them, and an empty text is not. */
function thoughtsOf({ calls, reasoning }: AssistantTurn, { thoughts }: Dialect): Partial<WireMessage> {
  if (thoughts === 'never') return {};
  const kept = reasoningOf(reasoning, CHAT_PROVIDER).get(calls[0]?.id ?? '');
  const text = textOf(kept?.[0]) || (thoughts === 'always' ? ' ' : '');
  return text === '' ? {} : { reasoning_content: text };
}

function renderCall({ wireId, name, arguments: given }: PairedCall): WireToolCall {
  return { id: wireId, type: 'function', function: { name, arguments: given } };
}

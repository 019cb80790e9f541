/**
 * The body of a request to a responses interface, out of the engine's messages.
 *
 * Invariant: every call is followed by its output, reasoning stands right before the call that it led to, and the start
 * of the body stays the same from round to round so that the provider's cache finds it. Pure.
 */
import type { LlmResponsesOptions } from './declaration.ts';
import type { LlmCall, LlmRequest, ToolDeclaration } from '../../stage.ts';
import { vendorIds, type IdDialect } from '../call-ids.ts';
import { pairHistory, type AssistantTurn, type Turn } from '../history.ts';
import { shapeOf } from '../model-shape.ts';
import { writeJson } from '../../json.ts';
import { reasoningOf } from '../reasoning.ts';

export const RESPONSES_PROVIDER = 'llm_responses';

/** The provider's bound of a cache key, in characters. */
const MAX_CACHE_KEY_CHARS = 64;

/** JSON text of the request. */
export function renderResponsesRequest(
  request: LlmRequest,
  options: LlmResponsesOptions & Pick<LlmCall, 'conversation'>,
  ids: IdDialect = vendorIds,
): string {
  const { system, turns } = pairHistory(request, ids, shapeOf(options.model));
  const effort = options.reasoningEffort === 'disabled' ? 'none' : options.reasoningEffort;
  const cacheKey = options.conversation?.slice(0, MAX_CACHE_KEY_CHARS);
  return writeJson({
    model: options.model,
    stream: true,
    store: false,
    ...(system !== '' && { instructions: system }),
    input: turns.flatMap(renderTurn),
    ...(request.tools.length > 0 && {
      tools: request.tools.map(renderTool),
      tool_choice: 'auto',
      ...(options.parallelToolCalls !== undefined && { parallel_tool_calls: options.parallelToolCalls }),
    }),
    ...(options.maxOutputTokens !== undefined && { max_output_tokens: options.maxOutputTokens }),
    ...(effort !== undefined && { reasoning: { effort } }),
    ...(mayReason(options) && { include: ['reasoning.encrypted_content'] }),
    ...(options.serviceTier !== undefined && { service_tier: options.serviceTier }),
    ...(cacheKey !== undefined && { prompt_cache_key: cacheKey }),
    stream_options: { include_obfuscation: false },
  });
}

/** Models that cannot reason refuse to be asked for their reasoning. */
function mayReason({ model, reasoningEffort }: LlmResponsesOptions): boolean {
  if (reasoningEffort !== undefined) return reasoningEffort !== 'disabled';
  return /^(o\d|gpt-([5-9]|\d\d))/.test(model) && !model.includes('-chat');
}

function renderTool({ name, description, parameters }: ToolDeclaration): unknown {
  const schema = Object.fromEntries(Object.entries(parameters).filter(([key]) => key !== '$schema'));
  return { type: 'function', name, description, parameters: schema, strict: false };
}

function renderTurn(turn: Turn): unknown[] {
  if (turn.role === 'user') return [{ role: 'user', content: turn.text }];
  const message = turn.text === '' ? [] : [{ role: 'assistant', content: turn.text }];
  return [...message, ...renderCalls(turn)];
}

function renderCalls({ calls, reasoning }: AssistantTurn): unknown[] {
  const pieces = reasoningOf(reasoning, RESPONSES_PROVIDER);
  return [
    ...calls.flatMap((call) => [
      ...(pieces.get(call.id) ?? []),
      { type: 'function_call', call_id: call.wireId, name: call.name, arguments: call.arguments },
    ]),
    ...calls.map((call) => ({ type: 'function_call_output', call_id: call.wireId, output: call.result })),
  ];
}

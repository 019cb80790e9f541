/**
 * The body of a request to a messages interface, out of the engine's messages.
 *
 * Invariant: the user speaks first and last, all results of a round stand at the start of the message after it, and
 * thinking comes back in front of the calls that it led to. Pure.
 */
import type { LlmMessagesOptions } from './declaration.ts';
import type { LlmRequest, ToolDeclaration } from '../../stage.ts';
import { vendorIds, type IdDialect } from '../call-ids.ts';
import { pairHistory, type AssistantTurn, type PairedCall, type Turn } from '../history.ts';
import { shapeOf } from '../model-shape.ts';
import { parseJson, writeJson, type JsonRecord } from '../../json.ts';
import { reasoningOf } from '../reasoning.ts';

export const MESSAGES_PROVIDER = 'llm_messages';

interface WireMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly JsonRecord[];
}

/** Ends a part of the prompt that the next round is going to start with. */
const CACHED = { cache_control: { type: 'ephemeral' } };

/** JSON text of the request. */
export function renderMessagesRequest(
  request: LlmRequest,
  options: LlmMessagesOptions,
  ids: IdDialect = vendorIds,
): string {
  const { system, turns } = pairHistory(request, ids, shapeOf(options.model));
  const tools = toolsOf(request, turns);
  return writeJson({
    model: options.model,
    max_tokens: options.maxTokens,
    stream: true,
    ...(tools.length > 0 && { tools: cachedAtLast(tools) }),
    ...(tools.length > 0 && request.tools.length === 0 && { tool_choice: { type: 'none' } }),
    ...(system !== '' && { system: [{ type: 'text', text: system, ...CACHED }] }),
    messages: cachedAtEnd(turns.flatMap(renderTurn)),
    ...(options.thinking !== 'model_default' && { thinking: { type: options.thinking } }),
    ...(options.effort !== undefined && { output_config: { effort: options.effort } }),
  });
}

/** A conversation that holds calls is refused without tools; a round that may call none still declares theirs. */
function toolsOf(request: LlmRequest, turns: readonly Turn[]): readonly JsonRecord[] {
  if (request.tools.length > 0) return request.tools.map(renderTool);
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls : []));
  const names = [...new Set(calls.map((call) => call.name))];
  return names.map((name) => ({ name, input_schema: { type: 'object' } }));
}

function renderTool({ name, description, parameters }: ToolDeclaration): JsonRecord {
  const schema = Object.fromEntries(Object.entries(parameters).filter(([key]) => key !== '$schema'));
  return { name, description, input_schema: { ...schema, type: 'object' } };
}

function renderTurn(turn: Turn): WireMessage[] {
  if (turn.role === 'user') return [{ role: 'user', content: [textBlock(turn.text)] }];
  const spoken: WireMessage = { role: 'assistant', content: assistantBlocks(turn) };
  if (turn.calls.length === 0) return [spoken];
  return [spoken, { role: 'user', content: turn.calls.map(resultBlock) }];
}

function assistantBlocks({ text, calls, reasoning }: AssistantTurn): JsonRecord[] {
  const pieces = reasoningOf(reasoning, MESSAGES_PROVIDER);
  const first = calls[0];
  // The text came after the thoughts of the first call, and thinking must lead the message.
  const leading = first === undefined ? [] : blocksOf(pieces.get(first.id));
  return [
    ...leading,
    ...(text === '' ? [] : [textBlock(text)]),
    ...calls.flatMap((call) => [...(call === first ? [] : blocksOf(pieces.get(call.id))), callBlock(call)]),
  ];
}

function blocksOf(pieces: readonly unknown[] | undefined): JsonRecord[] {
  return (pieces ?? []).filter((piece): piece is JsonRecord => typeof piece === 'object' && piece !== null);
}

function textBlock(text: string): JsonRecord {
  return { type: 'text', text };
}

function callBlock(call: PairedCall): JsonRecord {
  return { type: 'tool_use', id: call.wireId, name: call.name, input: parseJson(call.arguments) };
}

function resultBlock(call: PairedCall): JsonRecord {
  return { type: 'tool_result', tool_use_id: call.wireId, content: call.result };
}

function cachedAtEnd(messages: readonly WireMessage[]): readonly WireMessage[] {
  const last = messages.at(-1);
  if (last === undefined) return messages;
  return [...messages.slice(0, -1), { ...last, content: cachedAtLast(last.content) }];
}

function cachedAtLast(blocks: readonly JsonRecord[]): readonly JsonRecord[] {
  return blocks.map((block, at) => (at === blocks.length - 1 ? { ...block, ...CACHED } : block));
}

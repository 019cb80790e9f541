/**
 * The body of a chat completion request out of the engine's messages (spec 03, Chat-compatible LLM behaviour).
 *
 * Invariant: what is sent is acceptable to strict servers: one leading system message, no empty text, no two user
 * messages in a row, every tool call followed by its result. Pure; it must not reorder what was said.
 */
import type { ChatCompatibleOptions } from './declaration.ts';
import type { ChatMessage, LlmRequest, ToolCall, ToolDeclaration } from '../../stage.ts';
import { asNote } from '../history.ts';
import { isRecord, parseJson } from '../json.ts';

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

/** What stands in for the result of a call that was interrupted: servers refuse a call without one. */
const NO_RESULT = '{"status":"interrupted"}';

/** JSON text of the request. */
export function renderChatRequest(request: LlmRequest, options: ChatCompatibleOptions): string {
  const tools = request.tools.map(renderTool);
  const provider = {
    ...(options.routerOrder === undefined ? {} : { order: options.routerOrder }),
    ...(options.routerAllowFallbacks === undefined ? {} : { allow_fallbacks: options.routerAllowFallbacks }),
  };
  return JSON.stringify({
    model: options.model,
    stream: true,
    stream_options: { include_usage: true },
    messages: renderMessages(request.messages),
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

/** A call whose result is still to come, by the id that the model gave it. */
interface OpenCall {
  readonly id: string;
  readonly wireId: string;
}

function renderMessages(messages: readonly ChatMessage[]): WireMessage[] {
  const out: WireMessage[] = [];
  /** Calls of the last assistant message that still wait for their result. */
  let open: OpenCall[] = [];
  const answer = ({ wireId }: OpenCall, content: string): void => {
    out.push({ role: 'tool', tool_call_id: wireId, content });
  };
  const closeCalls = (): void => {
    for (const call of open) answer(call, NO_RESULT);
    open = [];
  };
  for (const message of messages) {
    if (message.role === 'tool') {
      const call = open.find(({ id }) => id === message.callId);
      if (call === undefined) continue;
      open = open.filter((other) => other !== call);
      answer(call, message.text);
      continue;
    }
    const calls = message.role === 'assistant' ? withWireIds(message.toolCalls ?? []) : [];
    const isLeading = out.every((before) => before.role === 'system');
    const rendered = render(message, { calls, isLeading });
    if (rendered === undefined) continue;
    closeCalls();
    append(out, rendered);
    open = calls;
  }
  closeCalls();
  return out;
}

/** Models give two calls of a round one id at times; servers want to know whose a result is. */
function withWireIds(calls: readonly ToolCall[]): (ToolCall & OpenCall)[] {
  const used = new Set(calls.map(({ id }) => id));
  const seen = new Set<string>();
  return calls.map((call) => {
    let wireId = call.id;
    if (seen.has(call.id)) for (let n = 2; used.has(wireId); n += 1) wireId = `${call.id}_${n}`;
    seen.add(call.id);
    used.add(wireId);
    return { ...call, wireId };
  });
}

/** A system message further on becomes a note among the user's words: only a leading one is understood everywhere. */
function render(
  message: Exclude<ChatMessage, { role: 'tool' }>,
  { calls, isLeading }: { readonly calls: readonly (ToolCall & OpenCall)[]; readonly isLeading: boolean },
): WireMessage | undefined {
  const content = message.text.trim() === '' ? null : message.text;
  if (content === null && calls.length === 0) return undefined;
  if (calls.length > 0) return { role: 'assistant', content, tool_calls: calls.map(renderCall) };
  if (message.role !== 'system' || isLeading || content === null) return { role: message.role, content };
  return { role: 'user', content: asNote(content) };
}

function renderCall(call: ToolCall & OpenCall): WireToolCall {
  // Chat templates parse the arguments of the history; a call that was cut must not fail every later request.
  const valid = isRecord(parseJson(call.arguments));
  return {
    id: call.wireId,
    type: 'function',
    function: { name: call.name, arguments: valid ? call.arguments : '{}' },
  };
}

function append(out: WireMessage[], message: WireMessage): void {
  const last = out.at(-1);
  const joins = last !== undefined && last.role === message.role && last.tool_calls === undefined;
  if (!joins) {
    out.push(message);
    return;
  }
  const separator = message.role === 'assistant' ? ' ' : message.role === 'system' ? '\n\n' : '\n';
  const content = [last.content, message.content].filter((text) => text !== null).join(separator);
  out[out.length - 1] = { ...message, content };
}

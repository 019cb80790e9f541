/**
 * The mind: an OpenAI-style chat server, `POST /v1/chat/completions`, that answers by rules.
 *
 * Invariant: it keeps nothing between two requests; the whole state is in the messages. It streams the way hosted servers do: a
 * role, words one by one, tool calls in fragments, the finish reason, the usage when it is asked for, and `[DONE]`.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { isObject, list } from './fields.ts';
import { readJsonObject, Refusal, sendError, sendJson } from './http.ts';
import { reply, type Conversation, type Message, type Reply, type Tool } from './replies.ts';

const maxMessages = 1000;

/** Text content, or the text parts of a list of parts. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join(' ');
}

function nameOf(value: unknown): string {
  const inner = isObject(value) ? value['function'] : undefined;
  const name = isObject(inner) ? inner['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

function readMessage(value: unknown, index: number): Message {
  if (!isObject(value) || typeof value['role'] !== 'string') {
    throw new Refusal(400, 'invalid_messages', `messages[${index}] must be an object with a role`);
  }
  return {
    role: value['role'],
    text: contentText(value['content']),
    calls: list(value['tool_calls']).map(nameOf),
  };
}

/** A tool as chat requests declare it. */
export function readTool(value: unknown, index: number): Tool {
  const inner = isObject(value) ? value['function'] : undefined;
  const name = nameOf(value);
  if (!isObject(inner) || name === '') {
    throw new Refusal(400, 'invalid_tools', `tools[${index}] must be a function with a name`);
  }
  const parameters = isObject(inner['parameters']) ? inner['parameters']['properties'] : undefined;
  const entries = isObject(parameters) ? Object.entries(parameters) : [];
  const takesIntegers = (schema: unknown): boolean => isObject(schema) && schema['type'] === 'integer';
  const choicesOf = (schema: unknown): readonly string[] =>
    list(isObject(schema) ? schema['enum'] : undefined).filter((one) => typeof one === 'string');
  return {
    name,
    parameters: entries.map(([parameter]) => parameter),
    choices: Object.fromEntries(entries.map(([parameter, schema]) => [parameter, choicesOf(schema)])),
    integers: entries.flatMap(([parameter, schema]) => (takesIntegers(schema) ? [parameter] : [])),
  };
}

interface ChatRequest {
  readonly conversation: Omit<Conversation, 'now'>;
  readonly model: string;
  readonly stream: boolean;
  readonly usage: boolean;
}

function readRequest(body: Readonly<Record<string, unknown>>): ChatRequest {
  const {
    messages,
    tools = [],
    model = 'demo-rules',
    stream = false,
    stream_options: options,
    tool_choice: choice,
  } = body;
  if (typeof model !== 'string') throw new Refusal(400, 'invalid_model', 'model must be a text');
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > maxMessages) {
    throw new Refusal(400, 'invalid_messages', `messages must be a list of 1 to ${maxMessages} messages`);
  }
  if (!Array.isArray(tools)) throw new Refusal(400, 'invalid_tools', 'tools must be a list');
  return {
    conversation: {
      messages: messages.map(readMessage),
      tools: choice === 'none' ? [] : tools.map(readTool),
    },
    model,
    stream: stream === true,
    usage: isObject(options) && options['include_usage'] === true,
  };
}

const countWords = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

/** Words stand for tokens here. */
function usageOf({ conversation }: ChatRequest, { text, call }: Reply): Record<string, number> {
  const prompt = conversation.messages.reduce((sum, message) => sum + countWords(message.text), 0);
  const completion = countWords(text) + (call === undefined ? 0 : countWords(JSON.stringify(call)));
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function streamReply(response: ServerResponse, request: ChatRequest, answer: Reply): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  const base = {
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion.chunk',
    created: 1,
    model: request.model,
  };
  const send = (fields: Readonly<Record<string, unknown>>): void => {
    response.write(`data: ${JSON.stringify({ ...base, ...fields })}\n\n`);
  };
  const delta = (part: unknown, finish: string | null = null): void =>
    send({ choices: [{ index: 0, delta: part, finish_reason: finish }] });
  delta({ role: 'assistant', content: '' });
  for (const word of answer.text.match(/\S+\s*/g) ?? []) delta({ content: word });
  if (answer.call !== undefined) {
    const { name, arguments: values } = answer.call;
    const text = JSON.stringify(values);
    delta({
      tool_calls: [
        { index: 0, id: `call_${randomUUID()}`, type: 'function', function: { name, arguments: '' } },
      ],
    });
    for (const part of text.match(/.{1,12}/gs) ?? [])
      delta({ tool_calls: [{ index: 0, function: { arguments: part } }] });
  }
  delta({}, answer.call === undefined ? 'stop' : 'tool_calls');
  if (request.usage) send({ choices: [], usage: usageOf(request, answer) });
  response.end('data: [DONE]\n\n');
}

function sendWhole(response: ServerResponse, request: ChatRequest, answer: Reply): void {
  const { text, call } = answer;
  const calls = call && [
    {
      id: `call_${randomUUID()}`,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    },
  ];
  const message = { role: 'assistant', content: text, ...(calls && { tool_calls: calls }) };
  sendJson(response, 200, {
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    created: 1,
    model: request.model,
    choices: [{ index: 0, message, finish_reason: call === undefined ? 'stop' : 'tool_calls' }],
    usage: usageOf(request, answer),
  });
}

/** The server, not yet listening. `now` gives the local time for "what time is it". */
export function llmServer({ now }: { readonly now: () => Date }): Server {
  return createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0];
    if (path === '/v1/models' && request.method === 'GET') {
      sendJson(response, 200, { object: 'list', data: [{ id: 'demo-rules', object: 'model' }] });
    } else if (path !== '/v1/chat/completions') {
      sendError(response, new Refusal(404, 'not_found', 'there is nothing at this path'));
    } else if (request.method !== 'POST') {
      sendError(response, new Refusal(405, 'method_not_allowed', 'this path takes POST'));
    } else {
      readJsonObject(request)
        .then((body) => {
          const chat = readRequest(body);
          const answer = reply({ ...chat.conversation, now: now() });
          if (chat.stream) streamReply(response, chat, answer);
          else sendWhole(response, chat, answer);
        })
        .catch((error: unknown) => sendError(response, error));
    }
  });
}

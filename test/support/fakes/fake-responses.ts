/** A server with a responses interface: checks what a strict service checks, and streams what the script says. */
import { FakeHttpServer, reply } from './fake-http.ts';
import type { FakeReply, ReplyParts } from './fake-http.ts';

export interface WireEvent {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Server-sent events whose name repeats the `type` of the body. */
export function typedEvents(...bodies: readonly { readonly type: string }[]): string[] {
  return bodies.map((body) => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`);
}

export function eventStream(
  chunks: readonly (string | Buffer)[],
  then: NonNullable<ReplyParts['then']> = 'end',
): FakeReply {
  return reply({ headers: { 'content-type': 'text/event-stream; charset=utf-8' }, chunks, then });
}

const usage = {
  input_tokens: 310,
  input_tokens_details: { cached_tokens: 256 },
  output_tokens: 24,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 334,
};
const response = { id: 'resp_1', object: 'response', output: [] };

export const created = { type: 'response.created', response: { ...response, status: 'in_progress' } };
export const completed = {
  type: 'response.completed',
  response: { ...response, status: 'completed', usage },
};
export const incomplete = (reason: string): WireEvent => ({
  type: 'response.incomplete',
  response: { ...response, status: 'incomplete', incomplete_details: { reason }, usage },
});

export const added = (at: number, item: object): WireEvent => ({
  type: 'response.output_item.added',
  output_index: at,
  item,
});
export const itemDone = (at: number, item: object): WireEvent => ({
  type: 'response.output_item.done',
  output_index: at,
  item,
});
const message = (text: string): object => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: text === '' ? [] : [{ type: 'output_text', text, annotations: [] }],
});
export const textDelta = (delta: string): WireEvent => ({
  type: 'response.output_text.delta',
  item_id: 'msg_1',
  output_index: 0,
  content_index: 0,
  delta,
  logprobs: [],
});
export const callItem = (id: string, name: string, args: string): object => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: args,
});
export const callDelta = (id: string, delta: string): WireEvent => ({
  type: 'response.function_call_arguments.delta',
  item_id: `fc_${id}`,
  output_index: 1,
  delta,
});
export const callDone = (id: string, args: string): WireEvent => ({
  type: 'response.function_call_arguments.done',
  item_id: `fc_${id}`,
  output_index: 1,
  arguments: args,
});

/** The events of a text, word by word. */
export function textEvents(text: string): WireEvent[] {
  const words = text.match(/\S+\s*/g) ?? [];
  const part = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  return [
    added(0, message('')),
    {
      type: 'response.content_part.added',
      ...part,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    ...words.map(textDelta),
    { type: 'response.output_text.done', ...part, text },
    itemDone(0, message(text)),
  ];
}

export const answer = (text: string): FakeReply =>
  eventStream(typedEvents(created, ...textEvents(text), completed));

/** What the service refuses about a request, if anything. */
export function problemOf(body: Record<string, unknown>): string | undefined {
  const input = body['input'] as Record<string, unknown>[] | string | undefined;
  if (body['store'] !== false && body['previous_response_id'] !== undefined) return 'previous_response_id';
  if (input === undefined || input.length === 0) return 'input: at least one item';
  if (typeof input === 'string') return undefined;
  const ids: unknown[] = [];
  for (const [at, item] of input.entries()) {
    if (
      item['type'] === 'reasoning' &&
      !['function_call', 'reasoning'].includes(String(input[at + 1]?.['type']))
    )
      return 'a reasoning item without its following item';
    if (item['type'] === 'function_call') {
      if (ids.includes(item['call_id'])) return 'duplicate call_id';
      ids.push(item['call_id']);
      const results = input.filter((other) => other['call_id'] === item['call_id']);
      if (results.length !== 2) return 'No tool output found for function call';
    }
    if (item['type'] === 'function_call_output' && !ids.includes(item['call_id']))
      return 'No tool call found';
    if (item['role'] !== undefined && String(item['content']).trim() === '') return 'empty content';
  }
  return undefined;
}

export const refusal = (status: number, code: string, headers: Record<string, string> = {}): FakeReply =>
  reply({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    chunks: [JSON.stringify({ error: { message: 'No.', type: 'invalid_request_error', param: null, code } })],
  });

export class FakeResponses extends FakeHttpServer {
  constructor() {
    super((request) => {
      const problem = problemOf(request.body);
      (problem === undefined ? answer('All right.') : refusal(400, 'invalid_value'))(request);
    });
  }
}

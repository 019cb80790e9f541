/** A server with a messages interface: checks what a strict service checks, and streams what the script says. */
import { FakeHttpServer, reply } from './fake-http.ts';
import type { FakeReply } from './fake-http.ts';
import { eventStream, typedEvents } from './fake-responses.ts';

interface Typed {
  readonly type: string;
}

export const started = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 10,
      cache_creation_input_tokens: 44,
      cache_read_input_tokens: 256,
      output_tokens: 1,
    },
  },
};
export const ping = { type: 'ping' };
export const block = (index: number, content_block: object): Typed =>
  ({ type: 'content_block_start', index, content_block }) as Typed;
export const delta = (index: number, body: object): Typed =>
  ({ type: 'content_block_delta', index, delta: body }) as Typed;
export const stop = (index: number): Typed => ({ type: 'content_block_stop', index }) as Typed;
export const ended = (reason: string): Typed[] => [
  {
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 24 },
  } as Typed,
  { type: 'message_stop' },
];
export const words = (index: number, text: string): Typed[] => [
  block(index, { type: 'text', text: '' }),
  ...(text.match(/\S+\s*/g) ?? []).map((word) => delta(index, { type: 'text_delta', text: word })),
  stop(index),
];
export const thought = (index: number, signature: string): Typed[] => [
  block(index, { type: 'thinking', thinking: '', signature: '' }),
  delta(index, { type: 'thinking_delta', thinking: 'Hm. ' }),
  delta(index, { type: 'thinking_delta', thinking: 'Yes.' }),
  delta(index, { type: 'signature_delta', signature }),
  stop(index),
];
export const use = (index: number, id: string, name: string): Typed =>
  block(index, { type: 'tool_use', id, name, input: {} });
export const json = (index: number, partial_json: string): Typed =>
  delta(index, { type: 'input_json_delta', partial_json });

export const answer = (text: string): FakeReply =>
  eventStream(typedEvents(started, ping, ...words(0, text), ...ended('end_turn')));

/** What the service refuses about a request, if anything. */
export function problemOf(body: Record<string, unknown>): string | undefined {
  const messages = (body['messages'] as { role: string; content: unknown }[] | undefined) ?? [];
  if (typeof body['max_tokens'] !== 'number') return 'max_tokens: required';
  if (messages[0]?.role !== 'user') return 'messages: the first must be user';
  if (messages.at(-1)?.role !== 'user') return 'messages: no prefill';
  const blocksOf = (at: number): Record<string, unknown>[] => {
    const content = messages[at]?.content;
    return typeof content === 'string' ? [{ type: 'text', text: content }] : ((content ?? []) as never);
  };
  const ids = new Set<unknown>();
  for (const at of messages.keys()) {
    const uses = blocksOf(at).filter((found) => found['type'] === 'tool_use');
    const results = blocksOf(at + 1).slice(0, uses.length);
    for (const [n, used] of uses.entries()) {
      if (ids.has(used['id']) || !/^[A-Za-z0-9_-]+$/.test(String(used['id'])))
        return 'tool_use ids must be unique';
      ids.add(used['id']);
      if (!results.some((result) => result['tool_use_id'] === used['id']))
        return `tool_use ${n} without tool_result`;
      if (body['tools'] === undefined) return 'tools must be defined';
    }
    for (const found of blocksOf(at)) {
      if (found['type'] === 'text' && String(found['text']).trim() === '') return 'text must be non-empty';
      if (found['type'] === 'thinking' && !String(found['signature']).startsWith('sig'))
        return 'thinking modified';
      if (found['type'] === 'tool_result' && !ids.has(found['tool_use_id']))
        return 'tool_result without tool_use';
    }
  }
  return undefined;
}

export const refusal = (
  status: number,
  type: string,
  options: { headers?: Record<string, string>; code?: string } = {},
): FakeReply => {
  const details = options.code === undefined ? {} : { details: { error_code: options.code } };
  const body = { type: 'error', error: { type, message: 'No.', ...details }, request_id: 'req_1' };
  const headers = { 'content-type': 'application/json', ...options.headers };
  return reply({ status, headers, chunks: [JSON.stringify(body)] });
};

export class FakeMessages extends FakeHttpServer {
  constructor() {
    super((request) => {
      const problem = problemOf(request.body);
      (problem === undefined ? answer('All right.') : refusal(400, 'invalid_request_error'))(request);
    });
  }

  /** Address without a path. */
  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }
}

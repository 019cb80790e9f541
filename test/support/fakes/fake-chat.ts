/** A chat completions server: streams what the script says, or answers every request with one short sentence. */
import { FakeHttpServer, reply } from './fake-http.ts';
import type { FakeReply, ReplyParts } from './fake-http.ts';

/** One server-sent event with a JSON body. */
export function sse(body: unknown): string {
  return `data: ${typeof body === 'string' ? body : JSON.stringify(body)}\n\n`;
}

export const DONE_EVENT = sse('[DONE]');

/** A chunk of the stream with one choice. */
export function choice(delta: unknown, finish: string | null = null): string {
  return sse({
    id: 'c1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
}

export function usage(input: number, output: number, cached = 0): string {
  return sse({
    choices: [],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      prompt_tokens_details: { cached_tokens: cached },
    },
  });
}

/** An event stream of these chunks. */
export function stream(chunks: readonly string[], then: NonNullable<ReplyParts['then']> = 'end'): FakeReply {
  return reply({ headers: { 'content-type': 'text/event-stream; charset=utf-8' }, chunks, then });
}

/** A complete answer, word by word, with usage. */
export function answer(text: string): FakeReply {
  const words = text.match(/\S+\s*/g) ?? [];
  return stream([
    choice({ role: 'assistant', content: '' }),
    ...words.map((word) => choice({ content: word })),
    choice({}, 'stop'),
    usage(10, words.length),
    DONE_EVENT,
  ]);
}

/** A complete answer that says something and then calls a tool. */
export function sayAndCall(text: string, name: string, args: unknown, id = 'call_a'): FakeReply {
  const call = { index: 0, id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
  return stream([
    ...(text.match(/\S+\s*/g) ?? []).map((word) => choice({ content: word })),
    choice({ tool_calls: [call] }),
    choice({}, 'tool_calls'),
    usage(10, 5),
    DONE_EVENT,
  ]);
}

/** A complete answer that calls one tool. */
export function toolCall(name: string, args: unknown, id = 'call_a'): FakeReply {
  const text = JSON.stringify(args);
  const half = Math.ceil(text.length / 2);
  return stream([
    choice({ role: 'assistant', content: null }),
    choice({ tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: '' } }] }),
    choice({ tool_calls: [{ index: 0, function: { arguments: text.slice(0, half) } }] }),
    choice({ tool_calls: [{ index: 0, function: { arguments: text.slice(half) } }] }),
    choice({}, 'tool_calls'),
    usage(10, 5),
    DONE_EVENT,
  ]);
}

export class FakeChat extends FakeHttpServer {
  constructor(fallback: FakeReply = answer('All right.')) {
    super(fallback);
  }
}

/**
 * A reader lends the streams of events one object for many of them; what a stream keeps of it must be its own. Members
 * that a stream never looks at are not even read for it.
 */
import { describe, expect, it } from 'vitest';
import { ChatStream, unreadOfChat } from '../../../worker/stages/llm/chat-stream.ts';
import { GenerateStream, unreadOfGenerate } from '../../../worker/stages/llm/generate-stream.ts';
import { isRecord, type JsonRecord } from '../../../worker/stages/llm/json.ts';
import { MessagesStream } from '../../../worker/stages/llm/messages-stream.ts';
import type { UnreadOf } from '../../../worker/stages/llm/known-shapes.ts';
import { ResponsesStream, unreadOfResponses } from '../../../worker/stages/llm/responses-stream.ts';
import type { RoundStream } from '../../../worker/stages/llm/round.ts';
import type { LlmEvent } from '../../../worker/stages/stage.ts';

type NewStream = (emit: (event: LlmEvent) => void) => RoundStream;

const nextId = (): string => 'made';
const names = { toWire: (name: string) => name, fromWire: (name: string) => name };
const usage = { input_tokens: 310, output_tokens: 24, cache_read_input_tokens: 256 };
const item = (type: string, rest: object): object => ({
  type: 'response.output_item.done',
  item: { type, ...rest },
});
const block = (index: number, content: object): object => ({
  type: 'content_block_start',
  index,
  content_block: content,
});
const part = (...parts: object[]): object => ({ candidates: [{ content: { parts }, index: 0 }] });
const choice = (delta: object, reason: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason: reason }],
});

interface Answer {
  readonly newStream: NewStream;
  readonly unreadOf: UnreadOf;
  readonly bodies: object[];
  /** Events of a body each that end in an error, or say nothing. */
  readonly others: object[];
}

const ids = { id: 'x', created: 1, model: 'm', responseId: 'r', sequence_number: 7, obfuscation: 'zz' };
const mistake = { code: 429, message: 'wait', type: 'rate_limit_error', status: 'RESOURCE_EXHAUSTED' };

const ANSWERS: Readonly<Record<string, Answer>> = {
  chat_compatible: {
    newStream: (emit) => new ChatStream(nextId, emit),
    unreadOf: unreadOfChat,
    others: [
      { ...ids, error: mistake },
      { ...ids, object: 'error', ...mistake },
      { ...ids, ...choice({ content: [{ type: 'text', text: 'a' }], reasoning: 'b' }, 'error') },
      { ...ids, choices: [{ index: 1, message: {} }], x_groq: { id: 'x', usage: { prompt_tokens: 1 } } },
    ],
    bodies: [
      choice({ content: 'Hello' }),
      choice({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }] }),
      choice({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      choice({ tool_calls: [{ index: 1, id: 'b', function: { name: 'g', arguments: { y: 2 } } }] }),
      choice({}, 'tool_calls'),
      { choices: [], usage: { prompt_tokens: 310, completion_tokens: 24 } },
    ],
  },
  llm_responses: {
    newStream: (emit) => new ResponsesStream(nextId, emit),
    unreadOf: unreadOfResponses,
    others: [
      { ...ids, type: 'response.output_text.delta', item_id: 'i', delta: 'a', error: mistake },
      { ...ids, type: 'response.output_text.delta', item_id: 'i', delta: { text: 'a' }, response: { usage } },
      { ...ids, ...mistake, type: 'error' },
      { ...ids, type: 'response.failed', response: { error: mistake } },
      { ...ids, type: 'response.function_call_arguments.delta', item_id: 'i', delta: '{' },
    ],
    bodies: [
      item('reasoning', { id: 'r1', encrypted_content: 'AAAA', summary: [{ text: 'one' }] }),
      item('reasoning', { id: 'r2', encrypted_content: 'BBBB', summary: [{ text: 'two' }] }),
      item('function_call', { id: 'i', call_id: 'a', name: 'f', arguments: '{"x":1}' }),
      { type: 'response.completed', response: { usage } },
    ],
  },
  llm_messages: {
    newStream: (emit) => new MessagesStream(nextId, emit),
    unreadOf: () => [],
    others: [{ type: 'error', error: mistake }],
    bodies: [
      { type: 'message_start', message: { usage } },
      block(0, { type: 'redacted_thinking', data: 'AAAA' }),
      block(1, { type: 'redacted_thinking', data: 'BBBB' }),
      block(2, { type: 'thinking', thinking: 'so', signature: '' }),
      { type: 'content_block_delta', index: 2, delta: { type: 'signature_delta', signature: 'CCCC' } },
      { type: 'content_block_stop', index: 2 },
      block(3, { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 41 } },
      { type: 'message_stop' },
    ],
  },
  llm_generate: {
    newStream: (emit) => new GenerateStream(nextId, { names, emit }),
    unreadOf: unreadOfGenerate,
    others: [
      { ...ids, error: mistake },
      { ...ids, promptFeedback: { blockReason: 'SAFETY' }, createTime: 'now', modelVersion: 'm' },
      { ...ids, ...part({ text: 'so', thought: true }), usageMetadata: { thoughtsTokenCount: 1 } },
    ],
    bodies: [
      part({ text: 'Hello' }),
      part({ functionCall: { name: 'f', args: { x: 1 }, id: 'a' }, thoughtSignature: 'AAAA' }),
      part({ functionCall: { name: 'g', args: { y: [2] }, id: 'b' }, thoughtSignature: 'BBBB' }),
      { ...part(), usageMetadata: { promptTokenCount: 310, candidatesTokenCount: 24 } },
      { candidates: [{ finishReason: 'STOP' }] },
    ],
  },
};

/** Writes over everything in it. */
function spoil(value: unknown): void {
  if (Array.isArray(value)) {
    value.forEach(spoil);
    value.fill('spoiled');
  } else if (isRecord(value)) {
    Object.values(value).forEach(spoil);
    for (const key of Object.keys(value)) Object.assign(value, { [key]: 'spoiled' });
  }
}

describe('a body that is only lent', () => {
  it.each(Object.entries(ANSWERS))('is not kept by the stream of %s', (_name, { newStream, bodies }) => {
    const run = (after: (body: unknown) => void): LlmEvent[] => {
      const events: LlmEvent[] = [];
      const stream = newStream((event) => events.push(event));
      for (const made of bodies) {
        const body: unknown = structuredClone(made);
        if (isRecord(body)) stream.object(body);
        after(body);
      }
      stream.end();
      return events;
    };
    const kept = run(() => undefined);
    expect(kept.at(-1)).toMatchObject({ type: 'done', finish: 'tool_calls' });
    expect(run(spoil)).toEqual(kept);
  });

  it.each(Object.entries(ANSWERS))(
    'is not looked at in the members that %s leaves out',
    (_name, { newStream, unreadOf, bodies, others }) => {
      const guarded = (body: JsonRecord): JsonRecord => {
        const unread = unreadOf(body);
        const refuse = (key: string | symbol): void => {
          if (typeof key === 'string' && unread.includes(key)) throw new Error(`${key} was looked at`);
        };
        return new Proxy(body, {
          get: (target, key): unknown => (refuse(key), Reflect.get(target, key)),
          has: (target, key) => (refuse(key), Reflect.has(target, key)),
          getOwnPropertyDescriptor: (target, key) => (
            refuse(key),
            Reflect.getOwnPropertyDescriptor(target, key)
          ),
          ownKeys: (target) => {
            if (unread.length > 0) throw new Error('all members were looked at');
            return Reflect.ownKeys(target);
          },
        });
      };
      const answers = [bodies.map((body) => ({ ...ids, ...body })), ...others.map((body) => [body])];
      for (const answer of answers) {
        const [seen, expected]: LlmEvent[][] = [[], []];
        const [stream, whole] = [
          newStream((found) => seen?.push(found)),
          newStream((found) => expected?.push(found)),
        ];
        for (const body of answer) {
          if (!isRecord(body)) continue;
          stream.object(guarded(body));
          whole.object(body);
        }
        stream.end();
        whole.end();
        expect(seen).toEqual(expected);
      }
    },
  );
});

/** A reader lends the streams of events one object for many of them; what a stream keeps of it must be its own. */
import { describe, expect, it } from 'vitest';
import { ChatStream } from '../../../worker/stages/llm/chat-stream.ts';
import { GenerateStream } from '../../../worker/stages/llm/generate-stream.ts';
import { isRecord } from '../../../worker/stages/llm/json.ts';
import { MessagesStream } from '../../../worker/stages/llm/messages-stream.ts';
import { ResponsesStream } from '../../../worker/stages/llm/responses-stream.ts';
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

const ANSWERS: Readonly<Record<string, { readonly newStream: NewStream; readonly bodies: object[] }>> = {
  chat_compatible: {
    newStream: (emit) => new ChatStream(nextId, emit),
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
    bodies: [
      item('reasoning', { id: 'r1', encrypted_content: 'AAAA', summary: [{ text: 'one' }] }),
      item('reasoning', { id: 'r2', encrypted_content: 'BBBB', summary: [{ text: 'two' }] }),
      item('function_call', { id: 'i', call_id: 'a', name: 'f', arguments: '{"x":1}' }),
      { type: 'response.completed', response: { usage } },
    ],
  },
  llm_messages: {
    newStream: (emit) => new MessagesStream(nextId, emit),
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
});

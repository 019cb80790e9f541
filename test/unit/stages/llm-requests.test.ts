import { describe, expect, it } from 'vitest';
import { renderChatRequest } from '../../../worker/stages/llm/chat-compatible/request.ts';
import { ChatStream } from '../../../worker/stages/llm/chat-compatible/stream.ts';
import { renderGenerateRequest, toolNames } from '../../../worker/stages/llm/generate/request.ts';
import { GenerateStream } from '../../../worker/stages/llm/generate/stream.ts';
import { renderMessagesRequest } from '../../../worker/stages/llm/messages/request.ts';
import { MessagesStream } from '../../../worker/stages/llm/messages/stream.ts';
import { ReasoningNotes } from '../../../worker/stages/llm/reasoning.ts';
import { rejectionOf } from '../../../worker/stages/llm/rejection.ts';
import { renderResponsesRequest } from '../../../worker/stages/llm/responses/request.ts';
import type { LlmEvent, LlmRequest } from '../../../worker/stages/stage.ts';

type Emit = (event: LlmEvent) => void;

const baseUrl = 'http://127.0.0.1';
const parameters = { $schema: 'x', type: 'object', properties: {} };
const REQUEST: LlmRequest = {
  messages: [
    { role: 'system', text: 'Be kind.' },
    { role: 'user', text: 'Hello' },
  ],
  tools: [{ name: '1st', description: 'd', parameters }],
};
const conversation = 'c'.repeat(70);
const read = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

describe('every option reaches the wire:', () => {
  it.each([
    [{ model: 'x' }, { model: 'x' }],
    [{ reasoningEffort: 'disabled' }, { reasoning: { effort: 'none' } }],
    [
      { reasoningEffort: 'xhigh' },
      { reasoning: { effort: 'xhigh' }, include: ['reasoning.encrypted_content'] },
    ],
    [{ maxOutputTokens: 9 }, { max_output_tokens: 9 }],
    [{ parallelToolCalls: false }, { parallel_tool_calls: false }],
    [{ serviceTier: 'priority' }, { service_tier: 'priority' }],
    [{}, { store: false, instructions: 'Be kind.', prompt_cache_key: 'c'.repeat(64) }],
  ] as const)('llm_responses %j', (options, body) => {
    const all = { model: 'gpt-4.1', baseUrl, conversation, ...options };
    expect(read(renderResponsesRequest(REQUEST, all))).toMatchObject(body);
  });

  it.each([
    [{ model: 'x' }, { model: 'x' }],
    [{ maxTokens: 9 }, { max_tokens: 9 }],
    [
      { effort: 'max', thinking: 'adaptive' },
      { output_config: { effort: 'max' }, thinking: { type: 'adaptive' } },
    ],
    [{ thinking: 'between_tools' }, { thinking: { type: 'between_tools' } }],
  ] as const)('llm_messages %j', (options, body) => {
    const all = { model: 'm', maxTokens: 1024, thinking: 'model_default' as const, baseUrl, ...options };
    expect(read(renderMessagesRequest(REQUEST, all))).toMatchObject(body);
  });

  it.each([
    [{ thinkingLevel: 'minimal' }, { thinkingConfig: { thinkingLevel: 'MINIMAL' } }],
    [{ maxOutputTokens: 9 }, { maxOutputTokens: 9 }],
    [{ temperature: 0 }, { temperature: 0 }],
  ] as const)('llm_generate %j', (options, generationConfig) => {
    expect(read(renderGenerateRequest(REQUEST, { model: 'm', baseUrl, ...options }))).toMatchObject({
      generationConfig,
    });
  });

  it('and nothing is sent that was not asked for', () => {
    const responses = read(renderResponsesRequest({ ...REQUEST, tools: [] }, { model: 'gpt-4.1', baseUrl }));
    for (const key of ['reasoning', 'include', 'service_tier', 'tools', 'tool_choice']) {
      expect(responses).not.toHaveProperty(key);
    }
    const options = { model: 'm', maxTokens: 1, thinking: 'model_default' as const, baseUrl };
    const messages = read(renderMessagesRequest(REQUEST, options));
    expect(messages).not.toHaveProperty('thinking');
    expect(read(renderGenerateRequest(REQUEST, { model: 'm', baseUrl }))).not.toHaveProperty(
      'generationConfig',
    );
  });
});

describe('a request', () => {
  it('marks tools, prompt and the last words of the user for the cache of llm_messages', () => {
    const options = { model: 'm', maxTokens: 1, thinking: 'model_default' as const, baseUrl };
    const cache_control = { type: 'ephemeral' };
    expect(read(renderMessagesRequest(REQUEST, options))).toMatchObject({
      tools: [{ name: '1st', cache_control }],
      system: [{ text: 'Be kind.', cache_control }],
      messages: [{ role: 'user', content: [{ text: 'Hello', cache_control }] }],
    });
  });

  it('marks what the caller has not said', () => {
    const messages = [...REQUEST.messages, { role: 'system' as const, text: 'A tool has ended.' }];
    const { input } = read(renderResponsesRequest({ ...REQUEST, messages }, { model: 'gpt-4.1', baseUrl }));
    expect(JSON.stringify(input)).toContain('Hello\\n[Note, not said by the caller: A tool has ended.]');
  });

  it('tells two calls of one id apart, each with its own result', () => {
    const call = { id: 'a', name: '1st', arguments: '{}' };
    const results = ['seven', 'not run'].map((text) => ({
      role: 'tool' as const,
      callId: 'a',
      name: '1st',
      text,
    }));
    const messages = [
      ...REQUEST.messages,
      { role: 'assistant' as const, text: '', toolCalls: [call, call] },
      ...results,
    ];
    const request = { ...REQUEST, messages };
    const { input } = read(renderResponsesRequest(request, { model: 'gpt-4.1', baseUrl }));
    expect((input as unknown[]).slice(1)).toEqual([
      expect.objectContaining({ type: 'function_call', call_id: 'a' }),
      expect.objectContaining({ type: 'function_call', call_id: 'a_2' }),
      { type: 'function_call_output', call_id: 'a', output: 'seven' },
      { type: 'function_call_output', call_id: 'a_2', output: 'not run' },
    ]);
    const options = { model: 'm', maxTokens: 1, thinking: 'model_default' as const, baseUrl };
    expect(renderMessagesRequest(request, options)).toMatch(
      /"a","content":"seven".*"a_2","content":"not run"/,
    );
    expect(renderGenerateRequest(request, { model: 'm', baseUrl })).toMatch(/seven.*not run/);
  });

  it('renames what llm_generate would refuse, and stands in for a signature only in the current turn', () => {
    const made = (id: string) => [
      { role: 'assistant' as const, text: '', toolCalls: [{ id, name: '1st', arguments: '{}' }] },
      { role: 'tool' as const, callId: id, name: '1st', text: '7' },
    ];
    const messages = [
      ...REQUEST.messages,
      ...made('a'),
      { role: 'user' as const, text: 'And?' },
      ...made('b'),
    ];
    const body = renderGenerateRequest({ ...REQUEST, messages }, { model: 'gemini-3-flash', baseUrl });
    expect(body).toContain('"name":"_1st"');
    expect(body).not.toContain('"name":"1st"');
    expect(body.match(/skip_thought_signature_validator/g)).toHaveLength(1);
    const older = renderGenerateRequest({ ...REQUEST, messages }, { model: 'gemini-2.5-flash', baseUrl });
    expect(older).not.toContain('skip_thought');
  });
});

describe('opaque reasoning', () => {
  it('is dropped when it is over 256 KiB, or belongs to no call', () => {
    const notes = new ReasoningNotes('p');
    notes.add('x');
    expect(notes.end()).toBeUndefined();
    notes.call('a');
    expect(notes.end()).toEqual({ provider: 'p', data: '[["a","x"]]' });
    notes.add('y'.repeat(262_144));
    notes.call('b');
    expect(notes.end()).toBeUndefined();
  });
});

describe('a rejection', () => {
  const head = { status: 429, header: () => '' };
  it.each([
    [{ error: { code: 'insufficient_quota' } }, { retryable: false }],
    [{ error: { details: { error_code: 'enforced_spend_limit_reached' } } }, { retryable: false }],
    [[{ error: { details: [{ retryDelay: '17.5s' }] } }], { retryAfterMs: 17_500 }],
    [{ error: 'text' }, {}],
    [undefined, {}],
  ])('with the body %j', (body, advice) => {
    expect(rejectionOf(head, body)).toEqual({ kind: 'rejected', status: 429, ...advice });
  });
});

describe('numbers of tools', () => {
  const given = '{"id":1915883588174806058,"total":10.00,"rate":1e-7,"n":5,"zip":"01234"}';
  const messages: LlmRequest['messages'] = [
    ...REQUEST.messages,
    { role: 'assistant', text: '', toolCalls: [{ id: 'D681PevKs', name: '1st', arguments: given }] },
    { role: 'tool', callId: 'D681PevKs', name: '1st', text: given },
  ];
  const request = { ...REQUEST, messages };

  it('go out digit by digit, in arguments and in results, by every interface', () => {
    const asText = JSON.stringify(given);
    const chat = renderChatRequest(request, { model: 'm', baseUrl });
    expect(chat).toContain(`"arguments":${asText}`);
    expect(chat).toContain(`"content":${asText}`);
    const responses = renderResponsesRequest(request, { model: 'gpt-4.1', baseUrl });
    expect(responses).toContain(`"arguments":${asText}`);
    expect(responses).toContain(`"output":${asText}`);
    const options = { model: 'm', maxTokens: 1, thinking: 'model_default' as const, baseUrl };
    const sent = renderMessagesRequest(request, options);
    expect(sent).toContain(`"input":${given}`);
    expect(sent).toContain(`"content":${asText}`);
    const generate = renderGenerateRequest(request, { model: 'm', baseUrl });
    expect(generate).toContain(`"args":${given}`);
    expect(generate).toContain(`"output":${given}`);
  });

  it.each([
    [
      'generate',
      (emit: Emit) => new GenerateStream(() => 'call_0', { names: toolNames(REQUEST), emit }),
      `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${given}}}]},"finishReason":"STOP"}]}`,
    ],
    [
      'generate, as text',
      (emit: Emit) => new GenerateStream(() => 'call_0', { names: toolNames(REQUEST), emit }),
      `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${JSON.stringify(given)}}}]}}]}`,
    ],
    [
      'messages',
      (emit: Emit) => new MessagesStream(() => 'call_0', emit),
      `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":${given}}}`,
    ],
    [
      'chat',
      (emit: Emit) => new ChatStream(() => 'call_0', emit),
      `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":${given}}}]}}]}`,
    ],
  ])('come in digit by digit where a server sends them as an object: %s', (_name, newStream, data) => {
    let text = '';
    const stream = newStream((event) => {
      if (event.type === 'tool-call') text += event.arguments;
    });
    stream.event({ event: '', data });
    stream.end();
    expect(text).toBe(given);
  });

  it('count as before: usage that is written with a fraction', () => {
    const events: LlmEvent[] = [];
    const stream = new GenerateStream(() => 'call_0', {
      names: toolNames(REQUEST),
      emit: (event) => events.push(event),
    });
    const data =
      '{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10.0,"candidatesTokenCount":2}}';
    stream.event({ event: '', data });
    stream.end();
    expect(events).toMatchObject([{ usage: { inputTokens: 10, outputTokens: 2 } }]);
  });
});

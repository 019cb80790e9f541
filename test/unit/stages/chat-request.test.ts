import { describe, expect, it } from 'vitest';
import { syntheticIds } from '../../../worker/stages/llm/call-ids.ts';
import { renderChatRequest } from '../../../worker/stages/llm/chat-compatible/request.ts';
import type { ChatMessage, LlmRequest } from '../../../worker/stages/stage.ts';

const OPTIONS = { baseUrl: 'http://127.0.0.1/v1', model: 'm' };

function render(request: Partial<LlmRequest>, options: object = {}): Record<string, unknown> {
  const text = renderChatRequest({ messages: [], tools: [], ...request }, { ...OPTIONS, ...options });
  return JSON.parse(text) as Record<string, unknown>;
}
const messages = (...list: ChatMessage[]): unknown => render({ messages: list })['messages'];
const user = (text: string): ChatMessage => ({ role: 'user', text });
const bot = (text: string): ChatMessage => ({ role: 'assistant', text });
const call = (id: string, args = '{}'): ChatMessage => ({
  role: 'assistant',
  text: '',
  toolCalls: [{ id, name: 'f', arguments: args }],
});
const result = (callId: string, text: string): ChatMessage => ({ role: 'tool', callId, name: 'f', text });

/** What the id `a` is to a server that takes nine letters and digits. */
const idOfA = 'ca978112c';

describe('the messages of a request', () => {
  it('start with one system message; later ones are notes among the user’s words', () => {
    const rendered = messages(
      { role: 'system', text: 'Be kind.' },
      { role: 'system', text: 'Be brief.' },
      user('Hi'),
      bot('Hello'),
      { role: 'system', text: 'Note' },
      user('Bye'),
    );
    expect(rendered).toEqual([
      { role: 'system', content: 'Be kind.\n\nBe brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: '[Note, not said by the caller: Note]\nBye' },
    ]);
  });

  it('hold no empty text and no two user messages in a row', () => {
    expect(messages(user('One'), bot('  '), user('Two'), user(''))).toEqual([
      { role: 'user', content: 'One\nTwo' },
    ]);
  });

  it('pair each call with its result, in place, and drop a result without a call', () => {
    expect(
      messages(user('Go'), call('a', '{"x":1}'), result('a', '{"ok":true}'), result('z', 'stray')),
    ).toEqual([
      { role: 'user', content: 'Go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: idOfA, type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
      },
      { role: 'tool', tool_call_id: idOfA, content: '{"ok":true}' },
    ]);
  });

  it('tell two calls of one id apart, each with its own result', () => {
    const twice: ChatMessage = {
      role: 'assistant',
      text: '',
      toolCalls: ['a', 'a_2', 'a'].map((id) => ({ id, name: 'f', arguments: '{}' })),
    };
    const wire = messages(
      user('Go'),
      twice,
      result('a', '1'),
      result('a_2', '2'),
      result('a', '3'),
      result('a', '4'),
    );
    const [, { tool_calls }, ...results] = wire as [unknown, { tool_calls: { id: string }[] }, ...unknown[]];
    expect(new Set(tool_calls.map(({ id }) => id)).size).toBe(3);
    expect(results).toEqual(
      ['1', '2', '3'].map((content, at) => ({ role: 'tool', tool_call_id: tool_calls[at]!.id, content })),
    );
    expect(messages(user('Go'), twice, result('a', '1'))).toHaveLength(5);
  });

  it('give a call that was interrupted a result, and arguments that were cut an empty object', () => {
    const rendered = messages(user('Go'), call('a', '{"x":'), user('Stop'));
    expect(rendered).toMatchObject([
      { role: 'user', content: 'Go' },
      { tool_calls: [{ function: { arguments: '{}' } }] },
      { role: 'tool', tool_call_id: idOfA },
      { role: 'assistant', content: '…' },
      { role: 'user', content: 'Stop' },
    ]);
  });
});

describe('the rest of a request', () => {
  it('names tools only when there are any, without the dialect of their schema', () => {
    expect(render({})).not.toHaveProperty('tools');
    expect(render({})).not.toHaveProperty('tool_choice');
    const parameters = { $schema: 'x', type: 'object', properties: {} };
    expect(render({ tools: [{ name: 'f', description: 'd', parameters }] })).toMatchObject({
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'd', parameters: { type: 'object', properties: {} } },
        },
      ],
      tool_choice: 'auto',
    });
  });

  it('carries the options that were given', () => {
    const options = { maxTokens: 9, temperature: 0, reasoningEffort: 'low' };
    const router = { routerOrder: ['groq'], routerAllowFallbacks: false };
    expect(render({}, { ...options, ...router })).toMatchObject({
      max_tokens: 9,
      temperature: 0,
      reasoning_effort: 'low',
      provider: { order: ['groq'], allow_fallbacks: false },
    });
    expect(render({})).not.toHaveProperty('provider');
  });

  it('makes up ids that the conversation has not used', () => {
    const next = syntheticIds([call('call_0'), call('call_7'), call('other')]);
    expect([next(), next()]).toEqual(['call_8', 'call_9']);
    expect(syntheticIds([])()).toBe('call_0');
  });
});

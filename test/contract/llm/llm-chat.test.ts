import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { DONE_EVENT, FakeChat, answer, sse, stream, toolCall } from '../../support/fakes/fake-chat.ts';
import { reply } from '../../support/fakes/fake-http.ts';
import { chatDialect } from './chat-dialect.ts';
import { describeLlm } from './llm-suite.ts';

describeLlm(chatDialect);

const tools = [{ type: 'function' as const, function: { name: 'book', parameters: { type: 'object' } } }];
const question = { role: 'user' as const, content: 'A table at ten.' };

describe('the fake chat completions service', () => {
  it('holds an exchange with the usual client, a tool call and its result included', async () => {
    const fake = new FakeChat();
    await fake.start();
    const client = new OpenAI({ apiKey: 'k', baseURL: fake.baseUrl, maxRetries: 0 });
    const options = { model: 'm', tools, stream_options: { include_usage: true } };
    fake.script.push(toolCall('book', { time: '10:00' }));
    const asked = await client.chat.completions.stream({ ...options, messages: [question] }).finalMessage();
    expect(asked.tool_calls).toMatchObject([
      { id: 'call_a', type: 'function', function: { name: 'book', arguments: '{"time":"10:00"}' } },
    ]);
    fake.script.push(answer('It is booked for ten.'));
    const messages = [
      question,
      asked,
      { role: 'tool' as const, tool_call_id: 'call_a', content: '{"booked":true}' },
    ];
    const answered = client.chat.completions.stream({ ...options, messages });
    const usages: unknown[] = [];
    answered.on('chunk', ({ usage }) => usages.push(usage));
    expect(await answered.finalContent()).toBe('It is booked for ten.');
    expect(usages.at(-1)).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 });
    expect(fake.requests[1]!.body['messages']).toHaveLength(3);
    await fake.close();
  });

  it('refuses and breaks off as the usual client expects it', async () => {
    const fake = new FakeChat();
    await fake.start();
    const client = new OpenAI({ apiKey: 'k', baseURL: fake.baseUrl, maxRetries: 0 });
    const ask = (): Promise<string | null> =>
      client.chat.completions.stream({ model: 'm', messages: [question] }).finalContent();
    fake.script.push(
      reply({
        status: 429,
        chunks: [JSON.stringify({ error: { code: 'insufficient_quota', message: 'm' } })],
      }),
    );
    await expect(ask()).rejects.toMatchObject({ status: 429, code: 'insufficient_quota' });
    fake.script.push(stream([sse({ error: { code: 'server_error', message: 'm' } }), DONE_EVENT]));
    await expect(ask()).rejects.toThrow();
    await fake.close();
  });
});

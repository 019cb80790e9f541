import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { newLlmMessages } from '../../../worker/stages/llm/messages/adapter.ts';
import {
  FakeMessages,
  ended,
  json,
  refusal,
  started,
  stop,
  thought,
  use,
  words,
} from '../../support/fakes/fake-messages.ts';
import { eventStream, typedEvents } from '../../support/fakes/fake-responses.ts';
import { describeLlm } from './llm-suite.ts';

const OPTIONS = { model: 'claude-haiku-5-5', maxTokens: 99, thinking: 'disabled' as const };
const twoCalls = (at: number) => [
  use(at, 'a', 'f'),
  json(at, ''),
  use(at + 1, 'b', 'g'),
  json(at, '{"x"'),
  json(at + 1, '{"y":2}'),
  json(at, ':1}'),
  stop(at),
  stop(at + 1),
];

describeLlm({
  name: 'llm_messages',
  newFake: () => new FakeMessages(),
  newStage: (fake) => newLlmMessages({ ...OPTIONS, baseUrl: fake.origin }),
  text: (text) => typedEvents(started, ...words(0, text), ...ended('end_turn')),
  begun: (text) => typedEvents(started, ...words(0, text).slice(0, 2)),
  calls: typedEvents(started, ...twoCalls(0), ...ended('tool_use')),
  many: (count) =>
    typedEvents(
      started,
      ...Array.from({ length: count }, (_, n) => [use(n, `c${n}`, 'f'), json(n, ''), stop(n)]).flat(),
      ...ended('tool_use'),
    ),
  cut: typedEvents(started, use(0, 'a', 'f'), json(0, '{"x'), stop(0), ...ended('max_tokens')),
  filtered: typedEvents(started, ...words(0, 'I'), ...ended('refusal')),
  inStream: (
    [
      ['overloaded_error', 529],
      ['api_error', 500],
      ['rate_limit_error', 429],
      ['timeout_error', 504],
      ['new_error', 502],
    ] as const
  ).map(([type, status]) => [
    typedEvents({ type: 'error', error: { type, message: 'm' } } as never)[0]!,
    status,
  ]),
  sign: 'event: ping\ndata: {"type":"ping"}\n\n',
  hasAnyModel: true,
  reasoning: {
    chunks: typedEvents(started, ...thought(0, 'sig=='), ...twoCalls(1), ...ended('tool_use')),
    findsIn: (body) =>
      JSON.stringify(body).includes(
        '[{"type":"thinking","thinking":"Hm. Yes.","signature":"sig=="},{"type":"tool_use","id":"',
      ),
  },
});

describe('llm_messages', () => {
  it.each(['xhigh', 'max'] as const)('refuses effort %s without thinking at construction', (effort) => {
    const make = (thinking: 'disabled' | 'between_tools' | 'adaptive' | 'model_default') => () =>
      void newLlmMessages({ ...OPTIONS, baseUrl: 'http://127.0.0.1', effort, thinking }).close();
    expect(make('disabled')).toThrow('effort');
    expect(make('between_tools')).toThrow('effort');
    expect(make('adaptive')).not.toThrow();
    expect(make('model_default')).not.toThrow();
  });
});

describe('the fake messages service', () => {
  it('holds an exchange with the vendor’s client, a tool call and its result included, and an error', async () => {
    const fake = new FakeMessages();
    await fake.start();
    const client = new Anthropic({ apiKey: 'k', baseURL: fake.origin, maxRetries: 0 });
    fake.script.push(eventStream(typedEvents(started, ...twoCalls(0), ...ended('tool_use'))));
    const base = {
      model: 'm',
      max_tokens: 9,
      tools: [{ name: 'f', input_schema: { type: 'object' as const } }],
    };
    const first = await client.messages
      .stream({ ...base, messages: [{ role: 'user', content: 'Hi' }] })
      .finalMessage();
    expect(first.content.filter((found) => found.type === 'tool_use').map((found) => found.input)).toEqual([
      { x: 1 },
      { y: 2 },
    ]);
    const asked = [
      { role: 'user' as const, content: 'Hi' },
      { role: 'assistant' as const, content: [{ type: 'tool_use' as const, id: 'a', name: 'f', input: {} }] },
    ];
    const result = { type: 'tool_result' as const, tool_use_id: 'a', content: '1' };
    const second = await client.messages
      .stream({ ...base, messages: [...asked, { role: 'user', content: [result] }] })
      .finalMessage();
    expect(second.content).toMatchObject([{ type: 'text', text: 'All right.' }]);
    await expect(
      client.messages
        .stream({ ...base, messages: [...asked, { role: 'user', content: 'Well?' }] })
        .finalMessage(),
    ).rejects.toMatchObject({ status: 400 });
    fake.script.push(refusal(529, 'overloaded_error'));
    await expect(
      client.messages.stream({ ...base, messages: [{ role: 'user', content: 'Hi' }] }).finalMessage(),
    ).rejects.toMatchObject({ status: 529 });
    await fake.close();
  });
});

/** The history of every call is acceptable to the strictest chat templates, by each interface. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idsAt } from '../../../worker/stages/llm/call-ids.ts';
import { renderChatRequest } from '../../../worker/stages/llm/chat-compatible/request.ts';
import { renderGenerateRequest } from '../../../worker/stages/llm/generate/request.ts';
import { renderMessagesRequest } from '../../../worker/stages/llm/messages/request.ts';
import { renderResponsesRequest } from '../../../worker/stages/llm/responses/request.ts';
import { turnsOf } from '../../../worker/stages/realtime/gemini/messages.ts';
import { dialects } from '../../../worker/stages/realtime/openai/declaration.ts';
import { itemsOf, withHistory } from '../../../worker/stages/realtime/openai/requests.ts';
import type { ChatMessage, LlmRequest } from '../../../worker/stages/stage.ts';
import {
  chatOfGenerate,
  chatOfMessages,
  chatOfResponses,
  everywhere,
  llama,
  mistral,
  mistralTokenizer,
  qwen,
  systemless,
  withoutTools,
  type ChatWire,
} from '../../support/core/strict-templates.ts';

const baseUrl = 'http://127.0.0.1';
const tools = [{ name: 'get', description: 'Gets.', parameters: { type: 'object' } }];
const read = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

function chatOf(messages: readonly ChatMessage[], model = 'm'): ChatWire[] {
  return read(renderChatRequest({ messages, tools }, { baseUrl, model }))['messages'] as ChatWire[];
}

const otherInterfaces: readonly [string, (request: LlmRequest, model?: string) => ChatWire[]][] = [
  [
    'responses',
    (request, model = 'm') => chatOfResponses(read(renderResponsesRequest(request, { baseUrl, model }))),
  ],
  [
    'messages',
    (request, model = 'm') => {
      const options = { baseUrl, model, maxTokens: 1, thinking: 'model_default' as const };
      return chatOfMessages(read(renderMessagesRequest(request, options)));
    },
  ],
  [
    'generate',
    (request, model = 'm') => chatOfGenerate(read(renderGenerateRequest(request, { baseUrl, model }))),
  ],
];

// ---- what happens in calls ----

const words = fc.constantFrom(
  'Hello.',
  'One moment',
  'No, wait!',
  '',
  '  ',
  '\n',
  'Yes: “7”.',
  '.',
  'Cut \uD83D',
  'a\0b',
);
/** Of OpenAI, Anthropic, vLLM, Mistral, Kimi, of servers without any, and of none that is known. */
const ids = fc.constantFrom(
  'call_0fypS1hVXabcdefghijklmn',
  'toolu_01A',
  'chatcmpl-tool-5f3f1c9f0c7b4b6ca1f2f3a4b5c6d7e8',
  'D681PevKs',
  'functions.get:0',
  'call_0',
  '',
  'a b/ö',
  'x'.repeat(80),
);
const calls = fc.array(
  fc.record({
    id: ids,
    name: fc.constantFrom('get', 'get', 'get<|channel|>commentary', ''),
    arguments: fc.constantFrom(
      ...['{}', '{"x":1}', '{"x":', '[]', '', 'null'],
      ...['{"x":["\\ud83d"]}', '{"\\uDE00":"\\u0000"}', '{"x":"\\ud83d\\ude00 \\\\ud83d"}', '{"x":"\uD83D"}'],
    ),
  }),
  { minLength: 1, maxLength: 4 },
);
const result = (callId: string, text: string): ChatMessage => ({ role: 'tool', callId, name: 'get', text });

/** Each is something that a call's context may gain at once. */
const happening: fc.Arbitrary<ChatMessage[]> = fc.oneof(
  words.map((text): ChatMessage[] => [{ role: 'user', text }]),
  words.map((text): ChatMessage[] => [{ role: 'assistant', text }]),
  words.map((text): ChatMessage[] => [{ role: 'system', text }]),
  // A round of tools: its results in order, in another one, with words in between, or some of them missing.
  fc.tuple(words, calls, fc.nat(5), words, fc.boolean()).map((round): ChatMessage[] => {
    const [text, toolCalls, kept, spoken, turned] = round;
    const results = toolCalls
      .slice(0, kept)
      .map(({ id }, at) => result(id, ['{"ok":true}', '', 'cut \uD83D', '{"x":"\\ud83d"}'][at % 4]!));
    const between: ChatMessage[] = spoken.trim() === '' ? [] : [{ role: 'user', text: spoken }];
    return [{ role: 'assistant', text, toolCalls }, ...between, ...(turned ? results.toReversed() : results)];
  }),
  // The context window has cut the call away, or another provider's result is left over.
  ids.map((id): ChatMessage[] => [result(id, 'stray')]),
);
const histories = fc.array(happening, { maxLength: 14 }).map((steps) => steps.flat());

describe('any history is sent in a form that is accepted', () => {
  it('by the templates of Mistral, Gemma, Llama 2 and Qwen', () => {
    fc.assert(
      fc.property(histories, (messages) => {
        const wire = chatOf(messages);
        for (const judge of [mistral, withoutTools, qwen, everywhere]) expect(judge(wire)).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    'meta-llama/Llama-3.3-70B-Instruct',
    'accounts/fireworks/models/llama-v3p1-8b-instruct',
    'openai/gpt-oss-20b',
  ])('by those that take one call in a message, which are known by their names: %s', (model) => {
    fc.assert(
      fc.property(histories, (messages) => {
        const wire = chatOf(messages, model);
        for (const judge of [llama, mistral, everywhere]) expect(judge(wire)).toBeUndefined();
      }),
    );
  });

  it.each([
    'mistralai/Mistral-7B-Instruct-v0.3',
    'mistralai/Mixtral-8x22B-Instruct-v0.1',
    'mistralai/Mistral-Nemo-Instruct-2407',
    'mistralai/Mistral-Small-Instruct-2409',
    'ministral-8b-2410',
  ])('by the tokenizer of earlier Mistral models, which takes no words beside calls: %s', (model) => {
    fc.assert(
      fc.property(histories, (messages) => {
        const wire = chatOf(messages, model);
        for (const judge of [mistralTokenizer, everywhere]) expect(judge(wire)).toBeUndefined();
      }),
    );
  });

  it.each(['google/gemma-2-9b-it', 'mistralai/Mistral-7B-Instruct-v0.2'])(
    'by those without a system message, which are known by their names: %s',
    (model) => {
      fc.assert(
        fc.property(histories, (messages) => {
          const wire = chatOf([{ role: 'system', text: 'Be kind.' }, ...messages], model);
          for (const judge of [systemless, mistral, everywhere]) expect(judge(wire)).toBeUndefined();
          expect(wire[0]?.content).toMatch(/^Be kind\./);
        }),
      );
    },
  );

  it.each(otherInterfaces)(
    'by servers of the %s interface, whatever template is behind it',
    (_name, chat) => {
      fc.assert(
        fc.property(histories, (messages) => {
          const wire = chat({ messages, tools });
          for (const judge of [withoutTools, everywhere]) expect(judge(wire)).toBeUndefined();
          // Their ids are the vendors' own: everything else is as strict.
          const strict = wire.map((message) => ({
            ...message,
            ...(message.tool_calls && {
              tool_calls: message.tool_calls.map((call) => ({ ...call, id: 'D681PevKs' })),
            }),
          }));
          expect(mistral(strict)).toBeUndefined();
        }),
        { numRuns: 500 },
      );
    },
  );

  it.each(otherInterfaces)('as the names of models ask for it, by the %s interface too', (_name, chat) => {
    fc.assert(
      fc.property(histories, (messages) => {
        const told: ChatMessage[] = [{ role: 'system', text: 'Be kind.' }, ...messages];
        const one = chat({ messages: told, tools }, 'Llama-3.1-8B-Instruct');
        const alone = chat({ messages: told, tools }, 'Mistral-Nemo-Instruct-2407');
        const systemless = chat({ messages: told, tools }, 'gemma-2-9b-it');
        for (const wire of [one, alone, systemless]) expect(everywhere(wire)).toBeUndefined();
        expect(llama(one)).toBeUndefined();
        for (const { content, tool_calls: made } of alone)
          expect(made === undefined || content === null).toBe(true);
        expect(systemless[0]?.content).toMatch(/^Be kind\./);
      }),
    );
  });

  it('without instructions for Gemma 3 where the vendor takes none', () => {
    const messages: ChatMessage[] = [
      { role: 'system', text: 'Be kind.' },
      { role: 'user', text: 'Hi.' },
    ];
    const body = (model: string) => read(renderGenerateRequest({ messages, tools: [] }, { baseUrl, model }));
    expect(body('gemma-3-27b-it')).not.toHaveProperty('systemInstruction');
    expect(body('gemma-3-27b-it')['contents']).toEqual([
      { role: 'user', parts: [{ text: 'Be kind.\n\nHi.' }] },
    ]);
    expect(body('gemini-3-flash')).toHaveProperty('systemInstruction');
  });

  it('with the same ids in later rounds, whatever came in between', () => {
    fc.assert(
      fc.property(histories, histories, (before, after) => {
        const first = chatOf(before).flatMap(({ tool_calls: made }) => made ?? []);
        const later = chatOf([...before, ...after]).flatMap(({ tool_calls: made }) => made ?? []);
        expect(later.slice(0, first.length).map(({ id }) => id)).toEqual(first.map(({ id }) => id));
      }),
    );
  });
});

it('speaking models are sent whole characters alone', () => {
  fc.assert(
    fc.property(histories, (messages) => {
      const item = { dialect: dialects.openai, isKnownCall: (id: string) => id === 'D681PevKs' };
      const sent = [
        turnsOf(messages),
        messages.map((message) => itemsOf(message, item)),
        withHistory('Be kind.', messages),
      ];
      expect(JSON.stringify(sent)).not.toMatch(/(?<!\\)\\u(?:d[89a-f]|0000)/i);
    }),
  );
});

it.each([70, 6_000])('is written, also where a call or a result is nested %d levels deep', (levels) => {
  const deep = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const messages: ChatMessage[] = [
    { role: 'user', text: 'Go' },
    { role: 'assistant', text: '', toolCalls: [{ id: 'a', name: 'get', arguments: deep }] },
    result('a', deep),
  ];
  expect(chatOf(messages)[1]?.tool_calls?.[0]?.function.arguments).toBe('{}');
  for (const [, chat] of otherInterfaces) {
    const [, call, answer] = chat({ messages, tools });
    expect(call?.tool_calls?.[0]?.function.arguments).toBe('{}');
    expect(answer?.content).toContain('{');
  }
});

describe('what is sent of a history', () => {
  it('keeps the greeting as words of the agent', () => {
    expect(
      chatOf([
        { role: 'system', text: 'Be kind.' },
        { role: 'assistant', text: 'Hello, this is the front desk.' },
        { role: 'user', text: 'Hi.' },
      ]),
    ).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: '.' },
      { role: 'assistant', content: 'Hello, this is the front desk.' },
      { role: 'user', content: 'Hi.' },
    ]);
  });

  it('keeps the ids of Mistral, and Kimi’s own where the model is Kimi', () => {
    const round = (id: string): ChatMessage[] => [
      { role: 'user', text: 'Go' },
      { role: 'assistant', text: '', toolCalls: [{ id, name: 'get', arguments: '{}' }] },
      result(id, '7'),
    ];
    expect(chatOf(round('D681PevKs'))[1]?.tool_calls?.[0]?.id).toBe('D681PevKs');
    expect(chatOf(round('functions.get:0'), 'Kimi-K2')[1]?.tool_calls?.[0]?.id).toBe('functions.get:0');
    expect(chatOf(round('functions.get:0'))[1]?.tool_calls?.[0]?.id).toMatch(/^[a-z0-9]{9}$/);
  });

  it('keeps the ids of a vendor at the vendor’s own address alone', () => {
    const own = 'https://api.vendor.example/v1';
    for (const at of [own, 'https://api.vendor.example', 'https://api.vendor.example:443/proxy'])
      expect(idsAt(at, own).fits('toolu_01A')).toBe(true);
    for (const at of [
      'http://127.0.0.1:8000/v1',
      'https://vendor.example',
      'https://api.vendor.example:8443',
    ])
      expect([idsAt(at, own).fits('toolu_01A'), idsAt(at, own).fits('abcDEF123')]).toEqual([false, true]);
  });

  it('moves the words beside a call to the next answer where a message has one or the other', () => {
    const wire = chatOf(
      [
        { role: 'user', text: 'Go' },
        { role: 'assistant', text: 'A moment.', toolCalls: [{ id: 'a', name: 'get', arguments: '{}' }] },
        result('a', '7'),
        { role: 'assistant', text: 'It is 7.' },
        { role: 'user', text: 'And now?' },
      ],
      'Mistral-Nemo-Instruct-2407',
    );
    expect(wire.map(({ content }) => content)).toEqual(['Go', null, '7', 'A moment. It is 7.', 'And now?']);
  });

  it('gives thoughts back with their calls, and says that there are some where a vendor asks for them', () => {
    const reasoning = { provider: 'chat_compatible', data: '[["a","Hm."]]' };
    const call = (id: string): ChatMessage => ({
      role: 'assistant',
      text: '',
      toolCalls: [{ id, name: 'get', arguments: '{}' }],
      ...(id === 'a' && { reasoning }),
    });
    const messages: ChatMessage[] = [
      { role: 'user', text: 'Go' },
      call('a'),
      result('a', '7'),
      call('b'),
      result('b', '8'),
    ];
    const thoughtsAt = (url: string, model: string): unknown[] => {
      const body = read(renderChatRequest({ messages, tools }, { baseUrl: url, model }));
      return (body['messages'] as Record<string, unknown>[]).flatMap((message) =>
        message['role'] === 'assistant' ? [message['reasoning_content']] : [],
      );
    };
    for (const [url, model, thoughts] of [
      ['https://api.deepseek.com/v1', 'deepseek-v4-flash', ['Hm.', ' ']],
      ['https://api.moonshot.ai/v1', 'kimi-k2.5', ['Hm.', ' ']],
      ['http://gateway.example/v1', 'deepseek/deepseek-v4-flash', ['Hm.', undefined]],
      ['http://gateway.example/v1', 'mistral-medium-3-5', [undefined, undefined]],
    ] as const)
      expect(thoughtsAt(url, model)).toEqual(thoughts);
  });

  it('puts a result behind its call that came after other words', () => {
    expect(
      chatOf([
        { role: 'user', text: 'Go' },
        { role: 'assistant', text: '', toolCalls: [{ id: 'D681PevKs', name: 'get', arguments: '{}' }] },
        { role: 'user', text: 'Hurry.' },
        result('D681PevKs', '7'),
      ]),
    ).toMatchObject([
      { content: 'Go' },
      { tool_calls: [{}] },
      { role: 'tool', content: '7' },
      { role: 'assistant', content: '…' },
      { role: 'user', content: 'Hurry.' },
    ]);
  });
});

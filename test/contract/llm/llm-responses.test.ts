import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { newLlmResponses } from '../../../worker/stages/llm/responses/adapter.ts';
import { ResponsesStream } from '../../../worker/stages/llm/responses/stream.ts';
import {
  FakeResponses,
  added,
  callDelta,
  callDone,
  callItem,
  completed,
  created,
  eventStream,
  incomplete,
  itemDone,
  refusal,
  textDelta,
  textEvents,
  typedEvents,
} from '../../support/fakes/fake-responses.ts';
import { describeLlm } from './llm-suite.ts';

const thoughts = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [],
  encrypted_content: 'gAAA==',
};
const twoCalls = [
  added(1, callItem('a', 'f', '')),
  added(2, callItem('b', 'g', '')),
  callDelta('a', '{"x"'),
  callDelta('b', '{"y":'),
  callDelta('a', ':1}'),
  callDone('a', '{"x":1}'),
  callDone('b', '{"y":2}'),
  itemDone(1, callItem('a', 'f', '{"x":1}')),
  itemDone(2, callItem('b', 'g', '{"y":2}')),
];

describeLlm({
  name: 'llm_responses',
  newFake: () => new FakeResponses(),
  newStage: (fake) =>
    newLlmResponses({ baseUrl: fake.baseUrl, model: 'gpt-5.4-mini', reasoningEffort: 'low' }),
  text: (text) => typedEvents(created, ...textEvents(text), completed),
  begun: (text) => typedEvents(created, textDelta(text)),
  calls: typedEvents(created, ...twoCalls, completed),
  many: (count) =>
    typedEvents(
      created,
      ...Array.from({ length: count }, (_, n) => itemDone(n, callItem(`c${n}`, 'f', ''))),
      completed,
    ),
  cut: typedEvents(
    created,
    added(0, callItem('a', 'f', '')),
    callDelta('a', '{"x'),
    incomplete('max_output_tokens'),
  ),
  filtered: typedEvents(created, ...textEvents('I'), incomplete('content_filter')),
  inStream: [
    [typedEvents({ type: 'error', code: 'rate_limit_exceeded', message: 'm' } as never)[0]!, 429],
    [typedEvents({ type: 'error', error: { type: 'server_error', code: 'server_error' } } as never)[0]!, 500],
    [
      typedEvents({ type: 'response.failed', response: { error: { code: 'server_error' } } } as never)[0]!,
      500,
    ],
    [
      typedEvents({ type: 'response.failed', response: { error: { code: 'invalid_prompt' } } } as never)[0]!,
      400,
    ],
    ['event: error\ndata: oops\n\n', 502],
  ],
  sign: ': ping\n\n',
  hasAnyModel: true,
  reasoning: {
    chunks: typedEvents(created, itemDone(0, thoughts), ...twoCalls, completed),
    findsIn: (body) =>
      JSON.stringify(body).includes(`${JSON.stringify(thoughts)},{"type":"function_call","call_id":"`),
  },
});

it('speaks what the deltas of a text left out, and nothing twice', () => {
  const said: string[] = [];
  const stream = new ResponsesStream(
    () => 'call_1',
    (event) => event.type === 'text' && said.push(event.text),
  );
  const textDone = (text: string) => ({ type: 'response.output_text.done', text });
  const events = [
    textDone('Only whole.'),
    ...textEvents('By word.'),
    added(1, { type: 'message' }),
    textDelta('Be'),
    textDone('Begun.'),
  ];
  for (const body of events) stream.event({ event: body.type, data: JSON.stringify(body) });
  expect(said.join('')).toBe('Only whole. By word. Begun.');
});

describe('the fake responses service', () => {
  it('holds an exchange with the vendor’s client, a tool call and its result included, and an error', async () => {
    const fake = new FakeResponses();
    await fake.start();
    const client = new OpenAI({ apiKey: 'k', baseURL: fake.baseUrl, maxRetries: 0 });
    fake.script.push(eventStream(typedEvents(created, ...twoCalls, completed)));
    const seen: string[] = [];
    const stream = await client.responses.create({ model: 'm', input: 'Hi', stream: true });
    for await (const event of stream) {
      if (event.type === 'response.output_item.done') seen.push(JSON.stringify(event.item));
    }
    expect(seen).toHaveLength(2);
    const input = [
      { role: 'user' as const, content: 'Hi' },
      { type: 'function_call' as const, call_id: 'a', name: 'f', arguments: '{"x":1}' },
      { type: 'function_call_output' as const, call_id: 'a', output: '1' },
    ];
    let text = '';
    for await (const event of await client.responses.create({ model: 'm', input, stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    expect(text).toBe('All right.');
    await expect(
      client.responses.create({ model: 'm', input: input.slice(0, 2), stream: true }),
    ).rejects.toMatchObject({ status: 400 });
    fake.script.push(refusal(429, 'insufficient_quota'));
    await expect(client.responses.create({ model: 'm', input: 'x', stream: true })).rejects.toMatchObject({
      status: 429,
      code: 'insufficient_quota',
    });
    await fake.close();
  });
});

import { describe, expect, it } from 'vitest';
import { ChatStream } from '../../../worker/stages/llm/chat-compatible/stream.ts';
import { GenerateStream } from '../../../worker/stages/llm/generate/stream.ts';
import { MessagesStream } from '../../../worker/stages/llm/messages/stream.ts';
import { ResponsesStream } from '../../../worker/stages/llm/responses/stream.ts';
import type { LlmEvent } from '../../../worker/stages/stage.ts';
import { wireNames } from '../../../worker/stages/wire-names.ts';

function run(chunks: readonly unknown[]): LlmEvent[] {
  const events: LlmEvent[] = [];
  let next = 0;
  const stream = new ChatStream(
    () => `call_${next++}`,
    (event) => events.push(event),
  );
  for (const chunk of chunks) {
    stream.event({ event: '', data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) });
  }
  stream.end();
  return events;
}

const delta = (body: unknown, finish: string | null = null): unknown => ({
  choices: [{ index: 0, delta: body, finish_reason: finish }],
});
const calls = (...list: unknown[]): unknown => delta({ tool_calls: list });

const spoken = (events: readonly LlmEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');

/** The calls as a consumer assembles them. */
function assembled(events: readonly LlmEvent[]): { id?: string; name?: string; arguments: string }[] {
  const out: { id?: string; name?: string; arguments: string }[] = [];
  for (const event of events) {
    if (event.type !== 'tool-call') continue;
    const call = (out[event.index] ??= { arguments: '' });
    if (event.id !== undefined) call.id = event.id;
    if (event.name !== undefined) call.name = event.name;
    call.arguments += event.arguments;
  }
  return out;
}

describe('an answer that is sent once more', () => {
  const words = 'It will be there on Friday, at noon.';
  const parts = [delta({ content: words.slice(0, 10) }), delta({ content: words.slice(10) })];
  const whole = { index: 0, message: { role: 'assistant', content: words }, finish_reason: 'stop' };

  it.each([
    ['as a message at the end', [...parts, { choices: [whole] }]],
    ['beside the reason to stop', [...parts, delta({ content: words }, 'stop')]],
    ['behind the reason to stop', [...parts, delta({}, 'stop'), delta({ content: words })]],
    ['behind it in parts', [...parts, delta({}, 'stop'), delta({ content: words.slice(0, 21) }), '[DONE]']],
    ['with its usage', [...parts, delta({}, 'stop'), { choices: [whole], usage: { prompt_tokens: 1 } }]],
  ])('is said once (%s)', (_how, chunks) => {
    expect(spoken(run(chunks))).toBe(words);
  });

  it('is said once beside the reason to stop by Gemini, too', () => {
    const events: LlmEvent[] = [];
    const emit = (event: LlmEvent): void => void events.push(event);
    const stream = new GenerateStream(() => 'call_0', { names: wireNames([]), emit });
    for (const finishReason of [undefined, 'STOP']) {
      const candidates = [{ content: { parts: [{ text: words }] }, finishReason }];
      stream.event({ event: '', data: JSON.stringify({ candidates }) });
    }
    stream.end();
    expect(spoken(events)).toBe(words);
  });

  it.each([
    [
      'with the reason in every part',
      [delta({ content: 'No. ' }, 'stop'), delta({ content: 'Not now.' }, 'stop')],
      'No. Not now.',
    ],
    [
      'in words that come again',
      [delta({ content: 'No. ' }), delta({ content: 'No. ' }, 'stop')],
      'No. No. ',
    ],
    [
      'with more behind the reason',
      [delta({ content: 'Yes, ' }, 'stop'), delta({ content: 'of course.' })],
      'Yes, of course.',
    ],
  ])('and is new is said (%s)', (_how, chunks, expected) => {
    expect(spoken(run(chunks))).toBe(expected);
  });
});

describe('tool calls of a stream', () => {
  it('are assembled from interleaved fragments', () => {
    const events = run([
      calls({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }),
      calls({ index: 1, id: 'b', function: { name: 'g', arguments: '{"y"' } }),
      calls({ index: 0, function: { arguments: '{"x":1}' } }),
      calls({ index: 1, function: { arguments: ':2}' } }),
      delta({}, 'tool_calls'),
      '[DONE]',
    ]);
    expect(assembled(events)).toEqual([
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '{"y":2}' },
    ]);
    expect(events.at(-1)).toEqual({ type: 'done', finish: 'tool_calls', usage: undefined });
  });

  it('are kept apart when 128 of them come interleaved, a character at a time', () => {
    const count = 128;
    const all = Array.from({ length: count }, (_, n) => ({
      id: `c${n}`,
      name: `f${n}`,
      text: `{"n":${1_000 + n}}`,
    }));
    const chunks: unknown[] = all.map(({ id, name }, index) =>
      calls({ index, id, function: { name, arguments: '' } }),
    );
    for (let at = 0; at < all[0]!.text.length; at += 1) {
      for (const [index, { text }] of all.entries()) {
        chunks.push(calls({ index, function: { arguments: text[at] } }));
      }
    }
    const events = run([...chunks, delta({}, 'tool_calls'), '[DONE]']);
    expect(assembled(events)).toEqual(all.map(({ id, name, text }) => ({ id, name, arguments: text })));
  });

  it('may come whole, as objects, without ids, under one index, and with the reason stop', () => {
    const events = run([
      calls({ index: 0, function: { name: 'f', arguments: { x: 1 } } }),
      calls({ index: 0, id: '', function: { name: 'f', arguments: '{"x":2}' } }),
      delta({}, 'stop'),
      '[DONE]',
    ]);
    expect(assembled(events)).toEqual([
      { id: 'call_0', name: 'f', arguments: '{"x":1}' },
      { id: 'call_1', name: 'f', arguments: '{"x":2}' },
    ]);
    expect(events.at(-1)).toMatchObject({ finish: 'tool_calls' });
  });

  it('with different ids under one index are different calls', () => {
    const events = run([
      calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
      calls({ index: 0, id: 'b', function: { name: 'g', arguments: '{}' } }),
      delta({}, 'tool_calls'),
    ]);
    expect(assembled(events).map((call) => call.id)).toEqual(['a', 'b']);
  });

  it.each(['', 'f'])('whose fragments have an id each are one, with the name %j in all of them', (name) => {
    const events = run([
      calls({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }),
      calls({ index: 0, id: 'b', function: { name, arguments: '{"x":' } }),
      calls({ index: 0, id: 'c', function: { name, arguments: '1}' } }),
      calls({ index: 0, id: 'd', function: { name: 'f', arguments: '{"x":2}' } }),
      delta({}, 'tool_calls'),
    ]);
    expect(
      assembled(events)
        .map(({ arguments: text }) => text)
        .slice(-2),
    ).toEqual(['{"x":1}', '{"x":2}']);
  });

  it('take their place in the list for an index', () => {
    const events = run([
      calls({ id: 'a', function: { name: 'f' } }, { id: 'b', function: { name: 'g' } }),
      delta({}, 'tool_calls'),
    ]);
    expect(assembled(events)).toEqual([
      { id: 'a', name: 'f', arguments: '{}' },
      { id: 'b', name: 'g', arguments: '{}' },
    ]);
  });

  it('keep a name that is repeated in every fragment, and join one that is split', () => {
    const repeated = run([
      calls({ index: 0, id: 'a', function: { name: 'get_day', arguments: '{"d"' } }),
      calls({ index: 0, id: 'a', function: { name: 'get_day', arguments: ':1}' } }),
      delta({}, 'tool_calls'),
    ]);
    expect(assembled(repeated)).toEqual([{ id: 'a', name: 'get_day', arguments: '{"d":1}' }]);
    const split = run([
      calls({ index: 0, id: 'a', function: { name: 'get_' } }),
      calls({ index: 0, function: { name: 'day' } }),
      calls({ index: 0, function: { arguments: '{}' } }),
      delta({}, 'tool_calls'),
    ]);
    expect(assembled(split)).toEqual([{ id: 'a', name: 'get_day', arguments: '{}' }]);
  });

  it('that were cut by the length limit stay cut', () => {
    const events = run([
      calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } }),
      delta({}, 'length'),
      '[DONE]',
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'done', finish: 'length' });
  });

  it('without a name are a protocol error', () => {
    expect(run([calls({ index: 0, id: 'a' }), delta({}, 'tool_calls')]).at(-1)).toMatchObject({
      error: { kind: 'protocol' },
    });
  });

  it('are understood in their old form', () => {
    const events = run([
      delta({ function_call: { name: 'f', arguments: '{"x"' } }),
      delta({ function_call: { arguments: ':1}' } }),
      delta({}, 'function_call'),
    ]);
    expect(assembled(events)).toEqual([{ id: 'call_0', name: 'f', arguments: '{"x":1}' }]);
    expect(events.at(-1)).toMatchObject({ finish: 'tool_calls' });
  });
});

it('a call with arguments of thousands of levels is a fault of the stream and none of the call', () => {
  const deep = `${'{"a":'.repeat(6_000)}1${'}'.repeat(6_000)}`;
  const chunk = JSON.stringify(calls({ index: 0, id: 'a', function: { name: 'f', arguments: 0 } }));
  const events = run([chunk.replace('"arguments":0', `"arguments":${deep}`)]);
  expect(events).toMatchObject([{ type: 'error', error: { kind: 'protocol' } }]);
});

describe('the text of a stream', () => {
  it('holds no reasoning, wherever the server puts it', () => {
    const events = run([
      delta({ reasoning_content: 'hmm' }),
      delta({ reasoning: 'hm' }),
      delta({ content: 'Hello' }),
      delta({ content: ' there' }, 'stop'),
    ]);
    expect(spoken(events)).toBe('Hello there');
  });

  it('keeps thoughts for the calls that they led to, and for no answer', () => {
    const thought = [delta({ reasoning_content: 'Hm, ' }), delta({ reasoning_content: 'the weather.' })];
    const made = run([
      ...thought,
      calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
      delta({}, 'tool_calls'),
    ]);
    expect(made.at(-1)).toMatchObject({
      reasoning: { provider: 'chat_compatible', data: '[["a","Hm, the weather."]]' },
    });
    expect(run([...thought, delta({ content: 'Hi' }, 'stop')]).at(-1)).not.toHaveProperty('reasoning');
  });

  it('bears a null delta, no choices, other choices, parts and usage anywhere', () => {
    const events = run([
      { choices: [] },
      { choices: null },
      { choices: [{ index: 0, delta: null }] },
      { choices: [{ index: 1, delta: { content: 'other' } }] },
      delta({
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'thinking', thinking: 'no' },
        ],
      }),
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { usage: { prompt_tokens: 3 } } },
      '[DONE]',
      delta({ content: 'after the end' }),
    ]);
    expect(spoken(events)).toBe('Hi');
    const tokens = { inputTokens: 3, outputTokens: 0, cachedTokens: 0 };
    expect(events.at(-1)).toEqual({ type: 'done', finish: 'stop', usage: tokens });
  });
});

describe('a refusal of the model', () => {
  it('is what the caller is answered', () => {
    const events = run([
      delta({ content: null, refusal: 'I cannot ' }),
      delta({ refusal: 'do that.' }, 'stop'),
    ]);
    expect(events).toMatchObject([
      { type: 'text', text: 'I cannot ' },
      { type: 'text', text: 'do that.' },
      { type: 'done', finish: 'stop' },
    ]);
  });
});

describe('blocks of a messages interface', () => {
  it('of a kind that is not known are left out, with their arguments', () => {
    const events: LlmEvent[] = [];
    const stream = new MessagesStream(
      () => 'call_0',
      (event) => events.push(event),
    );
    const start = (index: number, content_block: object): object => ({
      ...{ type: 'content_block_start', index, content_block },
    });
    const part = (index: number, given: object): object => ({
      ...{ type: 'content_block_delta', index, delta: given },
    });
    for (const body of [
      start(0, { type: 'server_tool_use', id: 's', name: 'search', input: {} }),
      part(0, { type: 'input_json_delta', partial_json: '{"q":1}' }),
      start(1, { type: 'text', text: '' }),
      part(1, { type: 'text_delta', text: 'Hello.' }),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ])
      stream.event({ event: '', data: JSON.stringify(body) });
    expect(events).toMatchObject([
      { type: 'text', text: 'Hello.' },
      { type: 'done', finish: 'stop' },
    ]);
  });

  it('are complete where the server closes behind the reason to stop, and cut where it closes before', () => {
    const said = (reasons: readonly string[]): LlmEvent[] => {
      const events: LlmEvent[] = [];
      const stream = new MessagesStream(
        () => 'call_0',
        (event) => events.push(event),
      );
      for (const stop_reason of reasons)
        stream.event({ event: '', data: JSON.stringify({ type: 'message_delta', delta: { stop_reason } }) });
      stream.end();
      return events;
    };
    expect(said(['end_turn'])).toMatchObject([{ type: 'done', finish: 'stop' }]);
    expect(said([])).toEqual([{ type: 'error', error: { kind: 'disconnected' } }]);
  });
});

describe('servers that only look like those of the vendors', () => {
  const given = (
    stream: typeof MessagesStream | typeof ResponsesStream,
    bodies: readonly object[],
  ): LlmEvent[] => {
    const events: LlmEvent[] = [];
    const made = new stream(
      () => 'call_0',
      (event) => events.push(event),
    );
    for (const body of bodies) made.event({ event: '', data: JSON.stringify(body) });
    made.end();
    return events;
  };
  const call = { type: 'function_call', call_id: 'c1', name: 'get' };

  it('end a message without a reason, which is whole unless it calls something', () => {
    const text = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hello.' } };
    const use = {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'a', name: 'get' },
    };
    expect(given(MessagesStream, [text, { type: 'message_stop' }]).at(-1)).toMatchObject({ finish: 'stop' });
    expect(given(MessagesStream, [use, { type: 'message_stop' }]).at(-1)).toMatchObject({
      error: { kind: 'disconnected' },
    });
  });

  it('name a call otherwise when it is done: it is one, with the arguments that came', () => {
    const events = given(ResponsesStream, [
      { type: 'response.output_item.added', output_index: 0, item: { ...call, id: 'i1', arguments: '' } },
      { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'i2', delta: '{"x":' },
      { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'i3', delta: '1}' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...call, id: 'i4', arguments: '{"x":1}' },
      },
      { type: 'response.completed', response: {} },
    ]);
    expect(assembled(events)).toEqual([{ id: 'c1', name: 'get', arguments: '{"x":1}' }]);
    expect(events.at(-1)).toMatchObject({ type: 'done', finish: 'tool_calls' });
  });

  it('send the answer at its end alone', () => {
    const content = [{ type: 'output_text', text: 'Hello.' }];
    const output = [
      { type: 'message', content },
      { ...call, id: 'i1', arguments: '{"x":1}' },
    ];
    const events = given(ResponsesStream, [{ type: 'response.completed', response: { output } }]);
    expect(spoken(events)).toBe('Hello.');
    expect(assembled(events)).toEqual([{ id: 'c1', name: 'get', arguments: '{"x":1}' }]);
    const twice = given(ResponsesStream, [
      { type: 'response.output_text.delta', delta: 'Hello.' },
      { type: 'response.completed', response: { output } },
    ]);
    expect([spoken(twice), assembled(twice)]).toEqual(['Hello.', []]);
  });
});

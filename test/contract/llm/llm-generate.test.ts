import { GoogleGenAI } from '@google/genai';
import { describe, expect, it } from 'vitest';
import { toolNames } from '../../../worker/stages/llm/generate/request.ts';
import { GenerateStream } from '../../../worker/stages/llm/generate/stream.ts';
import { newLlmGenerate } from '../../../worker/stages/llm/generate/adapter.ts';
import { FakeGenerate, answer, call, chunk, parts, refusal } from '../../support/fakes/fake-generate.ts';
import { eventStream } from '../../support/fakes/fake-responses.ts';
import { describeLlm } from './llm-suite.ts';

const twoCalls = (signature?: string): object[] => [
  call('f', { x: 1 }, { id: 'a', ...(signature && { signature }) }),
  call('g', { y: 2 }, { id: 'b' }),
];
const wordsOf = (text: string): string[] =>
  (text.match(/\S+\s*/g) ?? []).map((word) => parts([{ text: word }]));

describeLlm({
  name: 'llm_generate',
  newFake: () => new FakeGenerate(),
  newStage: (fake) => newLlmGenerate({ baseUrl: fake.origin, model: 'gemini-3-flash' }),
  text: (text) => [...wordsOf(text), parts([], 'STOP')],
  begun: (text) => [parts([{ text }])],
  calls: [parts(twoCalls(), 'STOP')],
  many: (count) => [
    parts(
      Array.from({ length: count }, (_, n) => call('f', {}, { id: `c${n}` })),
      'STOP',
    ),
  ],
  cut: [parts([call('f', { x: 1 }, { id: 'a' })], 'MAX_TOKENS')],
  filtered: [parts([{ text: 'I' }]), parts([], 'SAFETY')],
  inStream: [
    [chunk({ error: { code: 503, status: 'UNAVAILABLE' } }), 503],
    ['{"error": {\n  "code": 429,\n  "message": "m"\n}}\n\n', 429],
    [parts([], 'MALFORMED_FUNCTION_CALL'), 502],
  ],
  sign: ': ping\r\n\r\n',
  reasoning: {
    chunks: [parts(twoCalls('CqQB=='), 'STOP')],
    findsIn: (body) =>
      JSON.stringify(body).includes('"name":"f","args":{"x":1}},"thoughtSignature":"CqQB=="}'),
  },
});

describe('what a content generation service sends behind its reason to stop', () => {
  const run = (...chunks: string[]): { text: string; calls: string[]; finished: boolean } => {
    const found = { text: '', calls: [] as string[], finished: false };
    const stream = new GenerateStream(() => 'call_0', {
      names: toolNames({ messages: [], tools: [] }),
      emit: (event) => {
        if (event.type === 'text') found.text += event.text;
        if (event.type === 'tool-call' && event.name !== undefined) found.calls.push(event.name);
      },
    });
    for (const data of chunks) stream.event({ event: '', data: data.slice('data: '.length) });
    found.finished = stream.finished;
    return found;
  };
  const said = (text: string, finish?: string): string => parts([{ text }], finish);

  it.each([
    ['It is noon.', [said('It is noon.', 'STOP'), said('It is noon.')]],
    ['No.', [said('No.', 'STOP'), said('No.', 'STOP')]],
    ['It is noon.', [said('It is '), said('noon.', 'STOP'), said('noon.', 'STOP')]],
    ['It is noon.', [said('It is noon.', 'STOP'), said('It is'), said(' noon.')]],
  ])('is not said twice: %s', (text, chunks) => {
    expect(run(...chunks).text).toBe(text);
  });

  it('is said where it is new, because some write the reason into every part', () => {
    expect(run(said('It is ', 'STOP'), said('noon', 'STOP'), said('.', 'STOP')).text).toBe('It is noon.');
  });

  it('calls no tool twice', () => {
    const made = parts([call('f', { x: 1 })], 'STOP');
    expect(run(made, made).calls).toEqual(['f']);
    expect(run(made, parts([call('f', { x: 2 })], 'STOP')).calls).toEqual(['f', 'f']);
  });

  it('counts only behind the first word: gateways write a reason in front of it', () => {
    expect(run(parts([], 'STOP')).finished).toBe(false);
    expect(run(parts([], 'STOP'), said('It is noon.', 'STOP')).finished).toBe(true);
  });
});

describe('the fake content generation service', () => {
  it('holds an exchange with the vendor’s client, a tool call and its result included, and an error', async () => {
    const fake = new FakeGenerate();
    await fake.start();
    const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: fake.origin } });
    fake.script.push(eventStream([parts(twoCalls('CqQB=='), 'STOP')]));
    const hi = { role: 'user', parts: [{ text: 'Hi' }] };
    const found: unknown[] = [];
    for await (const part of await client.models.generateContentStream({ model: 'm', contents: [hi] })) {
      found.push(...(part.functionCalls ?? []));
    }
    expect(found).toMatchObject([{ name: 'f' }, { name: 'g' }]);
    const made = {
      role: 'model',
      parts: [{ functionCall: { name: 'f', args: {} }, thoughtSignature: 'CqQB' }],
    };
    const result = { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 1 } } }] };
    let text = '';
    for await (const part of await client.models.generateContentStream({
      model: 'm',
      contents: [hi, made, result],
    })) {
      text += part.text ?? '';
    }
    expect(text).toBe('All right.');
    await expect(
      client.models.generateContentStream({ model: 'm', contents: [hi, made] }),
    ).rejects.toMatchObject({
      status: 400,
    });
    fake.script.push(refusal(403, 'PERMISSION_DENIED'));
    await expect(client.models.generateContentStream({ model: 'm', contents: [hi] })).rejects.toMatchObject({
      status: 403,
    });
    fake.script.push(answer('x'));
    await fake.close();
  });
});

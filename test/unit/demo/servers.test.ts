/** The demo's HTTP servers on real sockets, spoken to by raw clients; the engine behind the voice is a stand-in with known answers. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { llmServer } from '../../../examples/demo/llm-server.ts';
import { Abandoned, QueueFull } from '../../../examples/demo/thread-pool.ts';
import { ttsServer, type Speak } from '../../../examples/demo/tts-server.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });

describe('the mind', () => {
  const now = (): Date => new Date(2026, 2, 6, 16, 5);
  const start = (): Promise<string> => listen(llmServer({ now }));
  interface Chunk {
    choices: {
      delta: {
        content?: string;
        tool_calls?: { id?: string; function: { name?: string; arguments: string } }[];
      };
      finish_reason: string | null;
    }[];
    usage?: Record<string, number>;
  }
  async function stream(
    body: Record<string, unknown>,
  ): Promise<{ chunks: Chunk[]; last: string; type: string | null }> {
    const response = await post(`${await start()}/v1/chat/completions`, {
      model: 'm',
      stream: true,
      ...body,
    });
    const lines = (await response.text()).split('\n\n').filter((line) => line !== '');
    const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.slice(6)) as Chunk);
    return { chunks, last: lines.at(-1)!, type: response.headers.get('content-type') };
  }
  const said = [
    { role: 'system', content: 'x' },
    { role: 'user', content: 'what time is it' },
  ];

  it('streams word by word, with the finish reason, the usage and [DONE]', async () => {
    const { chunks, last, type } = await stream({ messages: said, stream_options: { include_usage: true } });
    expect(type).toBe('text/event-stream');
    expect(chunks.flatMap(({ choices }) => choices[0]?.delta.content ?? [])).toEqual([
      '',
      'It ',
      'is ',
      '4:05 ',
      'PM.',
    ]);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
    });
    expect(last).toBe('data: [DONE]');
  });

  it('sends no usage unless asked', async () => {
    const { chunks } = await stream({ messages: said });
    expect(chunks.some((chunk) => chunk.usage !== undefined)).toBe(false);
  });

  it('streams a tool call in fragments that join to JSON', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' }, day: { type: 'string' } } };
    const { chunks } = await stream({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'weather in new york tomorrow' }] }],
      tools: [{ type: 'function', function: { name: 'get_weather', parameters } }],
    });
    const parts = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(parts[0]).toMatchObject({
      id: expect.stringMatching(/^call_/) as string,
      function: { name: 'get_weather', arguments: '' },
    });
    expect(parts.length).toBeGreaterThan(2);
    expect(JSON.parse(parts.map((part) => part.function.arguments).join(''))).toEqual({
      city: 'New York',
      day: 'tomorrow',
    });
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('answers whole without stream', async () => {
    const response = await post(`${await start()}/v1/chat/completions`, { messages: said });
    expect(await response.json()).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: 'It is 4:05 PM.' }, finish_reason: 'stop' }],
    });
  });

  it.each([
    ['{', 400, 'invalid_json'],
    ['[]', 400, 'invalid_json'],
    ['{}', 400, 'invalid_messages'],
    ['{"messages":[]}', 400, 'invalid_messages'],
    ['{"messages":[{"content":"x"}]}', 400, 'invalid_messages'],
    ['{"messages":[{"role":"user","content":"x"}],"tools":[{}]}', 400, 'invalid_tools'],
    ['{"messages":[{"role":"user","content":"x"}],"model":5}', 400, 'invalid_model'],
    [`{"x":"${'x'.repeat(1_000_000)}"}`, 413, 'too_large'],
  ])('refuses %.40s', async (body, status, code) => {
    const response = await post(`${await start()}/v1/chat/completions`, body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', code, message: expect.any(String) as string },
    });
  });

  it('knows one path and one method', async () => {
    const base = await start();
    expect((await post(`${base}/v1/completions`, {})).status).toBe(404);
    expect((await fetch(`${base}/v1/chat/completions`)).status).toBe(405);
    expect(await (await fetch(`${base}/v1/models`)).json()).toMatchObject({ data: [{ id: 'demo-rules' }] });
  });
});

describe('the voice', () => {
  const two: Speak = (job) => Promise.resolve(Int16Array.from({ length: job.text.length }, (_, at) => at));

  it('streams PCM sentence by sentence', async () => {
    const jobs: string[] = [];
    const base = await listen(
      ttsServer((job, signal) => {
        jobs.push(`${job.voice} ${job.speed} ${job.text}`);
        return two(job, signal);
      }),
    );
    const response = await post(`${base}/v1/audio/speech`, {
      model: 'flite',
      input: 'It is 7:30 PM. Bye!',
      voice: 'rms',
      speed: 1.5,
    });
    expect(response.headers.get('content-type')).toBe('audio/pcm');
    expect(jobs).toEqual(['rms 1.5 It is seven 30 p m.', 'rms 1.5 Bye!']);
    expect((await response.arrayBuffer()).byteLength).toBe(
      2 * ('It is seven 30 p m.'.length + 'Bye!'.length),
    );
  });

  it('sends a WAV header of 24 kHz mono PCM16 with an open end', async () => {
    const base = await listen(ttsServer(two));
    const response = await post(`${base}/v1/audio/speech`, {
      model: 'flite',
      input: 'Hi',
      response_format: 'wav',
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect([bytes.toString('latin1', 0, 4), bytes.toString('latin1', 36, 40)]).toEqual(['RIFF', 'data']);
    expect([
      bytes.readUInt16LE(22),
      bytes.readUInt32LE(24),
      bytes.readUInt16LE(34),
      bytes.readUInt32LE(40),
    ]).toEqual([1, 24_000, 16, 0xffff_ffff]);
    expect(bytes.length).toBe(44 + 4);
  });

  it('answers text without words with no audio', async () => {
    const response = await post(`${await listen(ttsServer(two))}/v1/audio/speech`, { input: '... !' });
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, 0]);
  });

  it.each([
    [{}, 400, 'invalid_input'],
    [{ input: 'x'.repeat(4097) }, 400, 'invalid_input'],
    [{ input: 'x', voice: 'nobody' }, 400, 'invalid_voice'],
    [{ input: 'x', response_format: 'mp3' }, 400, 'invalid_response_format'],
    [{ input: 'x', speed: 5 }, 400, 'invalid_speed'],
  ])('refuses %j', async (body, status, code) => {
    const response = await post(`${await listen(ttsServer(two))}/v1/audio/speech`, body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  it('answers 503 when its queue is full and 500 when the engine fails', async () => {
    const full = await listen(ttsServer(() => Promise.reject(new QueueFull())));
    const response = await post(`${full}/v1/audio/speech`, { input: 'x' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    const broken = await listen(ttsServer(() => Promise.reject(new Error('boom'))));
    const failed = await post(`${broken}/v1/audio/speech`, { input: 'x' });
    expect([failed.status, JSON.stringify(await failed.json()).includes('boom')]).toEqual([500, false]);
  });

  it('gives up the rest when the client goes away', async () => {
    let asked = 0;
    let abandoned: (() => void) | undefined;
    const gone = new Promise<void>((resolve) => (abandoned = resolve));
    const base = await listen(
      ttsServer((_, signal) => {
        asked += 1;
        if (asked === 1) return Promise.resolve(new Int16Array(100));
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Abandoned());
            abandoned?.();
          });
        });
      }),
    );
    const client = new AbortController();
    const response = await fetch(`${base}/v1/audio/speech`, {
      method: 'POST',
      body: JSON.stringify({ input: 'One. Two. Three.' }),
      signal: client.signal,
    });
    await response.body!.getReader().read();
    client.abort();
    await gone;
    expect(asked).toBe(2);
  });
});

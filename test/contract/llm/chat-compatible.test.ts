import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newChatCompatible } from '../../../worker/stages/llm/chat-compatible/adapter.ts';
import { causeOf } from '../../../worker/stages/failure.ts';
import type { LlmEvent, LlmRequest, LlmRound, LlmStage } from '../../../worker/stages/stage.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import {
  DONE_EVENT,
  FakeChat,
  answer,
  choice,
  sse,
  stream,
  toolCall,
  usage,
} from '../../support/fakes/fake-chat.ts';
import { reply, silence } from '../../support/fakes/fake-http.ts';
import type { FakeReply } from '../../support/fakes/fake-http.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const HELLO: LlmRequest = { messages: [{ role: 'user', text: 'Hello' }], tools: [] };

describe('the chat compatible stage', () => {
  let server: FakeChat;
  let stage: LlmStage;
  let events: Events<LlmEvent>;

  const ask = (clock?: Clock, request = HELLO): LlmRound => {
    events = new Events();
    return stage.open(newStageContext(clock), {}).start(request, events.sink);
  };
  const outcome = async (script: FakeReply): Promise<LlmEvent> => {
    server.script.push(script);
    ask();
    await events.until(() => events.all.some((event) => event.type === 'done' || event.type === 'error'));
    return events.all.at(-1)!;
  };
  const text = (): string =>
    events
      .of('text')
      .map((event) => event.text)
      .join('');

  beforeEach(async () => {
    server = new FakeChat();
    await server.start();
    stage = newChatCompatible({ baseUrl: server.baseUrl, model: 'm' });
    events = new Events();
  });
  afterEach(async () => {
    await stage.close();
    await server.close();
  });

  it('blames no address for an answer that was cut in the middle', async () => {
    const headers = { 'content-type': 'text/event-stream' };
    const chunks = [choice({ content: 'Good ' })];
    const last = await outcome(reply({ headers, chunks, then: 'cut' }));
    if (last.type !== 'error') throw new Error('no error');
    expect(causeOf(last.error, [])).toEqual({ code: 'ANSWER_CUT' });
  });

  it('streams text and ends with the finish reason and the usage', async () => {
    const last = await outcome(answer('Good morning to you.'));
    expect(events.of('text').map((event) => event.text)).toEqual(['Good ', 'morning ', 'to ', 'you.']);
    const tokens = { inputTokens: 10, outputTokens: 4, cachedTokens: 0 };
    expect(last).toEqual({ type: 'done', finish: 'stop', usage: tokens });
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/v1/chat/completions' });
    expect(server.requests[0]!.headers.authorization).toBeUndefined();
    expect(server.requests[0]!.body).toEqual({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'Hello' }],
    });
  });

  it('uses connections again; a round that starts within the end of another needs a second one', async () => {
    for (let i = 0; i < 6; i += 1) await outcome(answer('One.'));
    expect(server.connectionCount).toBeLessThanOrEqual(2);
  });

  it('delivers tool calls', async () => {
    const last = await outcome(toolCall('book', { time: '10:00' }));
    const calls = events.of('tool-call');
    expect(calls[0]).toMatchObject({ index: 0, id: 'call_a', name: 'book' });
    expect(JSON.parse(calls.map((call) => call.arguments).join(''))).toEqual({ time: '10:00' });
    expect(last).toMatchObject({ type: 'done', finish: 'tool_calls' });
  });

  it('sends the key to a loopback host, and refuses to send it in the clear elsewhere', async () => {
    stage = newChatCompatible({ baseUrl: server.baseUrl, model: 'm', apiKey: 'sk-1' });
    await outcome(answer('Yes.'));
    expect(server.requests[0]!.headers.authorization).toBe('Bearer sk-1');
    expect(() => newChatCompatible({ baseUrl: 'http://10.1.1.1/v1', model: 'm', apiKey: 'sk-1' })).toThrow(
      'TLS',
    );
    expect(() => newChatCompatible({ baseUrl: server.baseUrl, model: 'm', apiKey: 'sk\n1' })).toThrow(
      'ASCII',
    );
  });

  it.each([400, 401, 404, 429, 500, 503, 302])('rejects with the status %d', async (status) => {
    const last = await outcome(
      reply({ status, headers: { location: '/elsewhere' }, chunks: ['{"error":"no"}'] }),
    );
    expect(last).toEqual({ type: 'error', error: { kind: 'rejected', status } });
    expect(events.all).toHaveLength(1);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['an in-stream error with a number', { error: { code: 429, message: 'slow' } }, 429],
    ['an in-stream error with digits', { error: { code: '503', message: 'x' } }, 503],
    ['an in-stream error with a word', { error: { code: 'server_error', message: 'x' } }, 502],
    ['an in-stream error that is text', { error: 'out of memory' }, 502],
    ['an error object of its own', { object: 'error', message: 'x', code: 400 }, 400],
    [
      'the finish reason error',
      { choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }] },
      502,
    ],
  ])('takes %s for a rejection', async (_name, body, status) => {
    const last = await outcome(stream([choice({ content: 'Well' }), sse(body)], 'hold'));
    expect(text()).toBe('Well');
    expect(last).toEqual({ type: 'error', error: { kind: 'rejected', status } });
  });

  it('takes an error body that came with a success for a rejection', async () => {
    const headers = { 'content-type': 'application/json' };
    const last = await outcome(
      reply({ headers, chunks: ['{"error":{"code":503,"message":"Loading model"}}'] }),
    );
    expect(last).toEqual({ type: 'error', error: { kind: 'rejected', status: 503 } });
  });

  it('takes a whole answer from a server that does not stream', async () => {
    const body = { choices: [{ index: 0, message: { content: 'All at once.' }, finish_reason: 'stop' }] };
    const headers = { 'content-type': 'application/json' };
    const last = await outcome(reply({ headers, chunks: [JSON.stringify(body)] }));
    expect(text()).toBe('All at once.');
    expect(last).toMatchObject({ type: 'done', finish: 'stop' });
  });

  it.each(['text/html', 'audio/mpeg'])('refuses a success of type %s', async (type) => {
    const last = await outcome(reply({ headers: { 'content-type': type }, chunks: ['<p>'] }));
    expect(last).toMatchObject({ error: { kind: 'protocol' } });
  });

  it.each([
    ['cut', 'cut' as const],
    ['ended without a reason', 'end' as const],
  ])('is disconnected when the stream is %s', async (_name, then) => {
    const last = await outcome(stream([choice({ content: 'Half' })], then));
    expect(last).toEqual({ type: 'error', error: { kind: 'disconnected' } });
    expect(text()).toBe('Half');
  });

  it('is disconnected when the end marker follows tool fragments without a reason', async () => {
    const fragment = choice({
      tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }],
    });
    expect(await outcome(stream([fragment, DONE_EVENT]))).toMatchObject({ error: { kind: 'disconnected' } });
  });

  it('is done at the end marker when only text came', async () => {
    const last = await outcome(stream([choice({ content: 'Fine.' }), DONE_EVENT]));
    expect(last).toEqual({ type: 'done', finish: 'stop', usage: undefined });
  });

  it.each(['data: [DONE] \n\n', 'data:  [DONE]\n\n', 'data: "[DONE]"\n\n', '[DONE]\n\n', 'data: [done]'])(
    'is done at the end marker %j',
    async (marker) => {
      expect(await outcome(stream([choice({ content: 'Fine.' }), marker]))).toMatchObject({ type: 'done' });
    },
  );

  it('is done at the end of the stream when the reason was given', async () => {
    const last = await outcome(stream([choice({ content: 'Fine.' }), choice({}, 'length'), usage(1, 2, 1)]));
    const tokens = { inputTokens: 1, outputTokens: 2, cachedTokens: 1 };
    expect(last).toEqual({ type: 'done', finish: 'length', usage: tokens });
  });

  it('is disconnected when nobody listens', async () => {
    await server.close();
    ask();
    await events.seen('error');
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'disconnected' } }]);
    await server.start();
  });

  it('reports a chunk that is no JSON as a protocol error', async () => {
    expect(await outcome(stream([sse('{oops')], 'hold'))).toMatchObject({ error: { kind: 'protocol' } });
  });

  describe('bounds', () => {
    it('an event to 1 MiB', async () => {
      const last = await outcome(stream([`data: ${'x'.repeat(1_048_577)}`], 'hold'));
      expect(last).toMatchObject({ error: { kind: 'protocol', rule: 'at most 1 MiB in an event' } });
    });

    it('a response to 4 MiB', async () => {
      const chunk = choice({ reasoning: 'x'.repeat(1_000_000) });
      const last = await outcome(stream([chunk, chunk, chunk, chunk, chunk], 'hold'));
      expect(last).toMatchObject({ error: { kind: 'protocol', rule: 'at most 4 MiB in a response' } });
    });

    it('a response to 128 tool calls', async () => {
      const calls = Array.from({ length: 129 }, (_, index) => ({
        index,
        id: `c${index}`,
        function: { name: 'f' },
      }));
      const last = await outcome(stream([choice({ tool_calls: calls })], 'hold'));
      expect(last).toMatchObject({
        error: { kind: 'protocol', rule: 'at most 128 tool calls in a response' },
      });
    });

    it('the arguments of a call to 1 MiB', async () => {
      const part = (text: string): string =>
        choice({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: text } }] });
      const last = await outcome(stream([part('x'.repeat(600_000)), part('y'.repeat(600_000))], 'hold'));
      expect(last).toMatchObject({
        error: { kind: 'protocol', rule: 'at most 1 MiB of arguments in a tool call' },
      });
    });
  });

  describe('timeouts', () => {
    const timedOut = (what: string): LlmEvent => ({ type: 'error', error: { kind: 'timeout', what } });

    it('three seconds for the connection', async () => {
      const mute = createServer((socket) => socket.on('error', () => undefined));
      await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
      const clock = newVirtualClock();
      const { port } = mute.address() as AddressInfo;
      stage = newChatCompatible({ baseUrl: `https://127.0.0.1:${port}/v1`, model: 'm' });
      ask(clock);
      clock.advance(2_999);
      expect(events.all).toEqual([]);
      clock.advance(1);
      expect(events.all).toEqual([timedOut('connect')]);
      mute.close();
    });

    it('ten seconds for the headers', async () => {
      const clock = newVirtualClock();
      server.script.push(silence);
      ask(clock);
      await server.until(() => server.requests.length === 1);
      clock.advance(9_999);
      expect(events.all).toEqual([]);
      clock.advance(1);
      expect(events.all).toEqual([timedOut('headers')]);
      await server.until(() => server.requests[0]!.aborted);
    });

    it('fifteen seconds for the first content, whatever comments come', async () => {
      const clock = newVirtualClock();
      const context = newStageContext(clock);
      const heard = new Events<LlmEvent>();
      let bound = 0;
      const counting = {
        clock,
        bind: <A extends readonly unknown[]>(callback: (...args: A) => void) =>
          context.bind((...args: A) => {
            bound += 1;
            callback(...args);
            heard.changed();
          }),
      };
      server.script.push(stream([': thinking\n\n'], 'hold'));
      stage.open(counting, {}).start(HELLO, heard.sink);
      await heard.until(() => bound >= 3);
      clock.advance(14_999);
      expect(heard.all).toEqual([]);
      clock.advance(1);
      expect(heard.all).toEqual([timedOut('first content')]);
    });

    it('ten idle seconds within the content', async () => {
      const clock = newVirtualClock();
      server.script.push(stream([choice({ content: 'Well, ' })], 'hold'));
      ask(clock);
      await events.seen('text');
      clock.advance(9_999);
      expect(events.all).toHaveLength(1);
      clock.advance(1);
      expect(events.all.at(-1)).toEqual(timedOut('idle'));
    });

    it('a short one for usage after the finish reason, without which the answer is complete', async () => {
      const clock = newVirtualClock();
      server.script.push(stream([choice({ content: 'Done. ' }, 'stop')], 'hold'));
      ask(clock);
      await events.seen('text');
      clock.advance(250);
      expect(events.all.at(-1)).toEqual({ type: 'done', finish: 'stop', usage: undefined });
      expect(clock.pending).toBe(0);
    });
  });

  describe('cancelled', () => {
    it('before the connection, it sends nothing', async () => {
      ask().cancel();
      const { all } = events;
      await outcome(answer('Next.'));
      expect(all).toEqual([]);
      expect(server.requests).toHaveLength(1);
    });

    it('before the headers, it aborts the request', async () => {
      server.script.push(silence);
      const round = ask();
      await server.until(() => server.requests.length === 1);
      round.cancel();
      await server.until(() => server.requests[0]!.aborted);
      expect(events.all).toEqual([]);
    });

    it('within the stream, it aborts the request and says nothing more', async () => {
      server.script.push(stream([choice({ content: 'One' })], 'hold'));
      const round = ask();
      await events.seen('text');
      round.cancel();
      await server.until(() => server.requests[0]!.aborted);
      expect(events.all).toHaveLength(1);
    });

    it('from inside the sink, the rest of the chunk is dropped', async () => {
      server.script.push(stream([choice({ content: 'One ' }) + choice({ content: 'Two ' })], 'hold'));
      const heard: LlmEvent[] = [];
      const round: LlmRound = stage.open(newStageContext(), {}).start(HELLO, (event) => {
        heard.push(event);
        round.cancel();
      });
      await server.until(() => server.requests[0]?.aborted === true);
      expect(heard).toEqual([{ type: 'text', text: 'One ' }]);
    });

    it('after the end, it does nothing', async () => {
      server.script.push(answer('Done.'));
      const round = ask();
      await events.seen('done');
      round.cancel();
      expect(events.all.at(-1)!.type).toBe('done');
    });
  });
});

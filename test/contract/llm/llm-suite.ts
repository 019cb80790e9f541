/** What every LLM stage holds, whatever its wire: one suite over a dialect that writes the provider's bytes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { LlmEvent, LlmRequest, LlmRound, LlmStage } from '../../../worker/stages/stage.ts';
import type { FakeHttpServer, FakeReply } from '../../support/fakes/fake-http.ts';
import { reply, silence } from '../../support/fakes/fake-http.ts';
import { eventStream } from '../../support/fakes/fake-responses.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { placesWithin } from '../../support/sampled.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

export interface LlmDialect<F extends FakeHttpServer> {
  readonly name: string;
  newFake(): F;
  newStage(fake: F): LlmStage;
  /** Chunks of a whole answer of this text. */
  text(text: string): string[];
  /** Chunks up to and with one text delta, and nothing after it. */
  begun(text: string): string[];
  /** Chunks of an answer that calls f({"x":1}) as `a` and g({"y":2}) as `b`, interleaved where the wire can. */
  readonly calls: string[];
  /** `count` calls of f without arguments. */
  many(count: number): string[];
  /** A call of f that the length limit cut. */
  readonly cut: string[];
  readonly filtered: string[];
  /** Errors within the stream, with the status that they stand for. */
  readonly inStream: readonly [string, number][];
  /** A comment or ping of this wire. */
  readonly sign: string;
  /** Another address than the vendor's may serve any model, Mistral's among them. */
  readonly hasAnyModel?: true;
  /** A round of the two calls with reasoning, and whether a request gives it back in its place. */
  readonly reasoning?: { readonly chunks: string[]; readonly findsIn: (body: unknown) => boolean };
}

const HELLO: LlmRequest = { messages: [{ role: 'user', text: 'Hello' }], tools: [] };

export function describeLlm<F extends FakeHttpServer>(dialect: LlmDialect<F>): void {
  describe(`the contract of ${dialect.name}`, () => {
    let server: F;
    let stage: LlmStage;
    let events: Events<LlmEvent>;

    const ask = (clock?: Clock, request = HELLO): LlmRound => {
      events = new Events();
      return stage.open(newStageContext(clock), {}).start(request, events.sink);
    };
    const outcome = async (script: FakeReply, request = HELLO): Promise<LlmEvent> => {
      server.script.push(script);
      ask(undefined, request);
      await events.until(() => events.all.some(({ type }) => type === 'done' || type === 'error'));
      return events.all.at(-1)!;
    };
    const text = (): string =>
      events
        .of('text')
        .map((event) => event.text)
        .join('');
    const calls = (): unknown[] => {
      const out: { id?: string | undefined; name?: string | undefined; arguments: string }[] = [];
      for (const { index, id, name, arguments: part } of events.of('tool-call')) {
        const call = (out[index] ??= { id, name, arguments: '' });
        call.arguments += part;
      }
      return out;
    };

    beforeEach(async () => {
      server = dialect.newFake();
      await server.start();
      stage = dialect.newStage(server);
    });
    afterEach(async () => {
      await stage.close();
      await server.close();
    });

    it('streams text and ends with finish and usage', async () => {
      const last = await outcome(eventStream(dialect.text('Good morning to you.')));
      expect(text()).toBe('Good morning to you.');
      expect(events.of('text').length).toBeGreaterThan(1);
      const usage = { inputTokens: 310, outputTokens: 24, cachedTokens: 256 };
      expect(last).toEqual({ type: 'done', finish: 'stop', usage });
    });

    it('gives on what it holds of a sentence where the server pauses behind it', async () => {
      server.script.push(eventStream(dialect.begun('Yes.'), 'hold'));
      ask();
      await events.until(() => text() === 'Yes.');
    });

    it('asks for the model that a call names, and for its own in every other call', async () => {
      const models: (string | undefined)[] = [];
      for (const call of [{}, { model: 'its-own' }, {}]) {
        server.script.push(eventStream(dialect.text('Yes.')));
        events = new Events();
        stage.open(newStageContext(), call).start(HELLO, events.sink);
        await events.until(() => events.of('done').length === 1);
        const { body, path } = server.requests.at(-1)!;
        models.push((body['model'] as string | undefined) ?? /models\/([^:]*):/.exec(path)?.[1]);
      }
      expect(models[1]).toBe('its-own');
      expect(models[0]).toBeDefined();
      expect([models[2], models[0] === models[1]]).toEqual([models[0], false]);
    });

    it('cancels the round that is under way when its session is closed', async () => {
      server.script.push(eventStream(dialect.begun('Good '), 'hold'));
      events = new Events();
      const session = stage.open(newStageContext(), {});
      session.start(HELLO, events.sink);
      await events.until(() => events.of('text').length > 0);
      session.close();
      await server.until(() => server.requests.at(-1)!.aborted);
      expect(events.all.map(({ type }) => type)).not.toContain('error');
    });

    it('delivers parallel tool calls', async () => {
      const last = await outcome(eventStream(dialect.calls));
      expect(calls()).toEqual([
        { id: 'a', name: 'f', arguments: '{"x":1}' },
        { id: 'b', name: 'g', arguments: '{"y":2}' },
      ]);
      expect(last).toMatchObject({ type: 'done', finish: 'tool_calls' });
    });

    it('takes 128 calls and not one more', async () => {
      expect(await outcome(eventStream(dialect.many(128)))).toMatchObject({ finish: 'tool_calls' });
      expect(calls()).toHaveLength(128);
      expect(calls()[127]).toMatchObject({ name: 'f', arguments: '{}' });
      const rule = 'at most 128 tool calls in a response';
      expect(await outcome(eventStream(dialect.many(129), 'hold'))).toMatchObject({ error: { rule } });
    });

    it('keeps the finish length for a call that was cut, and names a filtered answer', async () => {
      expect(await outcome(eventStream(dialect.cut))).toMatchObject({ type: 'done', finish: 'length' });
      expect(await outcome(eventStream(dialect.filtered))).toMatchObject({ finish: 'content_filter' });
    });

    it('reads the same however the bytes are split', async () => {
      const bytes = Buffer.from(dialect.text('Günaydın, 你好 €.').join(''));
      for (const at of placesWithin(1, bytes.length)) {
        await outcome(eventStream([bytes.subarray(0, at), bytes.subarray(at)]));
        expect(text()).toBe('Günaydın, 你好 €.');
      }
    });

    it('is disconnected wherever the answer is cut', async () => {
      const bytes = Buffer.from(dialect.text('One two.').join(''));
      const kinds = new Set<string>();
      for (const at of placesWithin(0, bytes.length)) {
        const last = await outcome(eventStream(at === 0 ? [] : [bytes.subarray(0, at)], 'cut'));
        if (last.type === 'error') kinds.add(last.error.kind);
        else expect(text()).toBe('One two.');
      }
      expect([...kinds]).toEqual(['disconnected']);
    });

    it.each([
      ...[
        'data:\n\n',
        'data: \n\n',
        'data\r\n\r\n',
        'event: ping\ndata:\n\n',
        ': ping\n\n',
        'data: null\n\n',
      ],
      ...[
        'event: ping\r\ndata: 2026-11-28 10:00:00.000\r\n\r\n',
        'event: keep-alive\ndata: ok\n\n',
        'event:HEARTBEAT\ndata\n\n',
      ],
    ])('bears %j between its events', async (nothing) => {
      const chunks = dialect.text('One two.').flatMap((chunk) => [nothing, chunk]);
      expect(await outcome(eventStream([...chunks, nothing]))).toMatchObject({ type: 'done' });
      expect(text()).toBe('One two.');
    });

    it('says nothing of what leaks of the model’s own form, and makes the call that is in it', async () => {
      const parameters = { type: 'object', properties: { x: { type: 'string' } } };
      const request = { ...HELLO, tools: [{ name: 'get', description: 'Gets.', parameters }] };
      const leak = '<think>Hm, so.</think>One moment. <function=get>{"x": "one"}</function>';
      const last = await outcome(eventStream(dialect.text(leak)), request);
      expect(text()).toBe('One moment. ');
      expect(calls()).toMatchObject([{ name: 'get', arguments: '{"x":"one"}' }]);
      expect(last).toMatchObject({ type: 'done', finish: 'tool_calls' });
    });

    it('takes a last event without its blank line', async () => {
      const all = dialect.text('One two.').join('').trimEnd();
      expect(await outcome(eventStream([all]))).toMatchObject({ type: 'done' });
      expect(text()).toBe('One two.');
    });

    it('is disconnected when the stream ends without its end', async () => {
      expect(await outcome(eventStream(dialect.begun('Half')))).toEqual({
        type: 'error',
        error: { kind: 'disconnected' },
      });
      expect(text()).toBe('Half');
    });

    it.each([400, 401, 403, 404, 409, 413, 429, 500, 502, 503, 529, 302])(
      'rejects with the status %d',
      async (status) => {
        expect(await outcome(reply({ status, chunks: ['{"error":{"message":"secret"}}'] }))).toEqual({
          type: 'error',
          error: { kind: 'rejected', status },
        });
        expect(server.requests).toHaveLength(1);
      },
    );

    it.each([
      [{ 'retry-after-ms': '250', 'retry-after': '9' }, { retryAfterMs: 250 }],
      [{ 'retry-after': '2' }, { retryAfterMs: 2000 }],
      [
        { 'retry-after': 'Sat, 21 Nov 2026 12:00:07 GMT', date: 'Sat, 21 Nov 2026 12:00:00 GMT' },
        { retryAfterMs: 7000 },
      ],
      [{ 'retry-after': 'soon' }, {}],
      [{ 'x-should-retry': 'false' }, { retryable: false }],
    ])('passes on what the headers %j advise', async (headers, advice) => {
      const last = await outcome(reply({ status: 429, headers, chunks: ['{}'] }));
      expect(last).toEqual({ type: 'error', error: { kind: 'rejected', status: 429, ...advice } });
    });

    it('takes errors within the stream for their status', async () => {
      for (const [body, status] of dialect.inStream) {
        const last = await outcome(eventStream([...dialect.begun('Well'), body], 'hold'));
        expect(text()).toBe('Well');
        expect(last).toMatchObject({ type: 'error', error: { kind: 'rejected', status } });
      }
    });

    it('bounds an event and a response', async () => {
      expect(await outcome(eventStream([`data: ${'x'.repeat(1_048_577)}`], 'hold'))).toMatchObject({
        error: { kind: 'protocol', rule: 'at most 1 MiB in an event' },
      });
      const comment = `: ${'x'.repeat(1_000_000)}\n\n`;
      expect(
        await outcome(
          eventStream(
            Array.from({ length: 5 }, () => comment),
            'hold',
          ),
        ),
      ).toMatchObject({
        error: { kind: 'protocol', rule: 'at most 4 MiB in a response' },
      });
    });

    it('bears bytes that are no UTF-8', async () => {
      const [first = '', ...rest] = dialect.text('a§b');
      const all = Buffer.from(first + rest.join(''), 'latin1');
      expect((await outcome(eventStream([all]))).type).toBe('done');
      expect(text()).toContain('\uFFFD');
    });

    it.each([
      ['text/html', 'content type of a stream'],
      ['audio/mpeg', 'content type of a stream'],
    ])('refuses a success of type %s', async (type, rule) => {
      const last = await outcome(reply({ headers: { 'content-type': type }, chunks: ['<p>'] }));
      expect(last).toMatchObject({ error: { kind: 'protocol', rule } });
    });

    it('waits ten seconds for headers and ten for more of the content', async () => {
      const clock = newVirtualClock();
      server.script.push(silence);
      ask(clock);
      await server.until(() => server.requests.length === 1);
      clock.advance(10_000);
      expect(events.all).toEqual([{ type: 'error', error: { kind: 'timeout', what: 'headers' } }]);
      server.script.push(eventStream([...dialect.begun('Well, '), dialect.sign], 'hold'));
      ask(clock);
      await events.seen('text');
      clock.advance(9_999);
      expect(events.all).toHaveLength(1);
      clock.advance(1);
      expect(events.all.at(-1)).toEqual({ type: 'error', error: { kind: 'timeout', what: 'idle' } });
      expect(clock.pending).toBe(0);
    });

    it('says nothing after a cancel, in any phase', async () => {
      ask().cancel();
      const early = events;
      server.script.push(silence);
      const waiting = ask();
      const second = events;
      await server.until(() => server.requests.length === 1);
      waiting.cancel();
      await server.until(() => server.requests[0]!.aborted);
      server.script.push(eventStream(dialect.begun('One '), 'hold'));
      const speaking = ask();
      await events.seen('text');
      speaking.cancel();
      await server.until(() => server.requests[1]!.aborted);
      expect([early.all, second.all, events.all.length]).toEqual([[], [], 1]);
    });

    it('asks with a history that the service accepts, however broken it is', async () => {
      const call = (id: string, args = '{}') => ({ id, name: 'f', arguments: args });
      const histories: LlmRequest['messages'][] = [
        [],
        [{ role: 'system', text: 'Be kind.' }],
        [{ role: 'assistant', text: 'Hello!' }],
        [
          { role: 'user', text: '  ' },
          { role: 'assistant', text: '' },
        ],
        [
          { role: 'assistant', text: 'Hi.', toolCalls: [call('a:1', '{"x"'), call('b')] },
          { role: 'tool', callId: 'b', name: 'f', text: '' },
          { role: 'tool', callId: 'zz', name: 'f', text: 'stray' },
          { role: 'user', text: 'Stop' },
          { role: 'assistant', text: '', toolCalls: [call('b')] },
        ],
        [
          { role: 'user', text: 'Go' },
          {
            role: 'assistant',
            text: '',
            toolCalls: [call('a')],
            reasoning: { provider: 'other', data: '[["a",{}]]' },
          },
          { role: 'tool', callId: 'a', name: 'f', text: '7' },
        ],
      ];
      for (const messages of histories) {
        ask(undefined, { messages, tools: [] });
        await events.until(() => events.all.some(({ type }) => type === 'done' || type === 'error'));
        expect(events.all.at(-1)).toMatchObject({ type: 'done' });
      }
    });

    it.runIf(dialect.hasAnyModel === true)('sends ids of calls that Mistral takes', async () => {
      await outcome(eventStream(dialect.text('Done.')), {
        messages: [
          { role: 'user', text: 'Go' },
          {
            role: 'assistant',
            text: '',
            toolCalls: [
              { id: 'call_0fypXq', name: 'f', arguments: '{}' },
              { id: 'abcDEF123', name: 'g', arguments: '{}' },
            ],
          },
          { role: 'tool', callId: 'call_0fypXq', name: 'f', text: 'one' },
          { role: 'tool', callId: 'abcDEF123', name: 'g', text: 'two' },
        ],
        tools: [],
      });
      const body = JSON.stringify(server.requests.at(-1)!.body);
      const ids = [...body.matchAll(/"(?:id|call_id|tool_call_id|tool_use_id)":"([^"]*)"/g)].map(
        ([, id]) => id,
      );
      expect(ids).toHaveLength(4);
      expect(new Set(ids).size).toBe(2);
      expect(ids).toContain('abcDEF123');
      for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    });

    it.runIf(dialect.reasoning)(
      'gives opaque reasoning back to the provider that made it, unchanged',
      async () => {
        const { chunks, findsIn } = dialect.reasoning!;
        const last = await outcome(eventStream(chunks));
        if (last.type !== 'done' || last.reasoning === undefined) throw new Error('no reasoning');
        const { reasoning } = last;
        expect(reasoning.provider).toBe(stage.provider);
        const next = (made: typeof reasoning): LlmRequest => ({
          messages: [
            { role: 'user', text: 'Go' },
            {
              role: 'assistant',
              text: '',
              toolCalls: [
                { id: 'a', name: 'f', arguments: '{"x":1}' },
                { id: 'b', name: 'g', arguments: '{"y":2}' },
              ],
              reasoning: made,
            },
            { role: 'tool', callId: 'a', name: 'f', text: '{"ok":true}' },
            { role: 'tool', callId: 'b', name: 'g', text: '{"ok":true}' },
          ],
          tools: [],
        });
        await outcome(eventStream(dialect.text('Done.')), next(reasoning));
        expect(findsIn(server.requests.at(-1)!.body)).toBe(true);
        await outcome(eventStream(dialect.text('Done.')), next({ ...reasoning, provider: 'other' }));
        expect(findsIn(server.requests.at(-1)!.body)).toBe(false);
      },
    );
  });
}

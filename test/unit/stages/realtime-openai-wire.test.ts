/** The protocol of `openai_realtime` without a server: what only time and odd servers bring about. */
import { describe, expect, it } from 'vitest';
import { withHistory } from '../../../worker/stages/realtime/openai/requests.ts';
import { dialects } from '../../../worker/stages/realtime/openai/declaration.ts';
import { OpenAiWire, type Effect } from '../../../worker/stages/realtime/openai/wire.ts';

function readyWire(dialect: keyof typeof dialects = 'openai'): OpenAiWire {
  const settings = {
    dialect: dialects[dialect],
    baseUrl: 'ws://127.0.0.1',
    model: 'm',
    language: 'en',
    output: 'audio',
    words: 'vendor',
  } as const;
  const wire = new OpenAiWire(settings, { instructions: 'x', tools: [], history: [] }, () => 0);
  wire.read({ type: 'session.created', session: {} });
  wire.read({ type: 'session.updated', session: {} });
  return wire;
}

const shown = (effects: readonly Effect[]): unknown[] =>
  effects.map((effect) => {
    if (effect.type === 'send') return (JSON.parse(effect.message) as { type: string }).type;
    return effect.event.type === 'done'
      ? `done ${effect.event.answer} ${effect.event.finish}`
      : effect.event.type;
  });

const busy = (answer: number) => ({
  type: 'error',
  error: {
    type: 'invalid_request_error',
    code: 'conversation_already_has_active_response',
    event_id: `answer_${answer}`,
  },
});
const created = (id: string, answer?: number) => ({
  type: 'response.created',
  response: { id, metadata: answer === undefined ? null : { answer: String(answer) } },
});
const done = (id: string, answer?: number) => ({
  type: 'response.done',
  response: { id, status: 'completed', metadata: answer === undefined ? null : { answer: String(answer) } },
});

describe('an answer that the server is too busy for', () => {
  it('is asked for four times and then given up, and whatever keeps the server busy is stopped', () => {
    const wire = readyWire();
    expect(shown(wire.respond(1))).toEqual(['response.create']);
    for (let tries = 1; tries <= 3; tries += 1) {
      expect(shown(wire.read(busy(1)))).toEqual([]);
      expect(shown(wire.letGo())).toEqual(['response.cancel', 'response.create']);
    }
    expect(shown(wire.read(busy(1)))).toEqual(['done 1 failed']);
    expect(shown(wire.respond(2))).toEqual([]);
    expect(shown(wire.read(done('resp_0')))).toEqual(['response.create']);
  });

  it('may be cancelled while it waits', () => {
    const wire = readyWire();
    wire.respond(1);
    wire.read(busy(1));
    expect(shown(wire.cancel())).toEqual(['done 1 cancelled']);
    expect(shown(wire.read(done('resp_0')))).toEqual([]);
    expect(shown(wire.respond(2))).toEqual(['response.create']);
  });

  it('and that was cancelled is over', () => {
    const wire = readyWire();
    wire.respond(1);
    wire.cancel();
    expect(shown(wire.read(busy(1)))).toEqual(['done 1 cancelled']);
  });
});

describe('what an answer cost that was waited for no longer', () => {
  const usage = { total_tokens: 30, input_tokens: 20, output_tokens: 10 };
  const ended = (id: string, answer: number, told: object) => ({
    ...done(id, answer),
    response: { ...done(id, answer).response, status: 'cancelled', ...told },
  });
  const costs = (effects: readonly Effect[]): unknown[] =>
    effects.flatMap((effect) =>
      effect.type === 'tell' && effect.event.type === 'done'
        ? [[effect.event.answer, effect.event.usage?.inputTokens]]
        : [],
    );
  const letGo = (): OpenAiWire => {
    const wire = readyWire();
    wire.respond(1);
    wire.read(created('resp_1', 1));
    wire.cancel();
    expect(costs(wire.letGo())).toEqual([[1, undefined]]);
    return wire;
  };

  it('is told when the server has ended it, once', () => {
    const wire = letGo();
    wire.respond(2);
    expect(costs(wire.read(ended('resp_1', 1, { usage })))).toEqual([[1, 20]]);
    expect(costs(wire.read(ended('resp_1', 1, { usage })))).toEqual([]);
    wire.read(created('resp_2', 2));
    expect(costs(wire.read(done('resp_2', 2)))).toEqual([[2, undefined]]);
  });

  it.each([
    ['the server says nothing of it', {}],
    ['the usage is none', { usage: null }],
  ])('is not told where %s', (_what, told) => {
    expect(costs(letGo().read(ended('resp_1', 1, told)))).toEqual([]);
  });

  it('is told once of an answer that ends twice', () => {
    const wire = readyWire();
    wire.respond(1);
    wire.read(created('resp_1', 1));
    const end = { ...done('resp_1', 1), response: { ...done('resp_1', 1).response, usage } };
    expect(costs(wire.read(end))).toEqual([[1, 20]]);
    expect(costs(wire.read(end))).toEqual([]);
  });
});

describe('an answer', () => {
  it('is over without ever having been begun', () => {
    const wire = readyWire();
    wire.respond(1);
    expect(shown(wire.read(done('resp_1', 1)))).toEqual(['done 1 completed']);
    expect(shown(wire.read(created('resp_1', 1)))).toEqual([]);
    expect(shown(wire.read(done('resp_1', 1)))).toEqual([]);
  });

  it('that was let go of and begins after all is stopped', () => {
    const wire = readyWire();
    wire.respond(1);
    wire.cancel();
    expect(shown(wire.letGo())).toEqual(['done 1 cancelled']);
    wire.respond(2);
    expect(shown(wire.read(created('resp_1', 1)))).toEqual(['response.cancel']);
    expect(shown(wire.read(done('resp_1', 1)))).toEqual([]);
    expect(shown(wire.read(created('resp_2', 2)))).toEqual([]);
    expect(shown(wire.read(done('resp_2', 2)))).toEqual(['done 2 completed']);
  });

  it('of a server that gives no labels back is the one that was asked for', () => {
    const wire = readyWire('localai');
    wire.respond(1);
    wire.read(created('resp_1'));
    expect(shown(wire.read(done('resp_0')))).toEqual([]);
    expect(shown(wire.read(done('resp_1')))).toEqual(['done 1 completed']);
  });

  it('is waited for once for each that was cancelled', () => {
    const wire = readyWire();
    wire.respond(1);
    expect(wire.waitsFor).toBeUndefined();
    wire.cancel();
    const first = wire.waitsFor;
    expect(first).toBeDefined();
    wire.respond(2);
    expect(wire.waitsFor).toBe(first);
    wire.read(done('resp_1', 1));
    expect(wire.waitsFor).toBeUndefined();
    wire.cancel();
    expect(wire.waitsFor).not.toBe(first);
  });
});

describe('what was made of an answer and told to nobody', () => {
  const part = (id: string, item_id: string) => ({
    type: 'response.output_audio.delta',
    response_id: id,
    item_id,
    delta: Buffer.alloc(4_800).toString('base64'),
  });
  const cancelled = (id: string, items: readonly string[], answer?: number) => {
    const { response } = done(id, answer);
    const output = items.map((item) => ({ id: item, type: 'message', content: [] }));
    return { type: 'response.done', response: { ...response, status: 'cancelled', output } };
  };
  /** What the server is told of items. */
  const cuts = (effects: readonly Effect[]): unknown[] =>
    effects.flatMap((effect) => {
      if (effect.type !== 'send') return [];
      const { type, item_id, audio_end_ms } = JSON.parse(effect.message) as Record<string, unknown>;
      return [[type, item_id, ...(audio_end_ms === undefined ? [] : [audio_end_ms])]];
    });

  it('is forgotten by the server: the rest of an item, and items that were not begun', () => {
    const wire = readyWire();
    wire.respond(1);
    wire.read(created('r', 1));
    wire.read(part('r', 'a'));
    wire.cancel();
    wire.read(part('r', 'a'));
    wire.read(part('r', 'b'));
    expect(cuts(wire.read(cancelled('r', ['a', 'b', 'c'], 1)))).toEqual([
      ['conversation.item.truncate', 'a', 100],
      ['conversation.item.delete', 'b'],
      ['conversation.item.delete', 'c'],
    ]);
    expect(cuts(wire.read(cancelled('r', ['a'], 1)))).toEqual([]);
  });

  it('is nothing where all that was made was told', () => {
    const wire = readyWire();
    wire.respond(1);
    wire.read(created('r', 1));
    wire.read(part('r', 'a'));
    wire.cancel();
    expect(cuts(wire.read(cancelled('r', ['a'], 1)))).toEqual([]);
  });

  it('is forgotten also where the end of the answer was not waited for', () => {
    const wire = readyWire();
    wire.respond(1);
    wire.read(created('r', 1));
    wire.cancel();
    wire.letGo();
    expect(cuts(wire.read(cancelled('r', ['a'], 1)))).toEqual([['conversation.item.delete', 'a']]);
  });

  it('is forgotten of an answer that nobody asked for', () => {
    const wire = readyWire();
    wire.read(created('r'));
    wire.read(part('r', 'a'));
    expect(cuts(wire.read(cancelled('r', ['a'])))).toEqual([['conversation.item.delete', 'a']]);
  });

  it('stays where the server cannot forget', () => {
    const wire = readyWire('speaches');
    wire.respond(1);
    wire.read(created('r', 1));
    wire.cancel();
    wire.read(part('r', 'a'));
    expect(cuts(wire.read(cancelled('r', ['a'], 1)))).toEqual([]);
  });
});

describe('a history in instructions', () => {
  const history = ['one', 'two', 'three'].map((text) => ({ role: 'user', text }) as const);

  it('that does not fit loses its oldest lines', () => {
    const whole = withHistory('Be brief.', history);
    expect(whole.split('\n').slice(-3)).toEqual(['Caller: one', 'Caller: two', 'Caller: three']);
    const cut = withHistory('Be brief.', history, whole.length - 1);
    expect(cut.split('\n').slice(-2)).toEqual(['Caller: two', 'Caller: three']);
    expect(cut).not.toContain('one');
    expect(withHistory('Be brief.', history, 20)).toBe('Be brief.');
  });

  it('that is empty leaves them alone', () => {
    expect(withHistory('Be brief.', [])).toBe('Be brief.');
  });
});

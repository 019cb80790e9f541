/** Servers of `openai_realtime` that keep the protocol badly: what is missing, doubled, late or broken ends no answer and no call. */
import { describe, expect, it } from 'vitest';
import { dialects } from '../../../worker/stages/realtime/openai/declaration.ts';
import { OpenAiWire, type Effect } from '../../../worker/stages/realtime/openai/wire.ts';

type Message = Readonly<Record<string, unknown>>;

const settings = {
  dialect: dialects.openai,
  baseUrl: 'ws://127.0.0.1',
  model: 'm',
  language: 'en',
  output: 'audio',
  words: 'vendor',
} as const;

function newWire(session: Message = {}): { wire: OpenAiWire; ready: readonly Effect[] } {
  const wire = new OpenAiWire(settings, { instructions: 'x', tools: [], history: [] }, () => 1_000_000);
  wire.read({ type: 'session.created', session });
  return { wire, ready: wire.read({ type: 'session.updated', session }) };
}

/** What is told of answers and of the caller, and what is sent. */
const told = (effects: readonly Effect[]): string[] =>
  effects.map((effect) => {
    if (effect.type === 'send') return (JSON.parse(effect.message) as { type: string }).type;
    const { event } = effect;
    switch (event.type) {
      case 'text':
        return `text ${event.text}`;
      case 'audio':
        return `audio ${event.pcm.length}`;
      case 'tool-call':
        return `call ${event.id} ${event.arguments}`;
      case 'done':
        return `done ${event.answer} ${event.finish}`;
      case 'user-text':
        return `turn ${event.turn} ${event.text}${event.final ? '.' : ''}`;
      default:
        return event.type;
    }
  });

const metadata = { answer: '1' };
const begun = { type: 'response.created', response: { id: 'r', metadata } };
const over = { type: 'response.done', response: { id: 'r', status: 'completed', metadata } };
const words = {
  type: 'response.output_audio_transcript.delta',
  response_id: 'r',
  item_id: 'i',
  delta: 'Yes.',
};
const sound = { type: 'response.output_audio.delta', response_id: 'r', item_id: 'i', delta: 'AAAA' };
const { response_id: _, ...nameless } = words;

/** All that a wire makes of these messages, behind a question. */
function answerTo(...messages: Message[]): string[] {
  const { wire } = newWire();
  wire.respond(1);
  return messages.flatMap((message) => told(wire.read(message)));
}
const whole = ['text Yes.', 'audio 1', 'item-done', 'done 1 completed'];

describe('an answer', () => {
  it.each<[string, Message[], string[]]>([
    ['as it should be', [begun, words, sound, over], whole],
    ['that is over twice', [begun, words, sound, over, over], whole],
    ['to which more is added behind its end', [begun, words, sound, over, words, sound], whole],
    ['that is begun twice', [begun, begun, words, sound, over], whole],
    ['without its beginning', [{ ...begun, type: 'response.other' }, words, sound, over], whole],
    ['whose parts do not name it', [begun, nameless, { ...sound, response_id: undefined }, over], whole],
    [
      'whose end does not name it',
      [begun, words, sound, { type: 'response.done', response: { status: 'completed' } }],
      whole,
    ],
    [
      'without the label that it was given',
      [{ type: 'response.created', response: { id: 'r' } }, words, sound, over],
      whole,
    ],
    [
      'whose end says nothing of how',
      [begun, words, sound, { type: 'response.done', response: { id: 'r' } }],
      whole,
    ],
    [
      'beside messages that nobody knows',
      [begun, { type: 'response.mood' }, { type: 'x' }, {}, words, sound, over],
      whole,
    ],
    [
      'beside errors about nobody knows what',
      [
        begun,
        { type: 'error' },
        { type: 'error', error: null },
        words,
        sound,
        { type: 'error', error: { code: 7 } },
        over,
      ],
      whole,
    ],
    [
      'with pieces of no kind',
      [begun, { ...words, delta: 7 }, { ...sound, delta: null }, { ...words, delta: '' }, words, sound, over],
      whole,
    ],
    [
      'beside limits that are none',
      [
        begun,
        { type: 'rate_limits.updated' },
        { type: 'rate_limits.updated', rate_limits: [null, {}] },
        words,
        sound,
        over,
      ],
      whole,
    ],
  ])('%s', (_what, messages, expected) => {
    expect(answerTo(...messages)).toEqual(expected);
  });
});

describe('a call of a tool', () => {
  const item = { type: 'function_call', id: 'f', call_id: 'c', name: 'pay' };
  const done = (args: string, type = 'response.output_item.done'): Message =>
    type.endsWith('arguments.done')
      ? { type, response_id: 'r', item_id: 'f', call_id: 'c', name: 'pay', arguments: args }
      : { type, response_id: 'r', item: { ...item, arguments: args } };
  const early = 'response.function_call_arguments.done';

  it.each<[string, Message[]]>([
    ['that is told twice', [done('{"a":1}', early), done('{"a":1}')]],
    ['that is told empty at first', [done('', early), done('{"a":1}')]],
    ['that is told broken at first', [done('{"a":', early), done('{"a":1}')]],
    ['that is told broken afterwards', [done('{"a":1}', early), done('{"a":')]],
  ])('%s has the arguments that are whole', (_what, messages) => {
    expect(answerTo(begun, ...messages, over)).toEqual(['call c {"a":1}', 'done 1 completed']);
  });

  it('that stays broken is told as it is, and refused by its schema', () => {
    expect(answerTo(begun, done('{"a":'), over)).toEqual(['call c {"a":', 'done 1 completed']);
  });

  it('of an answer that was not whole is none', () => {
    const cut = { type: 'response.done', response: { id: 'r', status: 'incomplete', metadata } };
    expect(answerTo(begun, done('{"a":1}'), cut)).toEqual(['done 1 length']);
  });
});

describe('a session', () => {
  it.each([
    ['in milliseconds', 1_700_000_000_000],
    ['in another age', 99_999_999_999],
    ['as what is no number', '1700000000'],
    ['before it began', 12],
  ])('that says its end %s ends when those of its kind do', (_what, expires_at) => {
    const [event] = newWire({ expires_at }).ready.flatMap((effect) =>
      effect.type === 'tell' && effect.event.type === 'ready' ? [effect.event] : [],
    );
    expect(event?.expiresInMs).toBe(3_600_000);
  });

  it('that names no turns tells the words of the turn that waits for some', () => {
    const { wire } = newWire();
    const written = (item_id: string, transcript: string): string[] =>
      told(wire.read({ type: 'conversation.item.input_audio_transcription.completed', item_id, transcript }));
    wire.endTurn(1);
    expect(written('a', 'one')).toEqual(['turn 1 one.']);
    expect(written('a', 'one')).toEqual([]);
    wire.endTurn(2);
    // It names the first after all.
    expect(told(wire.read({ type: 'input_audio_buffer.committed', item_id: 'a' }))).toEqual([]);
    expect(written('b', 'two')).toEqual(['turn 2 two.']);
    expect(written('c', 'three')).toEqual([]);
  });
});

/** A service that keeps the protocol of Gemini Live badly: what is missing, doubled, late or broken ends no answer and no call. */
import { expect, it } from 'vitest';
import { GeminiWire, type WireEvent } from '../../../worker/stages/realtime/gemini/wire.ts';
import { newest } from '../../contract/realtime/gemini-session.ts';

type Message = Readonly<Record<string, unknown>>;

const said = (content: Message): Message => ({ serverContent: content });
const words = said({ outputTranscription: { text: 'Yes.' } });
const sound = (data = 'AAAA', mimeType = 'audio/pcm;rate=24000'): Message =>
  said({ modelTurn: { parts: [{ inlineData: { mimeType, data } }] } });
const generated = said({ generationComplete: true });
const complete = said({ turnComplete: true });
const call = (functionCalls: unknown): Message => ({ toolCall: { functionCalls } });

function told(events: readonly WireEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case 'send':
      case 'item-done':
        return [];
      case 'text':
        return [`text ${event.text}`];
      case 'audio':
        return [`audio ${event.pcm.length}`];
      case 'tool-call':
        return [`call ${event.name} ${event.arguments}`];
      case 'done':
        return [`done ${event.answer} ${event.finish}`];
      case 'expiring':
        return [`expiring ${event.inMs}`];
      case 'resumable':
        return [`handle ${event.handle}`];
      default:
        return [event.type];
    }
  });
}

/** All that a session makes of these messages, behind a turn of the caller; then another turn is answered as it should be. */
function answerTo(...messages: readonly Message[]): string[] {
  let made = 0;
  const settings = { ...newest, baseUrl: 'ws://127.0.0.1', words: 'own' } as const;
  const tool = { name: 'pay', description: 'Pays.', parameters: { type: 'object', properties: {} } };
  const seed = { instructions: 'x', tools: [tool], history: [] };
  const wire = new GeminiWire({ settings, seed, newCallId: () => `id ${(made += 1)}` });
  wire.opened();
  wire.read('{"setupComplete":{}}');
  const ask = (turn: number): readonly WireEvent[] => {
    const before = wire.beginTurn();
    for (let piece = 0; piece < 10; piece += 1) wire.audio(new Int16Array(320));
    return [...before, ...wire.endTurn(turn), ...wire.respond(turn)];
  };
  const read = (message: Message): string[] => told(wire.read(JSON.stringify(message)));
  const events = [...told(ask(1)), ...messages.flatMap(read)];
  const after = [...told(ask(2)), ...[words, sound(), generated, complete].flatMap(read)];
  expect(after.slice(-3)).toEqual(['text Yes.', 'audio 1', 'done 2 completed']);
  return events;
}
const whole = ['text Yes.', 'audio 1', 'done 1 completed'];

it.each<[string, readonly Message[], readonly string[]]>([
  ['as it should be', [words, sound(), generated, complete], whole],
  ['that is over twice', [words, sound(), generated, generated, complete, complete], whole],
  ['that is added to behind its end', [words, sound(), generated, words, sound(), complete], whole],
  ['in a session that is set up twice', [{ setupComplete: {} }, words, sound(), generated, complete], whole],
  [
    'beside messages that nobody knows',
    [
      {},
      { mood: 1 },
      said({ mood: 1 }),
      { serverContent: null },
      { error: { code: 500 } },
      words,
      sound(),
      generated,
    ],
    whole,
  ],
  [
    'with pieces of no kind',
    [
      said({ outputTranscription: null }),
      said({ outputTranscription: { text: 7 } }),
      said({
        modelTurn: { parts: [null, 7, {}, { inlineData: {} }, { inlineData: { mimeType: 'image/png' } }] },
      }),
      words,
      sound(),
      sound('', 'audio/pcm'),
      generated,
    ],
    whole,
  ],
  ['whose sound has no rate', [words, sound('AAAA', 'audio/pcm'), generated], whole],
  [
    'beside counts that are none',
    [{ usageMetadata: null }, { usageMetadata: { promptTokenCount: 'many' } }, words, sound(), generated],
    whole,
  ],
  [
    'that is interrupted and complete in one message',
    [words, sound(), said({ interrupted: true, turnComplete: true })],
    ['text Yes.', 'audio 1', 'done 1 cancelled'],
  ],
  [
    'that is complete before it is interrupted',
    [words, sound(), generated, complete, said({ interrupted: true }), complete],
    whole,
  ],
  [
    'that is interrupted three times',
    [
      words,
      sound(),
      said({ interrupted: true }),
      said({ interrupted: true }),
      said({ interrupted: true }),
      complete,
    ],
    ['text Yes.', 'audio 1', 'done 1 cancelled'],
  ],
  [
    'beside the end of its connection, which is told twice, and once without a time',
    [
      { goAway: { timeLeft: '50s' } },
      { goAway: {} },
      { goAway: { timeLeft: { seconds: 5 } } },
      words,
      sound(),
      generated,
    ],
    ['expiring 50000', 'expiring 0', 'expiring 0', ...whole],
  ],
  [
    'with handles that are none',
    [
      words,
      sound(),
      generated,
      complete,
      { sessionResumptionUpdate: null },
      { sessionResumptionUpdate: { newHandle: '', resumable: true } },
      { sessionResumptionUpdate: { resumable: true } },
      { sessionResumptionUpdate: { newHandle: 'h', resumable: false } },
      { sessionResumptionUpdate: { newHandle: 'h' } },
    ],
    whole,
  ],
  [
    'with calls of no kind',
    [
      call(null),
      call([null, 7, {}, { id: 'c' }]),
      { toolCallCancellation: { ids: ['x', 7] } },
      words,
      sound(),
      generated,
    ],
    whole,
  ],
  [
    'with a call whose arguments are broken',
    [call([{ id: 'c', name: 'pay', args: '{"a":' }])],
    ['call pay {"a":', 'done 1 completed'],
  ],
  [
    'with a call whose arguments are a text',
    [call([{ id: 'c', name: 'pay', args: '{"a":1}' }])],
    ['call pay {"a":1}', 'done 1 completed'],
  ],
])('an answer %s', (_what, messages, expected) => {
  expect(answerTo(...messages)).toEqual(expected);
});

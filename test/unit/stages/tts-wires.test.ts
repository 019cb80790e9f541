import { describe, expect, it } from 'vitest';
import { CartesiaWire } from '../../../worker/stages/tts/cartesia/wire.ts';
import { ElevenLabsWire } from '../../../worker/stages/tts/elevenlabs/wire.ts';
import { DeepgramAuraWire } from '../../../worker/stages/tts/deepgram/wire.ts';
import { ContextQueue, QUEUED_PIECES } from '../../../worker/stages/tts/context-queue.ts';
import { PcmBytes } from '../../../worker/stages/pcm-bytes.ts';
import { Timeline } from '../../../worker/stages/tts/timeline.ts';

const ids = (): (() => string) => {
  let next = 0;
  return () => `u${++next}`;
};
const parsed = (messages: string[]): unknown[] => messages.map((text) => JSON.parse(text) as unknown);
const AUDIO = Buffer.from([1, 0, 2, 0]).toString('base64');

describe('the wire of tts_cloud_a', () => {
  it('drops what comes for a context that was cancelled, its errors included', () => {
    const wire = new CartesiaWire({}, ids());
    wire.say('Old.');
    expect(parsed(wire.cancel())).toEqual([{ context_id: 'u1', cancel: true }]);
    wire.say('New.');
    for (const type of ['chunk', 'done', 'error', 'timestamps', 'unheard_of']) {
      expect(wire.receive(JSON.stringify({ type, context_id: 'u1', data: AUDIO }))).toEqual([]);
    }
    const [audio] = wire.receive(JSON.stringify({ type: 'chunk', context_id: 'u2', data: AUDIO }));
    expect(audio).toEqual({ type: 'audio', pcm: Int16Array.of(1, 2) });
  });

  it('names the status of an error, of the context or of the connection', () => {
    for (const place of [{ context_id: 'u1' }, {}]) {
      const wire = new CartesiaWire({}, ids());
      wire.say('Text.');
      const events = wire.receive(JSON.stringify({ type: 'error', status_code: 429, ...place }));
      expect(events).toEqual([{ type: 'failed', error: { kind: 'rejected', status: 429 } }]);
    }
  });
});

it('a chunk of tts_cloud_a may hold nothing', () => {
  const wire = new CartesiaWire({}, ids());
  wire.say('Text.');
  for (const data of [null, undefined, ''])
    expect(wire.receive(JSON.stringify({ type: 'chunk', context_id: 'u1', data }))).not.toMatchObject([
      { type: 'failed' },
    ]);
  expect(wire.receive(JSON.stringify({ type: 'chunk', context_id: 'u1', data: 7 }))).toMatchObject([
    { type: 'failed' },
  ]);
});

describe('the wire of tts_cloud_b', () => {
  it('opens no sixth context before the vendor says that one is over', () => {
    const wire = new ElevenLabsWire({}, ids());
    for (let i = 0; i < 5; i += 1) {
      expect(wire.canBegin).toBe(true);
      wire.say('Text.');
      wire.cancel();
    }
    expect(wire.canBegin).toBe(false);
    expect(wire.receive('{"isFinal":true,"contextId":"u2"}')).toEqual([{ type: 'free' }]);
    expect(wire.canBegin).toBe(true);
  });

  it('gives settings in the first message alone, and names a context only after it', () => {
    const wire = new ElevenLabsWire({ speed: 1.1 }, ids());
    expect(parsed(wire.keepAlive())).toEqual([{ text: '' }]);
    expect(parsed(wire.say('Hi.'))).toEqual([
      { text: ' ', voice_settings: { speed: 1.1 }, context_id: 'u1' },
      { text: 'Hi. ', flush: true, context_id: 'u1' },
    ]);
    expect(parsed(wire.keepAlive())).toEqual([{ text: '', context_id: 'u1' }]);
    expect(parsed(wire.end(''))).toEqual([{ close_context: true, context_id: 'u1' }]);
  });

  it('takes no error for one where the field is there and empty', () => {
    const wire = new ElevenLabsWire({}, ids());
    wire.say('Hi.');
    const heard = wire.receive(
      JSON.stringify({ audio: AUDIO, contextId: 'u1', error: null, alignment: null }),
    );
    expect(heard).toMatchObject([{ type: 'audio' }, { type: 'settled' }]);
  });

  it('puts words together whose letters come in two chunks', () => {
    const wire = new ElevenLabsWire({}, ids());
    wire.say('Hello there.');
    const words = ['Hel', 'lo there. '].flatMap((part) => {
      const chars = part.split('');
      const alignment = { chars, charStartTimesMs: chars.map((_char, at) => at * 10) };
      return wire
        .receive(JSON.stringify({ context_id: 'u1', alignment }))
        .flatMap((event) =>
          event.type === 'words' ? event.words.map((word) => [word.text, word.startMs]) : [],
        );
    });
    expect(words).toEqual([
      ['Hel', 0],
      ['there.', 30],
    ]);
  });
});

describe('the wire of tts_cloud_c', () => {
  it('throws everything away between a clear and its answer', () => {
    const wire = new DeepgramAuraWire();
    wire.say('Old.');
    expect(parsed(wire.cancel())).toEqual([{ type: 'Clear' }]);
    expect(wire.canBegin).toBe(false);
    expect(wire.receive(Buffer.from([1, 0]))).toEqual([]);
    expect(wire.receive('{"type":"Flushed"}')).toEqual([]);
    expect(wire.receive('{"type":"Cleared"}')).toEqual([{ type: 'free' }]);
    expect(wire.canBegin).toBe(true);
  });

  it('is worn before the vendor ignores a flush', () => {
    const wire = new DeepgramAuraWire();
    for (let i = 0; i < 18; i += 1) {
      expect(wire.isWorn).toBe(false);
      wire.say('Text.');
      wire.end('', i * 1000);
      wire.receive('{"type":"Flushed"}');
    }
    expect(wire.isWorn).toBe(true);
  });
});

describe('the text of a context against its audio', () => {
  it('cuts the audio where the next piece begins', () => {
    const timeline = new Timeline(1, 1000);
    timeline.add('One two. ');
    timeline.add('Three.');
    timeline.words(
      ['One', 'two', 'Three'].map((text, at) => ({ text, startMs: at * 100, endMs: at * 100 + 90 })),
      'utterance',
    );
    const events = timeline.audio(new Int16Array(300));
    expect(events.map((event) => (event.type === 'audio' ? event.pcm.length : event))).toEqual([
      200,
      { type: 'spoken', context: 1, chars: 9 },
      100,
    ]);
    expect(timeline.settled()).toEqual([{ type: 'spoken', context: 1, chars: 15 }]);
    expect(timeline.finished()).toEqual([]);
  });

  it('finds its way again after a word that is said otherwise than written', () => {
    const timeline = new Timeline(1, 1000);
    timeline.add('At 7 it opens.');
    const said = ['At', 'seven', 'it', 'opens'].map((text, at) => ({ text, startMs: at, endMs: at }));
    const chars = timeline.words(said, 'utterance').map((event) => event.type === 'word' && event.chars);
    expect(chars).toEqual([0, 3, 5, 8]);
  });
});

describe('what waits to be said', () => {
  it('holds 64 pieces and joins those that are too many', () => {
    const queue = new ContextQueue();
    for (let i = 0; i < 100; i += 1) queue.speak(1, `${i} `);
    expect(queue.size).toBe(QUEUED_PIECES);
    expect(queue.head!.pieces.join('')).toBe(Array.from({ length: 100 }, (_, i) => `${i} `).join(''));
  });
});

describe('bytes of samples', () => {
  it('give the same samples however they are cut, and keep aligned ones where they are', () => {
    const bytes = Buffer.from([1, 0, 2, 0, 3, 0]);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const pcm = new PcmBytes();
      const samples = [...pcm.take(bytes.subarray(0, cut)), ...pcm.take(bytes.subarray(cut))];
      expect(samples).toEqual([1, 2, 3]);
    }
    expect(new PcmBytes().take(bytes).buffer).toBe(bytes.buffer);
  });
});

import { describe, expect, it } from 'vitest';
import { DeepgramWire, deepgramUrl } from '../../../worker/stages/stt/deepgram/protocol.ts';
import {
  AssemblyAiWire,
  assemblyAiError,
  assemblyAiUrl,
} from '../../../worker/stages/stt/assemblyai/protocol.ts';
import { GladiaWire, gladiaRequest, gladiaUrl } from '../../../worker/stages/stt/gladia/protocol.ts';
import type { RealtimeSettings } from '../../../worker/stages/stt/realtime-compat/protocol.ts';
import {
  newRealtimeWire,
  realtimeError,
  realtimeUrl,
} from '../../../worker/stages/stt/realtime-compat/protocol.ts';
import { retryAfterMsOf } from '../../../worker/stages/http.ts';
import { readText, type JsonObject, type SttWire, type WireEvent } from '../../../worker/stages/stt/wire.ts';

const deepgram = {
  baseUrl: 'wss://a.example/prefix',
  model: 'nova-3',
  endpointingMs: 300,
  smartFormat: true,
} as const;
const assemblyAi = {
  baseUrl: 'wss://b.example',
  speechModel: 'universal-streaming-english',
  formatTurns: false,
};
const gladia = {
  baseUrl: 'https://c.example',
  model: 'solaria-1',
  codeSwitching: false,
  endpointingMs: 300,
} as const;
const realtime: RealtimeSettings = {
  baseUrl: 'ws://127.0.0.1:9',
  dialect: 'dialect_a',
  wire: 'openai',
  language: 'tr-TR',
  model: 'a-model',
  punctuation: false,
  deltaReplaces: false,
  minCommitMs: 100,
  finalizeTimeoutMs: 2000,
  sampleRate: 24_000,
};

const configurationOf = (settings: RealtimeSettings): unknown => {
  const type = settings.wire === 'nim' ? 'conversation.created' : 'session.created';
  const [first] = newRealtimeWire(settings).read({ type });
  return first?.type === 'send' ? JSON.parse(first.message.toString()) : undefined;
};
const finals = (events: readonly WireEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'transcript' && event.isFinal ? [event.text] : []));

describe('every option of stt_cloud_a on the wire', () => {
  it.each([
    [{ model: 'nova-2' }, 'model', ['nova-2']],
    [{ endpointingMs: 500 }, 'endpointing', ['500']],
    [{ endpointingMs: 0 }, 'endpointing', ['false']],
    [{ utteranceEndMs: 1000 }, 'utterance_end_ms', ['1000']],
    [{ utteranceEndMs: 1000 }, 'vad_events', ['true']],
    [{}, 'utterance_end_ms', []],
    [{}, 'interim_results', ['true']],
    [{}, 'smart_format', ['true']],
    [{ smartFormat: false }, 'smart_format', ['false']],
    [{ smartFormat: false }, 'no_delay', []],
    [{ keyterms: ['Acme & Co', 'Şükrü'] }, 'keyterm', ['Acme & Co', 'Şükrü']],
    [{}, 'language', ['tr-TR']],
    [{}, 'sample_rate', ['16000']],
    [{}, 'encoding', ['linear16']],
  ])('%o gives %s = %o', (options, name, values) => {
    const url = deepgramUrl({ ...deepgram, ...options }, 'tr-TR');
    expect(url.searchParams.getAll(name)).toEqual(values);
    expect(url.host + url.pathname).toBe('a.example/prefix/v1/listen');
  });
});

describe('every option of stt_cloud_b on the wire', () => {
  it.each([
    [{}, 'speech_model', ['universal-streaming-english']],
    [{ formatTurns: true }, 'format_turns', ['true']],
    [{ speechModel: 'u3-rt-pro', formatTurns: true }, 'format_turns', []],
    [{ speechModel: 'u3-rt-pro' }, 'language_codes', ['["tr"]']],
    [{}, 'language_codes', []],
    [{ minTurnSilenceMs: 0 }, 'min_turn_silence', ['0']],
    [{ maxTurnSilenceMs: 900 }, 'max_turn_silence', ['900']],
    [{ keyterms: ['a "b"', 'ç'] }, 'keyterms_prompt', ['["a \\"b\\"","ç"]']],
    [{ keyterms: [] }, 'keyterms_prompt', []],
    [{}, 'sample_rate', ['16000']],
  ])('%o gives %s = %o', (options, name, values) => {
    const url = assemblyAiUrl({ ...assemblyAi, ...options }, 'tr-TR');
    expect(url.searchParams.getAll(name)).toEqual(values);
    expect(url.host + url.pathname).toBe('b.example/v3/ws');
  });
});

describe('every option of stt_cloud_c on the wire', () => {
  it.each([
    [{}, { model: 'solaria-1', endpointing: 0.3, encoding: 'wav/pcm', sample_rate: 16_000 }],
    [{ endpointingMs: 10 }, { endpointing: 0.01 }],
    [{}, { language_config: { languages: ['tr'], code_switching: false } }],
    // With one language the service ignores it.
    [
      { codeSwitching: true },
      { language_config: { languages: ['tr', 'en', 'de', 'es', 'fr'], code_switching: true } },
    ],
    [
      { vocabulary: ['Zeynep'] },
      {
        realtime_processing: {
          custom_vocabulary: true,
          custom_vocabulary_config: { vocabulary: ['Zeynep'], default_intensity: 0.5 },
        },
      },
    ],
  ])('%o gives %o', (options, body) => {
    expect(gladiaRequest({ ...gladia, ...options }, 'tr-TR')).toMatchObject(body);
  });

  it('asks the region that was chosen', () => {
    expect(gladiaUrl({ ...gladia, region: 'us_west' }).href).toBe('https://c.example/v2/live?region=us-west');
    expect(gladiaUrl(gladia).href).toBe('https://c.example/v2/live');
  });
});

describe('every option of stt_realtime_compat on the wire', () => {
  it.each([
    [{}, '/v1/realtime?intent=transcription'],
    [{ wire: 'nim' as const }, '/v1/realtime?intent=transcription'],
    [{ wire: 'vllm' as const }, '/v1/realtime'],
    [{ wire: 'speaches' as const }, '/v1/realtime?model=a-model&intent=transcription&language=tr'],
    [{ pathAndQuery: '/x?y=1' }, '/x?y=1'],
  ])('%o asks for %s', (options, tail) => {
    const url = realtimeUrl({ ...realtime, ...options });
    expect(url.pathname + url.search).toBe(tail);
  });

  it('configures each kind of server in its own way', () => {
    const prompt = 'Acme';
    expect(configurationOf({ ...realtime, prompt })).toEqual({
      type: 'session.update',
      session: {
        type: 'transcription',
        audio: {
          input: {
            format: { type: 'audio/pcm', rate: 24_000 },
            transcription: { model: 'a-model', language: 'tr', prompt: 'Acme' },
            turn_detection: null,
          },
        },
      },
    });
    expect(
      configurationOf({ ...realtime, wire: 'nim', punctuation: true, sampleRate: 16_000, prompt }),
    ).toEqual({
      type: 'transcription_session.update',
      session: {
        input_audio_format: 'pcm16',
        input_audio_params: { sample_rate_hz: 16_000, num_channels: 1 },
        input_audio_transcription: { language: 'tr', model: 'a-model', prompt: 'Acme' },
        recognition_config: { max_alternatives: 1, enable_automatic_punctuation: true },
      },
    });
    expect(configurationOf({ ...realtime, wire: 'vllm' })).toEqual({
      type: 'session.update',
      model: 'a-model',
    });
    expect(configurationOf({ ...realtime, wire: 'speaches' })).toEqual({
      type: 'session.update',
      session: { turn_detection: null, input_audio_transcription: { model: 'a-model', language: 'tr' } },
    });
  });

  it('fills up an utterance that is too short to commit', () => {
    const wire = newRealtimeWire({ ...realtime, minCommitMs: 100 });
    wire.audio(new Int16Array(1440));
    const events = wire.finalize();
    const sizes = events.map((event) => {
      const message = event.type === 'send' ? (JSON.parse(event.message.toString()) as JsonObject) : {};
      const { audio } = message;
      return typeof audio === 'string' ? Buffer.from(audio, 'base64').length / 2 : 0;
    });
    expect(sizes).toEqual([960, 0]);
  });

  it('adds deltas up, or lets each replace the one before', () => {
    const type = 'conversation.item.input_audio_transcription.delta';
    const say = (wire: SttWire, delta: string): unknown => wire.read({ type, item_id: 'i', delta })[0];
    const adding = newRealtimeWire(realtime);
    say(adding, 'book');
    expect(say(adding, ' a table')).toMatchObject({ text: 'book a table', isFinal: false });
    const replacing = newRealtimeWire({ ...realtime, deltaReplaces: true });
    say(replacing, 'book');
    expect(say(replacing, 'look at')).toMatchObject({ text: 'look at', isFinal: false });
  });

  it('answers a commit with the item that it made, not with an older one', () => {
    const type = 'conversation.item.input_audio_transcription.completed';
    const wire = newRealtimeWire(realtime);
    wire.finalize();
    wire.read({ type: 'input_audio_buffer.committed', item_id: 'new' });
    expect(wire.read({ type, item_id: 'old', transcript: 'before' }).map((event) => event.type)).toEqual([
      'transcript',
    ]);
    expect(wire.read({ type, item_id: 'new', transcript: '' })).toEqual([{ type: 'finalized' }]);
  });

  it('hears a completed item once, and no late word of it', () => {
    const type = 'conversation.item.input_audio_transcription';
    const yes = { type: `${type}.completed`, item_id: 'a', transcript: 'Yes.' };
    const wire = newRealtimeWire(realtime);
    expect(finals(wire.read(yes))).toEqual(['Yes.']);
    wire.finalize();
    expect(wire.read({ ...yes, transcript: 'Yes!' })).toEqual([]);
    expect(wire.read({ type: `${type}.delta`, item_id: 'a', delta: 'Yes' })).toEqual([]);
    expect(wire.read({ ...yes, item_id: 'b' })).toMatchObject([{ text: 'Yes.' }, { type: 'finalized' }]);
    const nim = newRealtimeWire({ ...realtime, wire: 'nim' });
    expect([finals(nim.read(yes)), finals(nim.read(yes))]).toEqual([['Yes.'], ['Yes.']]);
  });

  it('takes text that is missing for none', () => {
    const type = 'conversation.item.input_audio_transcription';
    for (const empty of [{}, { delta: null, transcript: null, error: null }]) {
      const wire = newRealtimeWire(realtime);
      expect(wire.read({ type: `${type}.delta`, item_id: 'a', ...empty })).toEqual([]);
      expect(wire.read({ type: `${type}.delta`, item_id: 'a', delta: 'Yes' })).toHaveLength(1);
      expect(finals(wire.read({ type: `${type}.completed`, item_id: 'a', ...empty }))).toEqual(['Yes']);
      wire.finalize();
      expect(wire.read({ type: `${type}.completed`, item_id: 'b', ...empty })).toEqual([
        { type: 'finalized' },
      ]);
    }
    const wire = newRealtimeWire({ ...realtime, wire: 'vllm' });
    wire.audio(new Int16Array(160));
    expect(wire.read({ type: 'transcription.delta', delta: null })).toEqual([]);
    wire.finalize();
    expect(wire.read({ type: 'transcription.done', text: null })).toEqual([{ type: 'finalized' }]);
    expect(wire.read({ type: 'transcription.done', text: 'late' })).toEqual([]);
  });

  it('hears nothing in a noise that the server understands nothing of, and blames the server for any other failure', () => {
    const type = 'conversation.item.input_audio_transcription';
    const failed = (wire: SttWire, code: string): readonly WireEvent[] =>
      wire.read({ type: `${type}.failed`, item_id: 'new', error: { type: 'transcription_error', code } });
    const wire = newRealtimeWire(realtime);
    wire.finalize();
    wire.read({ type: 'input_audio_buffer.committed', item_id: 'new' });
    wire.read({ type: `${type}.delta`, item_id: 'new', delta: 'hm' });
    expect(failed(wire, 'audio_unintelligible')).toEqual([{ type: 'finalized' }]);
    expect(wire.expired()).toEqual([]);
    expect(failed(newRealtimeWire(realtime), 'audio_unintelligible')).toEqual([]);
    expect(failed(wire, 'server_error')).toMatchObject([{ type: 'error', error: { kind: 'protocol' } }]);
  });

  it.each([
    [{ type: 'invalid_request_error', code: 'invalid_api_key' }, false, { kind: 'rejected', status: 401 }],
    [{ type: 'invalid_request_error', code: 'invalid_model' }, false, { kind: 'rejected', status: 400 }],
    [{ type: 'invalid_request_error', code: 'unknown_event' }, true, undefined],
    [{ code: 'insufficient_quota' }, true, { kind: 'rejected', status: 429, retryable: false }],
    [{ code: 'rate_limit_exceeded' }, true, { kind: 'rejected', status: 429 }],
    [{ code: 'session_expired' }, true, { kind: 'disconnected' }],
    [{ type: 'server_error' }, true, { kind: 'disconnected' }],
    [{ status: 503 }, true, { kind: 'rejected', status: 503 }],
  ])('names the error %o', (error, isReady, named) => {
    expect(realtimeError(error, isReady)).toEqual(named);
  });
});

describe('results of stt_cloud_a', () => {
  const result = (transcript: string, flags: JsonObject = {}): JsonObject => ({
    type: 'Results',
    ...flags,
    channel: { alternatives: [{ transcript }] },
  });

  it('are segments of an utterance, the last of which ends it', () => {
    const wire = new DeepgramWire();
    const events = [
      ...wire.read(result('I would')),
      ...wire.read(result('I would like', { is_final: true })),
      ...wire.read(result('a table')),
      ...wire.read(result('a table.', { is_final: true, speech_final: true })),
    ];
    expect(events).toMatchObject([
      { text: 'I would', isFinal: false },
      { text: 'I would like', isFinal: true, speechFinal: false },
      { text: 'a table', isFinal: false },
      { text: 'a table.', isFinal: true, speechFinal: true },
    ]);
  });

  it('confirm a finalize without text when the text came before', () => {
    const wire = new DeepgramWire();
    wire.finalize();
    expect(finals(wire.read(result('done', { is_final: true, speech_final: true })))).toEqual(['done']);
    expect(wire.read(result('', { is_final: true, from_finalize: true }))).toEqual([{ type: 'finalized' }]);
  });

  it('are ended by a gap after the last word when silence never came', () => {
    const wire = new DeepgramWire();
    expect(wire.read({ type: 'UtteranceEnd' })).toEqual([]);
    wire.read(result('hello', { is_final: true }));
    expect(wire.read({ type: 'UtteranceEnd' })).toMatchObject([
      { text: '', isFinal: true, speechFinal: true },
    ]);
    expect(wire.read({ type: 'UtteranceEnd' })).toEqual([]);
  });

  const noWords: readonly JsonObject[] = [
    {},
    { channel: null },
    { channel: {} },
    { channel: { alternatives: [] } },
    { channel: { alternatives: null } },
    { channel: { alternatives: [null] } },
    { channel: { alternatives: [{}] } },
    { channel: { alternatives: [{ transcript: null, words: null }] } },
  ];
  it.each(noWords)('may hold no words: %o', (rest) => {
    const wire = new DeepgramWire();
    const read = (flags: JsonObject): readonly WireEvent[] =>
      wire.read({ type: 'Results', start: 0, duration: 1, ...flags, ...rest });
    expect(read({})).toEqual([]);
    wire.read(result('I would'));
    expect(read({})).toEqual([]);
    expect(finals(wire.expired())).toEqual(['I would']);
    expect(read({ is_final: true })).toEqual([]);
    wire.read(result('like', { is_final: true }));
    expect(read({ is_final: true, speech_final: true })).toMatchObject([{ text: '', speechFinal: true }]);
    wire.finalize();
    expect(read({ is_final: true, from_finalize: true })).toEqual([{ type: 'finalized' }]);
  });

  it('are heard once, however often they come', () => {
    const wire = new DeepgramWire();
    const yes = result('yes', { is_final: true, speech_final: true, start: 1, duration: 0.8 });
    expect(finals(wire.read(yes))).toEqual(['yes']);
    expect(wire.read(yes)).toEqual([]);
    expect(finals(wire.read({ ...yes, start: 4 }))).toEqual(['yes']);
    wire.finalize();
    expect(wire.read({ ...yes, start: 4, from_finalize: true })).toEqual([{ type: 'finalized' }]);
    expect(finals(wire.read(result('yes', { is_final: true })))).toEqual(['yes']);
    expect(finals(wire.read(result('yes', { is_final: true })))).toEqual(['yes']);
  });
});

describe('turns of stt_cloud_b', () => {
  const turn = (order: number, transcript: string, more: JsonObject = {}): JsonObject => ({
    type: 'Turn',
    turn_order: order,
    transcript,
    end_of_turn: false,
    ...more,
  });

  it('are heard once, also when they are repeated with punctuation', () => {
    const wire = new AssemblyAiWire(false);
    const end = { end_of_turn: true };
    expect(finals(wire.read(turn(0, 'yes please', end)))).toEqual(['yes please']);
    expect(wire.read(turn(0, 'Yes, please.', { ...end, turn_is_formatted: true }))).toEqual([]);
    expect(finals(wire.read(turn(1, 'and more', end)))).toEqual(['and more']);
  });

  it('wait for their punctuation where the file asks for it', () => {
    const wire = new AssemblyAiWire(true);
    wire.finalize();
    expect(finals(wire.read(turn(0, 'yes please', { end_of_turn: true })))).toEqual([]);
    const last = wire.read(turn(0, 'Yes, please.', { end_of_turn: true, turn_is_formatted: true }));
    expect(last).toMatchObject([{ text: 'Yes, please.', fromFinalize: true }, { type: 'finalized' }]);
  });

  it.each([
    [{}],
    [{ transcript: null }],
    [{ transcript: null, words: null }],
    [{ words: [null, { text: null }] }],
  ])('may hold no words: %o', (rest) => {
    const wire = new AssemblyAiWire(false);
    const read = (more: JsonObject): readonly WireEvent[] =>
      wire.read({ type: 'Turn', turn_order: 0, end_of_turn: false, ...more, ...rest });
    expect(read({})).toEqual([]);
    wire.finalize();
    expect(read({ end_of_turn: true })).toEqual([{ type: 'finalized' }]);
  });

  it('need no number, and leave out what is empty in them', () => {
    const wire = new AssemblyAiWire(false);
    const words = [{ text: 'i' }, null, {}, { text: ' ' }, { text: 'would' }];
    expect(wire.read({ type: 'Turn', words })).toMatchObject([{ text: 'i would' }]);
    expect(
      finals(wire.read({ type: 'Turn', turn_order: null, transcript: 'I would.', end_of_turn: true })),
    ).toEqual(['I would.']);
    expect(finals(wire.read({ type: 'Turn', transcript: 'Yes.', end_of_turn: true }))).toEqual(['Yes.']);
    expect(wire.read({ type: 'SpeechStarted', error: null })).toEqual([]);
  });

  it('show the word that is still being spoken', () => {
    const words = [{ text: 'i' }, { text: 'would' }];
    expect(new AssemblyAiWire(false).read(turn(0, 'i', { words }))).toMatchObject([{ text: 'i would' }]);
  });

  it.each([
    [1008, 'Unauthorized', { kind: 'rejected', status: 401 }],
    [1008, 'Too many concurrent sessions', { kind: 'rejected', status: 429 }],
    [3009, '', { kind: 'rejected', status: 429 }],
    [3007, '', { kind: 'protocol' }],
    [3008, '', { kind: 'disconnected' }],
    [1006, '', { kind: 'disconnected' }],
  ])('end with %i (%s)', (code, reason, error) => {
    expect(assemblyAiError(code, reason)).toMatchObject(error);
  });
});

describe('utterances of stt_cloud_c', () => {
  const say = (id: string, text: string, isFinal: boolean): JsonObject => ({
    type: 'transcript',
    data: { id, is_final: isFinal, utterance: { text } },
  });

  it('answer a finalize only when no other is open', () => {
    const wire = new GladiaWire(gladia);
    wire.read(say('1', ' yes', false));
    wire.finalize();
    wire.read(say('2', ' and', false));
    expect(wire.read(say('1', ' Yes.', true)).map((event) => event.type)).toEqual(['transcript']);
    expect(wire.read(say('2', ' And more.', true))).toMatchObject([
      { text: 'And more.' },
      { type: 'finalized' },
    ]);
  });

  it('wait while the caller still speaks', () => {
    const wire = new GladiaWire(gladia);
    wire.finalize();
    wire.read({ type: 'speech_start' });
    expect(wire.read(say('1', ' Yes.', true)).map((event) => event.type)).toEqual(['transcript']);
    wire.read({ type: 'speech_end' });
    expect(wire.read(say('2', ' More.', true)).at(-1)).toEqual({ type: 'finalized' });
  });

  it('are heard once, however often and however else they are told', () => {
    const wire = new GladiaWire(gladia);
    expect(finals(wire.read(say('00_1', ' Yes.', true)))).toEqual(['Yes.']);
    expect(wire.read(say('00_1', ' Yes.', true))).toEqual([]);
    wire.finalize();
    expect(wire.read(say('00_1', ' Yes!', true))).toEqual([]);
    expect(wire.read(say('00_1', ' Yes', false))).toEqual([]);
    expect(wire.read(say('00_2', ' No.', true))).toMatchObject([{ text: 'No.' }, { type: 'finalized' }]);
    expect(finals(wire.read(say('00_3', ' Yes.', true)))).toEqual(['Yes.']);
  });

  it('that were given up are not heard late', () => {
    const wire = new GladiaWire(gladia);
    wire.read(say('1', ' yes', false));
    wire.finalize();
    expect(finals(wire.expired())).toEqual(['yes']);
    expect(wire.read(say('1', ' Yes.', true))).toEqual([]);
  });

  const noWords: readonly JsonObject[] = [
    {},
    { data: null },
    { data: { is_final: true } },
    { data: { id: null, is_final: true, utterance: null } },
    { data: { id: '1', is_final: true, utterance: { text: null, words: null } } },
  ];
  it.each(noWords)('may hold no words: %o', (rest) => {
    const wire = new GladiaWire(gladia);
    expect(wire.read({ type: 'transcript', ...rest })).toEqual([]);
    expect(finals(wire.read(say('7', ' Yes.', true)))).toEqual(['Yes.']);
  });

  it('may be named by a number', () => {
    const wire = new GladiaWire(gladia);
    const yes = { type: 'transcript', data: { id: 4, is_final: true, utterance: { text: 'Yes.' } } };
    expect([finals(wire.read(yes)), finals(wire.read(yes))]).toEqual([['Yes.'], []]);
  });

  it('are ended by as much silence as the server waits for', () => {
    const [event] = new GladiaWire(gladia).finalize();
    expect(event?.type === 'send' && event.message.length).toBe(500 * 32);
  });
});

it.each(['', ' ', 'null', 'ping', '"pong"', 'OK'])(
  '%j keeps a connection alive, and says nothing',
  (text) => {
    for (const wire of [new DeepgramWire(), new GladiaWire(gladia), new AssemblyAiWire(false)])
      expect(readText(wire, text)).toEqual([]);
  },
);

it('words of stt_cloud_c are heard once, whatever names they come under', () => {
  const wire = new GladiaWire(gladia);
  const said = (id: string | undefined, start: number): JsonObject => ({
    type: 'transcript',
    data: {
      ...(id !== undefined && { id }),
      is_final: true,
      utterance: { text: 'yes', start, end: start + 0.4 },
    },
  });
  expect(finals(wire.read(said(undefined, 1)))).toEqual(['yes']);
  expect(wire.read(said(undefined, 1))).toEqual([]);
  expect(wire.read(said('00-0001', 1))).toEqual([]);
  expect(finals(wire.read(said(undefined, 2)))).toEqual(['yes']);
});

describe('the advice of a refusal', () => {
  it.each([
    ['7', undefined, 7000],
    ['Sat, 21 Nov 2026 12:00:30 GMT', 'Sat, 21 Nov 2026 12:00:00 GMT', 30_000],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 'Sat, 21 Nov 2026 12:00:00 GMT', 0],
    ['999999', undefined, 3_600_000],
    ['soon', undefined, undefined],
    [undefined, undefined, undefined],
  ])('%s at %s means %s ms', (advice, date, ms) => {
    expect(retryAfterMsOf(advice, date)).toBe(ms);
  });
});

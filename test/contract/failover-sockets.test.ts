/** The primary dies in the middle of its stream, on real sockets: what its secondary is given, and what the call sees. */
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../shared/runtime/clock.ts';
import { machineMs } from '../../shared/runtime/monotonic.ts';
import { newFailoverLlm } from '../../worker/stages/failover/llm.ts';
import { newFailoverStt } from '../../worker/stages/failover/stt.ts';
import { newFailoverTts } from '../../worker/stages/failover/tts.ts';
import { newChatCompatible } from '../../worker/stages/llm/chat-compatible/adapter.ts';
import { newSpeechCompatible } from '../../worker/stages/tts/speech-compatible/adapter.ts';
import type { LlmEvent, SttEvent, TtsEvent } from '../../worker/stages/stage.ts';
import { newSttDeepgram } from '../../worker/stages/stt/deepgram/adapter.ts';
import { newSttAssemblyAi } from '../../worker/stages/stt/assemblyai/adapter.ts';
import { newSttLocalWs } from '../../worker/stages/stt/sherpa-onnx/adapter.ts';
import { newTtsCartesia } from '../../worker/stages/tts/cartesia/adapter.ts';
import { newFailoverScope, type Recorded } from '../support/core/failover.ts';
import { answer, choice, FakeChat, stream } from '../support/fakes/fake-chat.ts';
import { reply } from '../support/fakes/fake-http.ts';
import { FakeAssemblyAi } from '../support/fakes/fake-assemblyai.ts';
import { FakeCartesia } from '../support/fakes/fake-cartesia.ts';
import { FakeDeepgram } from '../support/fakes/fake-deepgram.ts';
import { FakeSpeech } from '../support/fakes/fake-speech.ts';
import { FakeSttLocalWs } from '../support/fakes/fake-stt-local-ws.ts';
import { Events, newStageContext } from '../support/core/stage-context.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
const starting = async <S extends { start(): Promise<void>; close(): Promise<void> }>(
  server: S,
): Promise<S> => {
  await server.start();
  closing.push(() => server.close());
  return server;
};

describe('a recogniser that dies while the caller speaks', () => {
  /** 20 ms of audio whose every sample is the number of the piece. */
  const piece = (number: number): Int16Array => new Int16Array(320).fill(number);

  it('is followed by the other, which hears what no final covers, and nothing else', async () => {
    const [primary, secondary] = [await starting(new FakeDeepgram()), await starting(new FakeDeepgram())];
    const stageOf = ({ baseUrl }: FakeDeepgram) =>
      newSttDeepgram({
        baseUrl,
        apiKey: 'k',
        language: 'en',
        model: 'm',
        endpointingMs: 300,
        smartFormat: true,
      });
    const scope = newFailoverScope('stt', {
      primary: stageOf(primary),
      secondary: stageOf(secondary),
      machineMs,
    });
    const events = new Events<SttEvent>();
    const session = newFailoverStt(scope).open(newStageContext(), events.sink);
    closing.push(() => session.close());
    const finals = (): string[] =>
      events
        .of('transcript')
        .filter(({ isFinal }) => isFinal)
        .map(({ text }) => text);
    primary.utterances.push('one two three four five six');
    secondary.utterances.push('three four five six');
    // Two words, which a final covers.
    for (let number = 1; number <= 30; number += 1) session.audio(piece(number));
    await primary.until(() => primary.connections.length === 1 && primary.last.audioMs >= 600);
    primary.segment();
    await events.until(() => finals().length === 1);
    for (let number = 31; number <= 60; number += 1) session.audio(piece(number));
    await primary.until(() => primary.last.audioMs >= 1_200);
    primary.last.socket.terminate();
    await secondary.until(() => secondary.connections.length === 1);
    for (let number = 61; number <= 90; number += 1) session.audio(piece(number));
    session.finalize();
    await events.seen('finalized');
    const got = new Set(secondary.last.samples);
    expect([Math.min(...got), Math.max(...[...got])]).toEqual([31, 90]);
    expect(secondary.last.samples.filter((value) => value !== 0)).toHaveLength(60 * 320);
    expect(finals()).toEqual(['one two', 'three four five six']);
    expect(events.of('error')).toEqual([]);
    expect(scope.reasons).toEqual(['failed']);
    expect(scope.notes.filter((note) => /requested|failed/.test(note))).toEqual([
      'primary requested',
      'primary failed disconnected',
      'secondary requested',
    ]);
  });

  it('is followed in the middle of a long sentence by one that takes audio hardly faster than speech', async () => {
    const primary = await starting(new FakeDeepgram());
    const secondary = await starting(new FakeAssemblyAi());
    const scope = newFailoverScope('stt', {
      primary: newSttDeepgram({
        baseUrl: primary.baseUrl,
        apiKey: 'k',
        language: 'en',
        model: 'm',
        endpointingMs: 300,
        smartFormat: true,
      }),
      secondary: newSttAssemblyAi({
        baseUrl: secondary.baseUrl,
        apiKey: 'k',
        language: 'en',
        speechModel: 'universal-streaming-english',
        formatTurns: false,
      }),
      machineMs,
    });
    const events = new Events<SttEvent>();
    const session = newFailoverStt(scope).open(newStageContext(), events.sink);
    closing.push(() => session.close());
    secondary.utterances.push('all of the long sentence');
    for (let number = 1; number <= 450; number += 1) session.audio(piece(number));
    await primary.until(() => primary.connections.length === 1 && primary.last.audioMs >= 1_200);
    primary.last.socket.terminate();
    await secondary.until(() => secondary.connections.length === 1);
    // The caller goes on speaking meanwhile, and then stops.
    for (let number = 451; number <= 480; number += 1) session.audio(piece(number));
    session.finalize();
    await events.seen('finalized');
    const texts = events.of('transcript').filter(({ isFinal }) => isFinal);
    expect(texts.map(({ text }) => text)).toEqual(['all of the long sentence']);
    const heard = secondary.last.samples.filter((_, at) => at % 320 === 0);
    expect(heard).toEqual(Array.from({ length: 480 }, (_, at) => at + 1));
    expect(events.of('error')).toEqual([]);
  });

  it('is followed by one of another kind, after a finalize as well', async () => {
    const primary = await starting(new FakeDeepgram());
    const secondary = await starting(new FakeSttLocalWs({ flavour: 'cpp' }));
    const scope = newFailoverScope('stt', {
      primary: newSttDeepgram({
        baseUrl: primary.baseUrl,
        apiKey: 'k',
        language: 'en',
        model: 'm',
        endpointingMs: 300,
        smartFormat: true,
      }),
      secondary: newSttLocalWs({
        baseUrl: secondary.baseUrl,
        path: '/',
        sampleRate: 16_000,
        finalizeTimeoutMs: 1_500,
        finalizePaddingMs: 0,
      }),
      machineMs,
    });
    const events = new Events<SttEvent>();
    const session = newFailoverStt(scope).open(newStageContext(), events.sink);
    closing.push(() => session.close());
    primary.ignoreFinalize = true;
    primary.utterances.push('never answered', 'nor this');
    secondary.utterances.push('first words', 'second words');
    for (let number = 1; number <= 50; number += 1) session.audio(piece(1));
    session.finalize();
    await primary.until(() => primary.connections.length === 1 && primary.last.of('Finalize').length === 1);
    // The caller goes on before the answer.
    for (let number = 1; number <= 40; number += 1) session.audio(piece(2));
    primary.last.socket.terminate();
    session.finalize();
    await events.seen('finalized', 2);
    const texts = events.of('transcript').filter(({ isFinal }) => isFinal);
    expect(texts.map(({ text }) => text)).toEqual(['first words', 'second words']);
    const samples = secondary.last.audio.map((value) => Math.round(value * 32_768));
    expect(samples).toEqual([...Array<number>(50 * 320).fill(1), ...Array<number>(40 * 320).fill(2)]);
    expect(events.of('error')).toEqual([]);
  });
});

describe('a model that dies', () => {
  const ask = async (
    script: Parameters<FakeChat['script']['push']>[0],
  ): Promise<{ events: Events<LlmEvent>; secondary: FakeChat; scope: Recorded }> => {
    const [primary, secondary] = [
      await starting(new FakeChat()),
      await starting(new FakeChat(answer('From the other.'))),
    ];
    const stageOf = ({ baseUrl }: FakeChat) => newChatCompatible({ baseUrl, model: 'm' });
    primary.script.push(script);
    const scope = newFailoverScope('llm', {
      primary: stageOf(primary),
      secondary: stageOf(secondary),
      machineMs,
    });
    const stage = newFailoverLlm(scope);
    closing.push(() => stage.close());
    const events = new Events<LlmEvent>();
    const request = { messages: [{ role: 'user', text: 'Hello' } as const], tools: [] };
    stage.open(newStageContext(), {}).start(request, events.sink);
    await events.until(() => events.all.some(({ type }) => type === 'done' || type === 'error'));
    return { events, secondary, scope };
  };
  const textOf = (events: Events<LlmEvent>): string =>
    events
      .of('text')
      .map(({ text }) => text)
      .join('');

  it.each([
    ['is refused', reply({ status: 503, chunks: ['{}'] })],
    ['is cut before its headers', ({ response }: { response: { destroy(): unknown } }) => response.destroy()],
    ['is cut before a word', stream([choice({ role: 'assistant', content: '' })], 'cut')],
    ['breaks its protocol', reply({ headers: { 'content-type': 'text/html' }, chunks: ['<p>'] })],
  ])('and %s before anything was delivered: the other answers', async (_how, script) => {
    const { events, secondary, scope } = await ask(script);
    expect(textOf(events)).toBe('From the other.');
    expect(events.all.at(-1)).toMatchObject({ type: 'done', finish: 'stop' });
    expect(secondary.requests).toHaveLength(1);
    expect(scope.notes).toContain('secondary spent 3 output_tokens');
  });

  it('after its first words is not asked for again', async () => {
    const { events, secondary } = await ask(stream([choice({ content: 'Half a ' })], 'cut'));
    expect(textOf(events)).toBe('Half a ');
    expect(events.all.at(-1)).toEqual({ type: 'error', error: { kind: 'disconnected' } });
    expect(secondary.requests).toEqual([]);
  });
});

describe('a voice that dies while it speaks', () => {
  const pieces = ['Hello there, this is a first. ', 'And here comes another one. ', 'Bye now.'];
  const text = pieces.join('');
  const samplesPerChar = 1_200;

  interface Spoken {
    readonly events: Events<TtsEvent>;
    /** Samples that had been delivered when the other voice was asked. */
    readonly before: number | undefined;
    readonly given: string;
  }

  it('is followed at the first word that was not said, wherever its connection is cut', async () => {
    const [primary, secondary] = [await starting(new FakeCartesia()), await starting(new FakeCartesia())];
    for (const server of [primary, secondary]) server.samplesPerChar = samplesPerChar;
    const stageOf = ({ address }: FakeCartesia) =>
      newTtsCartesia({
        apiKey: 'k',
        language: 'en',
        voice: 'v',
        sampleRate: 24_000,
        model: 'm',
        maxBufferDelayMs: 0,
        url: `${address}/tts/websocket`,
      });
    const speak = async (cutAfterBytes: number | undefined): Promise<Spoken> => {
      primary.sentBytes = 0;
      primary.cutAfterBytes = cutAfterBytes;
      const events = new Events<TtsEvent>();
      let before: number | undefined;
      const samples = (): number => events.of('audio').reduce((sum, { pcm }) => sum + pcm.length, 0);
      const scope = newFailoverScope('tts', {
        primary: stageOf(primary),
        secondary: stageOf(secondary),
        machineMs,
        onRequest: (role) => {
          if (role === 'secondary') before ??= samples();
        },
      });
      const session = newFailoverTts(scope).open(newStageContext(systemClock), events.sink);
      const from = secondary.messages.length;
      for (const one of pieces) session.speak(1, one);
      session.flush(1);
      await events.until(() => events.all.some(({ type }) => type === 'flushed' || type === 'error'));
      session.close();
      const given = secondary.messages
        .slice(from)
        .map(({ transcript }) => (typeof transcript === 'string' ? transcript : ''))
        .join('');
      return { events, before, given };
    };
    await speak(undefined);
    const total = primary.sentBytes;
    let taken = 0;
    for (let cut = 0; cut < total; cut += Math.ceil(total / 60)) {
      const { events, before, given } = await speak(cut);
      expect(events.of('error')).toEqual([]);
      expect(events.of('spoken').at(-1)?.chars).toBe(text.length);
      if (before === undefined) continue;
      taken += 1;
      const chars = before / samplesPerChar;
      const words = [...text.matchAll(/\S+/g)];
      const next = words.find((word) => word.index + word[0].length / 2 > chars)?.index ?? text.length;
      expect([cut, given.trim()]).toEqual([cut, text.slice(next).trim()]);
    }
    expect(taken).toBeGreaterThan(20);
  });

  it('is followed by one of another kind that is asked piece by piece', async () => {
    const primary = await starting(new FakeCartesia());
    const secondary = await starting(new FakeSpeech());
    primary.refuseWith = { status: 503 };
    const scope = newFailoverScope('tts', {
      primary: newTtsCartesia({
        apiKey: 'k',
        language: 'en',
        voice: 'v',
        sampleRate: 24_000,
        model: 'm',
        maxBufferDelayMs: 0,
        url: `${primary.address}/tts/websocket`,
      }),
      secondary: newSpeechCompatible({
        baseUrl: secondary.baseUrl,
        preset: 'generic',
        model: 'm',
        format: 'pcm',
        firstAudioTimeoutMs: 5_000,
        warmText: '',
        warmIntervalMs: 60_000,
      }),
      machineMs,
    });
    const events = new Events<TtsEvent>();
    const session = newFailoverTts(scope).open(newStageContext(systemClock), events.sink);
    closing.push(() => session.close());
    for (const one of pieces) session.speak(4, one);
    session.flush(4);
    await events.seen('flushed');
    expect(secondary.requests.map(({ body }) => body['input']).join(' ')).toBe(text);
    expect(events.of('spoken').at(-1)).toEqual({ type: 'spoken', context: 4, chars: text.length });
    expect(events.of('error')).toEqual([]);
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SpeechCompatibleOptions } from '../../../worker/stages/tts/speech-compatible/declaration.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { TtsEvent, TtsSession, TtsStage } from '../../../worker/stages/stage.ts';
import { newSpeechCompatible } from '../../../worker/stages/tts/speech-compatible/adapter.ts';
import { reply, silence } from '../../support/fakes/fake-http.ts';
import type { FakeReply } from '../../support/fakes/fake-http.ts';
import { FakeSpeech, refuse, samplesOf, speech, tone, wav } from '../../support/fakes/fake-speech.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

describe('the speech compatible stage', () => {
  let server: FakeSpeech;
  let stage: TtsStage;
  let session: TtsSession;
  let events: Events<TtsEvent>;

  const open = (
    options: Partial<SpeechCompatibleOptions> & { apiKey?: string } = {},
    clock?: Clock,
  ): void => {
    stage = newSpeechCompatible({
      baseUrl: server.baseUrl,
      preset: 'generic',
      model: 'tts-1',
      format: 'pcm',
      firstAudioTimeoutMs: 15_000,
      warmText: '',
      warmIntervalMs: 60_000,
      ...options,
    });
    events = new Events();
    session = stage.open(newStageContext(clock), events.sink);
  };
  const samples = (): number => events.of('audio').reduce((sum, event) => sum + event.pcm.length, 0);
  const positions = (): number[] => events.of('spoken').map((event) => event.chars);
  /** Speaks one text against a scripted reply and waits for its outcome. */
  const outcome = async (
    script: FakeReply,
    options: Partial<SpeechCompatibleOptions> = {},
  ): Promise<TtsEvent> => {
    server.script.push(script);
    open(options);
    session.speak(1, 'Hello there.');
    session.flush(1);
    await events.until(() => events.all.some((event) => event.type === 'flushed' || event.type === 'error'));
    return events.all.at(-1)!;
  };
  const ERROR = (kind: string, rest: object = {}): unknown => ({ type: 'error', error: { kind, ...rest } });

  beforeEach(async () => {
    server = new FakeSpeech();
    await server.start();
  });
  afterEach(async () => {
    session.close();
    await stage.close();
    await server.close();
  });

  it('speaks a text, says how far it got, and answers the flush last', async () => {
    open({ voice: 'af_heart', speed: 1.25 });
    expect(session.sampleRate).toBe(24_000);
    session.speak(7, 'Hello there.');
    session.flush(7);
    await events.seen('flushed');
    expect(samples()).toBe(samplesOf('Hello there.'));
    expect(events.all.slice(-2)).toEqual([
      { type: 'spoken', context: 7, chars: 12 },
      { type: 'flushed', context: 7 },
    ]);
    expect(events.all.every((event) => event.type === 'error' || event.context === 7)).toBe(true);
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/v1/audio/speech' });
    expect(server.requests[0]!.body).toEqual({
      model: 'tts-1',
      input: 'Hello there.',
      voice: 'af_heart',
      response_format: 'pcm',
      speed: 1.25,
    });
  });

  it('delivers the very samples, whatever the chunks', async () => {
    const bytes = tone(1000);
    const pieces = [bytes.subarray(0, 1), bytes.subarray(1, 4), bytes.subarray(4, 777), bytes.subarray(777)];
    await outcome(speech(pieces));
    const heard = events.of('audio').flatMap((event) => [...event.pcm]);
    expect(heard).toEqual(Array.from({ length: 1000 }, (_, i) => bytes.readInt16LE(i * 2)));
  });

  it('sends the first piece alone and joins those that wait', async () => {
    open();
    session.speak(1, 'One. ');
    session.speak(1, 'Two. ');
    session.speak(1, 'Three. ');
    session.flush(1);
    await events.seen('flushed');
    expect(server.inputs).toEqual(['One.', 'Two. Three.']);
    expect(positions()).toEqual([5, 17]);
  });

  it('runs one request at a time, over one connection', async () => {
    open();
    for (let i = 0; i < 4; i += 1) session.speak(1, `${'word '.repeat(59)}${i}.   `);
    session.flush(1);
    await events.seen('flushed');
    expect(server.requests).toHaveLength(4);
    expect(server.connectionCount).toBeLessThanOrEqual(2);
    expect(positions()).toEqual([300, 600, 900, 1200]);
  });

  it('speaks contexts in the order in which they appeared', async () => {
    open();
    session.speak(1, 'First. ');
    session.speak(2, 'Second. ');
    session.flush(2);
    session.flush(1);
    await events.seen('flushed', 2);
    expect(server.inputs).toEqual(['First.', 'Second.']);
    expect(events.of('flushed').map((event) => event.context)).toEqual([1, 2]);
  });

  it.each([' \n', '. ', '…!'])('passes over text without words, and without a request: %j', async (text) => {
    open();
    session.speak(1, text);
    session.flush(1);
    expect(events.all).toEqual([]);
    await events.seen('flushed');
    expect(events.all).toEqual([
      { type: 'spoken', context: 1, chars: 2 },
      { type: 'flushed', context: 1 },
    ]);
    expect(server.requests).toEqual([]);
  });

  it('takes an empty body for silence', async () => {
    expect(await outcome(speech([]))).toEqual({ type: 'flushed', context: 1 });
    expect(positions()).toEqual([12]);
  });

  it.each([
    ['the real size', {}],
    ['an unknown size', { dataSize: 0xffff_ffff, list: true }],
    ['no size', { dataSize: 0 }],
  ])('reads a WAV with %s', async (_name, parts) => {
    const script = speech([wav(tone(500), parts)], { headers: { 'content-type': 'audio/wav' } });
    expect(await outcome(script, { format: 'wav' })).toMatchObject({ type: 'flushed' });
    expect(samples()).toBe(500);
    expect(server.requests[0]!.body['response_format']).toBe('wav');
  });

  it.each([
    ['of another rate', wav(tone(10), { rate: 22_050 })],
    ['in stereo', wav(tone(10), { channels: 2 })],
    ['of another width', wav(tone(10), { bits: 8 })],
    ['that is not PCM', wav(tone(10), { tag: 3 })],
    ['without a header', tone(100)],
  ])('refuses a WAV %s', async (_name, body) => {
    const script = speech([body], { headers: { 'content-type': 'audio/wav' }, then: 'hold' });
    expect(await outcome(script, { format: 'wav' })).toMatchObject({ error: { kind: 'protocol' } });
    expect(samples()).toBe(0);
  });

  it.each([
    'application/json',
    'text/plain',
    'text/xml',
    'application/xml',
    'audio/mpeg',
    'audio/pcm;rate=22050',
  ])('refuses a success of type %s', async (type) => {
    const script = reply({ headers: { 'content-type': type }, chunks: ['{}'] });
    expect(await outcome(script)).toMatchObject({ error: { kind: 'protocol' } });
  });

  it.each([400, 422])('skips a text that is refused with %d, and goes on', async (status) => {
    server.script.push(refuse(status));
    open();
    session.speak(1, 'Bad. ');
    session.speak(1, 'Good.');
    session.flush(1);
    await events.seen('flushed');
    expect(server.inputs).toEqual(['Bad.', 'Good.']);
    expect(positions()).toEqual([5, 10]);
    expect(samples()).toBe(samplesOf('Good.'));
  });

  it('ends when two texts in a row are refused, and not when a good one lay between', async () => {
    server.script.push(refuse(422), speech([tone(10)]), refuse(400), refuse(422));
    open();
    for (let context = 1; context <= 4; context += 1) {
      session.speak(context, 'Text.');
      session.flush(context);
    }
    await events.seen('error');
    expect(positions()).toEqual([5, 5, 5]);
    expect(events.all.at(-1)).toEqual(ERROR('rejected', { status: 422 }));
  });

  it.each([401, 404, 429, 500, 307])('ends with the status %d', async (status) => {
    expect(await outcome(refuse(status))).toEqual(ERROR('rejected', { status }));
    session.speak(2, 'More.');
    expect(server.requests).toHaveLength(1);
  });

  it('is disconnected when the body is cut', async () => {
    expect(await outcome(speech([tone(100)], { then: 'cut' }))).toEqual(ERROR('disconnected'));
    expect(events.of('spoken')).toEqual([]);
  });

  it('is disconnected when nobody listens', async () => {
    open();
    await server.close();
    session.speak(1, 'Hello.');
    await events.seen('error');
    expect(events.all).toEqual([ERROR('disconnected')]);
    await server.start();
  });

  it('sends the key to a loopback host, and refuses to send it in the clear elsewhere', async () => {
    open({ apiKey: 'sk-2' });
    session.speak(1, 'Hi.');
    session.flush(1);
    await events.seen('flushed');
    expect(server.requests[0]!.headers.authorization).toBe('Bearer sk-2');
    expect(() => open({ baseUrl: 'http://tts.lan/v1', apiKey: 'sk-2' })).toThrow('TLS');
  });

  describe('cancelled', () => {
    const CANCELLED = { type: 'cancelled', context: 1 } as const;

    it('before its connection, a context sends nothing, and the next one is spoken', async () => {
      open();
      session.speak(1, 'Old.');
      session.cancel(1);
      session.speak(1, 'Late.');
      session.speak(2, 'New.');
      session.flush(2);
      await events.seen('flushed');
      expect(events.all[0]).toEqual(CANCELLED);
      expect(events.of('flushed')).toEqual([{ type: 'flushed', context: 2 }]);
      expect(server.inputs).toEqual(['New.']);
    });

    it('before the first audio, the request is aborted', async () => {
      server.script.push(silence);
      open();
      session.speak(1, 'Old.');
      await server.until(() => server.requests.length === 1);
      session.cancel(1);
      expect(events.all).toEqual([]);
      await events.seen('cancelled');
      await server.until(() => server.requests[0]!.aborted);
      expect(events.all).toEqual([CANCELLED]);
    });

    it('within the audio, the response is dropped and waiting text with it', async () => {
      server.script.push(speech([tone(2400)], { then: 'hold' }));
      open();
      session.speak(1, 'Old one. ');
      session.speak(1, 'Old two. ');
      session.speak(2, 'New.');
      session.flush(2);
      await events.seen('audio');
      session.cancel(1);
      await events.seen('flushed');
      const after = events.all.slice(events.all.findIndex((event) => event.type === 'cancelled') + 1);
      expect(after.every((event) => event.type !== 'error' && event.context === 2)).toBe(true);
      expect(server.inputs).toEqual(['Old one.', 'New.']);
      expect(server.requests[0]!.aborted).toBe(true);
    });

    it('an end that was about to be answered is not', async () => {
      open();
      session.flush(1);
      session.cancel(1);
      await events.seen('cancelled');
      expect(events.all).toEqual([CANCELLED]);
    });
  });

  describe('timeouts', () => {
    const timedOut = (what: string): unknown => ERROR('timeout', { what });

    it('the first audio by the configured time, whether or not headers came', async () => {
      for (const script of [silence, speech([], { then: 'hold' })]) {
        const clock = newVirtualClock();
        server.script.push(script);
        open({ firstAudioTimeoutMs: 2_000 }, clock);
        const before = server.requests.length;
        session.speak(1, 'Hello.');
        await server.until(() => server.requests.length === before + 1);
        clock.advance(1_999);
        expect(events.all).toEqual([]);
        clock.advance(1);
        expect(events.all).toEqual([timedOut('first audio')]);
        await stage.close();
      }
    });

    it('eight idle seconds within the audio', async () => {
      const clock = newVirtualClock();
      server.script.push(speech([tone(100)], { then: 'hold' }));
      open({}, clock);
      session.speak(1, 'Hello.');
      await events.seen('audio');
      clock.advance(7_999);
      expect(events.of('error')).toEqual([]);
      clock.advance(1);
      expect(events.all.at(-1)).toEqual(timedOut('idle'));
      expect(clock.pending).toBe(0);
    });

    it('120 seconds for a request that trickles', async () => {
      const clock = newVirtualClock();
      server.script.push(speech([tone(10)], { then: 'hold' }));
      open({}, clock);
      session.speak(1, 'Hello.');
      await events.seen('audio');
      for (let at = 7; at < 120; at += 7) {
        clock.advance(7_000);
        if (events.of('error').length > 0) break;
        const before = events.of('audio').length;
        server.requests[0]!.response.write(tone(10));
        if (at + 7 < 120) await events.seen('audio', before + 1);
      }
      clock.advance(7_000);
      expect(events.all.at(-1)).toEqual(timedOut('request'));
    });

    it('no time counts while nobody reads', async () => {
      const clock = newVirtualClock();
      server.script.push(speech([tone(100)], { then: 'hold' }));
      open({}, clock);
      session.speak(1, 'Hello.');
      await events.seen('audio');
      session.pause();
      clock.advance(500_000);
      expect(events.of('error')).toEqual([]);
      session.resume();
      clock.advance(7_999);
      expect(events.of('error')).toEqual([]);
      server.requests[0]!.response.end();
      await events.seen('spoken');
    });
  });

  it('stops reading while paused, so that the server cannot send on, and resumes without a loss', async () => {
    const bytes = tone(8_000_000);
    let written = false;
    server.script.push(({ response }) => {
      response.writeHead(200, { 'content-type': 'audio/pcm' });
      response.write(bytes, () => {
        written = true;
      });
      response.end();
    });
    open();
    session.speak(1, 'A very long text.');
    session.flush(1);
    await events.seen('audio');
    session.pause();
    const before = samples();
    for (let i = 0; i < 50; i += 1) await new Promise((resolve) => setImmediate(resolve));
    // One chunk that had been read already may still come.
    expect(samples()).toBeLessThanOrEqual(before + 32_768);
    expect(written).toBe(false);
    session.resume();
    await events.seen('flushed');
    expect(samples()).toBe(8_000_000);
  });
});

import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SpeechCompatibleOptions } from '../../../worker/stages/tts/speech-compatible/declaration.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { TtsEvent, TtsSession, TtsStage } from '../../../worker/stages/stage.ts';
import { newSpeechCompatible } from '../../../worker/stages/tts/speech-compatible/adapter.ts';
import { silence } from '../../support/fakes/fake-http.ts';
import { FakeSpeech, refuse, samplesOf } from '../../support/fakes/fake-speech.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

describe('the servers behind the speech compatible stage', () => {
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
  beforeEach(async () => {
    server = new FakeSpeech();
    await server.start();
  });
  afterEach(async () => {
    session.close();
    await stage.close();
    await server.close();
  });

  it.each([
    ['local_a' as const, { sample_rate: 24_000, speed: 2 }],
    ['local_b' as const, { stream: true, speed: 2 }],
    ['local_c' as const, {}],
    ['local_d' as const, { speed: 2 }],
  ])('knows the request fields of %s', async (preset, fields) => {
    open({ preset, speed: 2 });
    session.speak(1, 'Hi.');
    session.flush(1);
    await events.seen('flushed');
    expect(server.requests[0]!.body).toEqual({
      model: 'tts-1',
      input: 'Hi.',
      response_format: 'pcm',
      ...fields,
    });
  });

  describe('warm-up', () => {
    it('asks for the warm text at most once per interval across calls, and drops the audio', async () => {
      const clock = newVirtualClock();
      open({ warmText: 'Hello.', warmIntervalMs: 60_000 }, clock);
      await server.until(() => server.requests.length === 1);
      clock.advance(59_999);
      const second = stage.open(newStageContext(clock), events.sink);
      clock.advance(1);
      const third = stage.open(newStageContext(clock), events.sink);
      await server.until(() => server.requests.length === 2);
      expect(server.inputs).toEqual(['Hello.', 'Hello.']);
      expect(events.all).toEqual([]);
      second.close();
      third.close();
    });

    it('gives way to real text', async () => {
      server.script.push(silence);
      open({ warmText: 'Hello.' });
      await server.until(() => server.requests.length === 1);
      session.speak(1, 'Real.');
      session.flush(1);
      await events.seen('flushed');
      await server.until(() => server.requests[0]!.aborted);
      expect(samples()).toBe(samplesOf('Real.'));
    });

    it('that fails harms nobody', async () => {
      server.script.push(refuse(500));
      open({ warmText: 'Hello.' });
      await server.until(() => server.requests.length === 1);
      session.speak(1, 'Real.');
      session.flush(1);
      await events.seen('flushed');
      expect(events.of('error')).toEqual([]);
    });
  });

  it('that take the connection and no more are given three seconds', async () => {
    const mute = createServer((socket) => socket.on('error', () => undefined));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const clock = newVirtualClock();
    open({ baseUrl: `https://127.0.0.1:${(mute.address() as AddressInfo).port}/v1` }, clock);
    session.speak(1, 'Hello.');
    clock.advance(2_999);
    expect(events.all).toEqual([]);
    clock.advance(1);
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'timeout', what: 'connect' } }]);
    mute.close();
  });
});

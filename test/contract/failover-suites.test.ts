/**
 * A stage with a secondary keeps the contract of its stage: the same suites as for a provider alone. No retry is left in
 * these runs, so that what a provider does shows; what happens when there are some stands in failover-sockets.test.ts.
 */
import { newChatCompatible } from '../../worker/stages/llm/chat-compatible/adapter.ts';
import { newFailoverLlm } from '../../worker/stages/failover/llm.ts';
import { newFailoverStt } from '../../worker/stages/failover/stt.ts';
import { newFailoverTts } from '../../worker/stages/failover/tts.ts';
import { newSttDeepgram } from '../../worker/stages/stt/deepgram/adapter.ts';
import { newSttLocalWs } from '../../worker/stages/stt/sherpa-onnx/adapter.ts';
import { newTtsCartesia } from '../../worker/stages/tts/cartesia/adapter.ts';
import { newTtsDeepgramAura } from '../../worker/stages/tts/deepgram/adapter.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import { machineMs } from '../../shared/runtime/monotonic.ts';
import type { TtsStage } from '../../worker/stages/stage.ts';
import { newFailoverScope } from '../support/core/failover.ts';
import { FakeAura } from '../support/fakes/fake-aura.ts';
import { FakeCartesia } from '../support/fakes/fake-cartesia.ts';
import { FakeDeepgram } from '../support/fakes/fake-deepgram.ts';
import { FakeSttLocalWs } from '../support/fakes/fake-stt-local-ws.ts';
import { chatDialect } from './llm/chat-dialect.ts';
import { describeLlm } from './llm/llm-suite.ts';
import { sttSuite } from './stt/stt-suite.ts';
import { describeVoice } from './tts/tts-suite.ts';

/** The stage with itself as its secondary. */
const twice = <S>(name: 'stt' | 'llm' | 'tts', stage: S) =>
  newFailoverScope(name, { primary: stage, secondary: stage, machineMs, retries: false });

const apiKey = 'a-secret-key';

sttSuite('stt_cloud_a with a secondary', {
  newServer: () => new FakeDeepgram(),
  newStage: ({ baseUrl }) =>
    newFailoverStt(
      twice(
        'stt',
        newSttDeepgram({
          baseUrl,
          apiKey,
          language: 'en',
          model: 'nova-3',
          endpointingMs: 300,
          smartFormat: true,
        }),
      ),
    ),
  ignoreFinalize: (server, ignores) => (server.ignoreFinalize = ignores),
  finalizeTimeoutMs: 1500,
});

sttSuite('stt_local_ws with a secondary', {
  newServer: () => new FakeSttLocalWs({ flavour: 'cpp' }),
  newStage: ({ baseUrl }) =>
    newFailoverStt(
      twice(
        'stt',
        newSttLocalWs({
          baseUrl,
          path: '/',
          sampleRate: 16_000,
          finalizeTimeoutMs: 1500,
          finalizePaddingMs: 300,
        }),
      ),
    ),
  ignoreFinalize: (server, ignores) => (server.ignoreDone = ignores),
  finalizeTimeoutMs: 1500,
});

describeLlm({
  ...chatDialect,
  name: 'chat_compatible with a secondary',
  newStage: (fake) => newFailoverLlm(twice('llm', newChatCompatible({ baseUrl: fake.baseUrl, model: 'm' }))),
});

const access = { apiKey, language: 'en-US', voice: 'voice-1', sampleRate: 24_000 };

describeVoice('tts_cloud_a with a secondary', {
  newFake: () => new FakeCartesia(),
  newStage: (address) =>
    newFailoverTts(
      twice(
        'tts',
        newTtsCartesia({
          ...access,
          model: 'sonic-3.5',
          maxBufferDelayMs: 0,
          url: `${address}/tts/websocket`,
        }),
      ),
    ),
  hasWords: true,
});

/** A listener in a hurry: the decorator passes audio on as it is needed, which would take the suite a minute. */
class HurriedClock implements Clock {
  readonly real: Clock;
  constructor(real: Clock) {
    this.real = real;
  }
  now(): number {
    return this.real.now() * 100;
  }
  after(delayMs: number, callback: () => void): Timer {
    return this.real.after(delayMs / 100, callback);
  }
}

const onClock = (stage: TtsStage, clockOf: (clock: Clock) => Clock): TtsStage => ({
  ...stage,
  open: (context, sink) => stage.open({ ...context, clock: clockOf(context.clock) }, sink),
});

describeVoice('tts_cloud_c with a secondary', {
  newFake: () => new FakeAura(),
  newStage: (address) => {
    const voice = onClock(newTtsDeepgramAura({ ...access, url: `${address}/v1/speak` }), (clock) =>
      clock instanceof HurriedClock ? clock.real : clock,
    );
    return onClock(newFailoverTts(twice('tts', voice)), (clock) => new HurriedClock(clock));
  },
  hasWords: false,
});

import { newSttDeepgram } from '../../../worker/stages/stt/deepgram/adapter.ts';
import { newSttAssemblyAi } from '../../../worker/stages/stt/assemblyai/adapter.ts';
import { newSttGladia } from '../../../worker/stages/stt/gladia/adapter.ts';
import { newSttRealtimeCompat } from '../../../worker/stages/stt/realtime-compat/adapter.ts';
import { FakeAssemblyAi } from '../../support/fakes/fake-assemblyai.ts';
import { FakeDeepgram } from '../../support/fakes/fake-deepgram.ts';
import { FakeGladia } from '../../support/fakes/fake-gladia.ts';
import { FakeSttRealtime } from '../../support/fakes/fake-stt-realtime.ts';
import { newSttLocalWs } from '../../../worker/stages/stt/sherpa-onnx/adapter.ts';
import { FakeSttLocalWs } from '../../support/fakes/fake-stt-local-ws.ts';
import { sttSuite } from './stt-suite.ts';

const apiKey = 'a-secret-key';

sttSuite('stt_cloud_a', {
  newServer: () => new FakeDeepgram(),
  newStage: ({ baseUrl }) =>
    newSttDeepgram({
      baseUrl,
      apiKey,
      language: 'en',
      model: 'nova-3',
      endpointingMs: 300,
      smartFormat: true,
    }),
  ignoreFinalize: (server, ignores) => (server.ignoreFinalize = ignores),
  finalizeTimeoutMs: 1500,
});

sttSuite('stt_cloud_b', {
  newServer: () => new FakeAssemblyAi(),
  newStage: ({ baseUrl }) =>
    newSttAssemblyAi({
      baseUrl,
      apiKey,
      language: 'en',
      speechModel: 'universal-streaming-english',
      formatTurns: false,
    }),
  ignoreFinalize: (server, ignores) => (server.ignoreFinalize = ignores),
  finalizeTimeoutMs: 1500,
  mayLeaveFinalize: true,
});

sttSuite('stt_cloud_c', {
  newServer: () => new FakeGladia(),
  newStage: ({ host }) =>
    newSttGladia({
      baseUrl: `http://${host}`,
      apiKey,
      language: 'en',
      model: 'solaria-1',
      codeSwitching: false,
      endpointingMs: 300,
    }),
  ignoreFinalize: (server, ignores) => (server.ignoreFinalize = ignores),
  finalizeTimeoutMs: 2300,
  mayLeaveFinalize: true,
});

const ways = { openai: 24_000, nim: 16_000, vllm: 16_000, speaches: 24_000 } as const;
for (const wire of ['openai', 'nim', 'vllm', 'speaches'] as const) {
  sttSuite(`stt_realtime_compat, the ${wire} way`, {
    newServer: () => new FakeSttRealtime(wire, { sampleRate: ways[wire] }),
    newStage: ({ baseUrl }) =>
      newSttRealtimeCompat({
        baseUrl,
        apiKey,
        language: 'en-GB',
        dialect: 'dialect_a',
        wire,
        model: 'a-model',
        punctuation: true,
        deltaReplaces: wire === 'nim',
        minCommitMs: wire === 'nim' || wire === 'vllm' ? 0 : 100,
        finalizeTimeoutMs: 2000,
        sampleRate: ways[wire],
      }),
    ignoreFinalize: (server, ignores) => (server.ignoreFinalize = ignores),
    finalizeTimeoutMs: 2000,
    hasPartials: wire !== 'speaches',
    hasEndpoint: wire === 'nim',
  });
}

sttSuite('stt_local_ws', {
  newServer: () => new FakeSttLocalWs({ flavour: 'cpp' }),
  newStage: ({ baseUrl }) =>
    newSttLocalWs({
      baseUrl,
      path: '/',
      sampleRate: 16_000,
      finalizeTimeoutMs: 1500,
      finalizePaddingMs: 300,
    }),
  ignoreFinalize: (server, ignores) => (server.ignoreDone = ignores),
  finalizeTimeoutMs: 1500,
});

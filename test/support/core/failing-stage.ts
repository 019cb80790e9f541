/** One use of each provider that fails, and what is told of it. */
import { expect } from 'vitest';
import type { TenantReach } from '../../../shared/agents/version.ts';
import { present } from '../../../shared/base/present.ts';
import { loadAgentFile } from '../../../shared/config/load.ts';
import { stageDefinitions } from '../../../worker/host/definition.ts';
import type { Failure } from '../../../worker/stages/failure-log.ts';
import { loadAdapters, openStages, ownStageServices } from '../../../worker/stages/registry.ts';
import type { StageError } from '../../../worker/stages/stage.ts';
import { newStageContext } from './stage-context.ts';

export const key = 'canary-key-7f3e9b1d55aa';
export const callerWords = 'Zeynep Arslan 4915112345678';

const defaults = {
  stt: 'provider = "stt_local_ws"\nstt_local_ws = { base_url = "ws://127.0.0.1:9" }',
  llm: 'provider = "chat_compatible"\nchat_compatible = { base_url = "http://127.0.0.1:9/v1", model = "m" }',
  tts: 'provider = "speech_compatible"\nspeech_compatible = { base_url = "http://127.0.0.1:9/v1", preset = "local_b" }',
};
export type Stage = keyof typeof defaults;

/** Every provider: its stage, and its tables with the server's host in place of HOST. */
export const providers: readonly (readonly [string, Stage, string])[] = [
  ['stt_local_ws', 'stt', 'stt_local_ws = { base_url = "ws://HOST" }'],
  ['stt_cloud_a', 'stt', 'stt_cloud_a = { base_url = "ws://HOST" }'],
  ['stt_cloud_b', 'stt', 'stt_cloud_b = { base_url = "ws://HOST" }'],
  ['stt_cloud_c', 'stt', 'stt_cloud_c = { base_url = "http://HOST" }'],
  ['stt_realtime_compat', 'stt', 'stt_realtime_compat = { base_url = "ws://HOST" }'],
  ['chat_compatible', 'llm', 'chat_compatible = { base_url = "http://HOST/v1", model = "m" }'],
  ['llm_responses', 'llm', 'llm_responses = { base_url = "http://HOST/v1", model = "m" }'],
  ['llm_messages', 'llm', 'llm_messages = { base_url = "http://HOST", model = "m" }'],
  ['llm_generate', 'llm', 'llm_generate = { base_url = "http://HOST", model = "m" }'],
  ['tts_cloud_a', 'tts', 'voice = "v"\ntts_cloud_a = { url = "ws://HOST/tts/websocket" }'],
  ['tts_cloud_b', 'tts', 'voice = "v"\ntts_cloud_b = { url = "ws://HOST" }'],
  ['tts_cloud_c', 'tts', 'tts_cloud_c = { url = "ws://HOST/v1/speak" }'],
];

interface Outcome {
  readonly failure: Failure | undefined;
  readonly error: StageError;
  readonly errorsMetric: string;
}

/** Uses the stage once, with a caller's words where it takes any, and tells what it failed with. */
export async function fail(stage: Stage, table: string, reach?: TenantReach): Promise<Outcome> {
  const tables = { ...defaults, [stage]: table };
  const text = `[agent]\nname = "a"\nprompt = "p"\n[stt]\n${tables.stt}\n[llm]\n${tables.llm}\n[tts]\n${tables.tts}\n`;
  const { definition, problems } = loadAgentFile(text, {
    env: { KEY: key },
    readFile: () => undefined,
    readBytes: () => undefined,
    requireSecrets: true,
    leftOut: [],
    ...present({ reach }),
  });
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const failures: Failure[] = [];
  const services = { ...ownStageServices(), failed: (failure: Failure) => void failures.push(failure) };
  const definitions = stageDefinitions(definition!);
  const stages = openStages(definitions, await loadAdapters(definitions), services);
  const context = newStageContext();
  const error = await new Promise<StageError>((resolve) => {
    const sink = (event: { readonly type: string; readonly error?: StageError }): void => {
      if (event.error !== undefined) resolve(event.error);
    };
    if (stage === 'llm') {
      stages.llm
        .open(context, {})
        .start({ messages: [{ role: 'user', text: callerWords }], tools: [] }, sink);
    } else if (stage === 'tts') {
      const session = stages.tts.open(context, sink);
      session.speak(1, `Hello ${callerWords}.`);
      session.speak(1, ' And goodbye.');
      session.flush(1);
    } else {
      const session = stages.stt.open(context, sink);
      session.audio(new Int16Array(1_600));
    }
  });
  context.end();
  const errorsMetric = await services.metrics.registry.getSingleMetricAsString('svc_provider_errors_total');
  await Promise.all([stages.stt.close(), stages.llm.close(), stages.tts.close()]);
  return { failure: failures[0], error, errorsMetric };
}

export const stageTable = (provider: string, options: string, host: string): string => {
  const keyed = provider === 'stt_local_ws' ? '' : 'api_key_env = "KEY"\n';
  return `provider = "${provider}"\n${keyed}${options.replace('HOST', host)}`;
};

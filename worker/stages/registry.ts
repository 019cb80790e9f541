/**
 * The adapter of every provider, one row each, and how a call's stages come from a definition.
 *
 * Invariant: adding a provider is one options type, one adapter and one row here. Names and aliases that a file may use
 * are declared with the configuration; only canonical names arrive here. A provider that the build leaves out is
 * refused.
 */
import { assert } from '../../shared/base/assert.ts';
import type { Chosen, ProviderOptions, StageKey } from '../../shared/config/stages/definition.ts';
import { leftOut } from '../../shared/config/stages/features.ts';
import type { StageName } from '../../shared/config/stages/providers.ts';
import { breakerInts, Breakers, type ProviderRole } from '../../shared/protocol/breakers.ts';
import { newWorkerMetrics, type WorkerMetrics } from '../../shared/runtime/metrics.ts';
import { machineMs } from '../../shared/runtime/monotonic.ts';
import type { Failure } from './failure-log.ts';
import { newFailoverLlm } from './failover/llm.ts';
import { newProviderMeter } from './failover/metering.ts';
import type { FailoverScope, Guarded } from './failover/provider.ts';
import { RetryBudgets } from './failover/retry-budget.ts';
import { newFailoverStt } from './failover/stt.ts';
import { newFailoverTts } from './failover/tts.ts';
import { newChatCompatible } from './llm/chat-compatible.ts';
import { newLlmGenerate } from './llm/generate.ts';
import { newLlmMessages } from './llm/messages.ts';
import { newLlmResponses } from './llm/responses.ts';
import { addressOf, newFailureReader, type ProviderSite } from './provider-failure.ts';
import type { LlmStage, ProviderAccess, SttAccess, SttStage, TtsAccess, TtsStage } from './stage.ts';
import { newSttCloudA } from './stt/cloud-a.ts';
import { newSttCloudB } from './stt/cloud-b.ts';
import { newSttCloudC } from './stt/cloud-c.ts';
import { newSttLocalWs } from './stt/local-ws.ts';
import { newSttRealtimeCompat } from './stt/realtime-compat.ts';
import { newTtsCloudA } from './tts/cloud-a.ts';
import { newTtsCloudB } from './tts/cloud-b.ts';
import { newTtsCloudC } from './tts/cloud-c.ts';
import { newSpeechCompatible } from './tts/speech-compatible.ts';

interface Stages {
  readonly stt: SttStage;
  readonly llm: LlmStage;
  readonly tts: TtsStage;
}

interface Access {
  readonly stt: SttAccess;
  readonly llm: ProviderAccess;
  readonly tts: TtsAccess;
}

type Factories<S extends keyof ProviderOptions> = {
  readonly [P in keyof ProviderOptions[S]]: (options: ProviderOptions[S][P] & Access[S]) => Stages[S];
};

const STT: Factories<'stt'> = {
  stt_local_ws: newSttLocalWs,
  stt_cloud_a: newSttCloudA,
  stt_cloud_b: newSttCloudB,
  stt_cloud_c: newSttCloudC,
  stt_realtime_compat: newSttRealtimeCompat,
};

const LLM: Factories<'llm'> = {
  chat_compatible: newChatCompatible,
  llm_responses: newLlmResponses,
  llm_messages: newLlmMessages,
  llm_generate: newLlmGenerate,
};

const TTS: Factories<'tts'> = {
  speech_compatible: newSpeechCompatible,
  tts_cloud_a: newTtsCloudA,
  tts_cloud_b: newTtsCloudB,
  tts_cloud_c: newTtsCloudC,
};

/** One provider as configured, with what its adapter gets beside the options. */
type ProviderDefinition<S extends keyof ProviderOptions> = Access[S] & {
  readonly chosen: Chosen<S> & StageKey;
};

/** A stage: its provider, and the one that calls fail over to. */
export interface StageDefinition<S extends keyof ProviderOptions> {
  readonly primary: ProviderDefinition<S>;
  readonly secondary?: ProviderDefinition<S> | undefined;
  /** After so long without an answer the secondary is asked as well. */
  readonly hedgeAfterMs?: number | undefined;
}

export interface StageDefinitions {
  readonly stt: StageDefinition<'stt'>;
  readonly llm: StageDefinition<'llm'>;
  readonly tts: StageDefinition<'tts'>;
}

/** What the stages of a worker share with those of all others, and where they are counted. */
export interface StageServices {
  readonly breakers: Breakers;
  readonly metrics: WorkerMetrics;
  /** Milliseconds of the machine's monotonic clock. */
  readonly machineMs: () => number;
  /** A request went to a provider, for its budget. */
  readonly requested: (stage: StageName, role: ProviderRole) => void;
  /** Takes each failure of a provider, for the people who run the service. */
  readonly failed: (failure: Failure) => void;
  readonly budgets?: RetryBudgets;
}

function openOne<O extends object, A extends object, T>(
  provider: string,
  make: (options: O & A) => T,
  given: { readonly options: O; readonly access: A },
): T {
  if (leftOut.includes(provider)) {
    throw new Error(`the build feature "${provider}" is off: this build does not hold it`);
  }
  return make({ ...given.options, ...given.access });
}

function openStt({ chosen, ...access }: ProviderDefinition<'stt'>): SttStage {
  switch (chosen.provider) {
    case 'stt_local_ws':
      return openOne(chosen.provider, STT.stt_local_ws, { options: chosen.options, access });
    case 'stt_cloud_a':
      return openOne(chosen.provider, STT.stt_cloud_a, { options: chosen.options, access });
    case 'stt_cloud_b':
      return openOne(chosen.provider, STT.stt_cloud_b, { options: chosen.options, access });
    case 'stt_cloud_c':
      return openOne(chosen.provider, STT.stt_cloud_c, { options: chosen.options, access });
    case 'stt_realtime_compat':
      return openOne(chosen.provider, STT.stt_realtime_compat, { options: chosen.options, access });
  }
}

function openLlm({ chosen, ...access }: ProviderDefinition<'llm'>): LlmStage {
  switch (chosen.provider) {
    case 'chat_compatible':
      return openOne(chosen.provider, LLM.chat_compatible, { options: chosen.options, access });
    case 'llm_responses':
      return openOne(chosen.provider, LLM.llm_responses, { options: chosen.options, access });
    case 'llm_messages':
      return openOne(chosen.provider, LLM.llm_messages, { options: chosen.options, access });
    case 'llm_generate':
      return openOne(chosen.provider, LLM.llm_generate, { options: chosen.options, access });
  }
}

function openTts({ chosen, ...access }: ProviderDefinition<'tts'>): TtsStage {
  switch (chosen.provider) {
    case 'speech_compatible':
      return openOne(chosen.provider, TTS.speech_compatible, { options: chosen.options, access });
    case 'tts_cloud_a':
      return openOne(chosen.provider, TTS.tts_cloud_a, { options: chosen.options, access });
    case 'tts_cloud_b':
      return openOne(chosen.provider, TTS.tts_cloud_b, { options: chosen.options, access });
    case 'tts_cloud_c':
      return openOne(chosen.provider, TTS.tts_cloud_c, { options: chosen.options, access });
  }
}

/** For a process that shares nothing with workers, and whose figures nobody reads. */
export const ownStageServices = (): StageServices => ({
  breakers: new Breakers(new Int32Array(breakerInts)),
  metrics: newWorkerMetrics(),
  machineMs,
  requested: () => undefined,
  failed: () => undefined,
});

/** Every provider's key, which no text of any of them may show. */
const keysOf = (stages: StageDefinitions): string[] =>
  Object.values(stages).flatMap(({ primary, secondary }: StageDefinition<StageName>) =>
    [primary.apiKey, secondary?.apiKey].filter((key) => key !== undefined),
  );

/** Where in the file and in the world a provider is. */
function siteOf<S extends StageName>(
  stage: S,
  role: ProviderRole,
  one: ProviderDefinition<S>,
): Omit<ProviderSite, 'secrets'> {
  const { provider, apiKeyEnv } = one.chosen;
  const options: unknown = one.chosen.options;
  return {
    stage,
    role,
    provider: String(provider),
    options: fieldsOf(options),
    apiKeyEnv,
    voice: voiceOf(one),
  };
}

const fieldsOf = (options: unknown): object =>
  typeof options === 'object' && options !== null ? options : {};

const voiceOf = (one: object): string | undefined =>
  'voice' in one && typeof one.voice === 'string' ? one.voice : undefined;

const definitionOf = <S extends StageName>(
  { primary, secondary }: StageDefinition<S>,
  role: ProviderRole,
): ProviderDefinition<S> => {
  assert(role === 'primary' || secondary !== undefined, 'a secondary is asked for only where there is one');
  return role === 'primary' || secondary === undefined ? primary : secondary;
};

/** A provider's place in the stages. */
interface ProviderPlace {
  readonly stage: StageName;
  readonly role: ProviderRole;
}

/** Where a provider is, and its address. */
export function providerSite(
  stages: StageDefinitions,
  { stage, role }: ProviderPlace,
): { readonly site: ProviderSite; readonly url: URL } {
  const definitions = {
    stt: () => siteOf('stt', role, definitionOf(stages.stt, role)),
    llm: () => siteOf('llm', role, definitionOf(stages.llm, role)),
    tts: () => siteOf('tts', role, definitionOf(stages.tts, role)),
  };
  const site = { ...definitions[stage](), secrets: keysOf(stages) };
  return { site, url: addressOf(site.options) };
}

/** One provider by itself, without breakers and without another that takes over. */
export type ProviderStage = {
  [S in StageName]: { readonly stage: S; readonly provider: Stages[S] };
}[StageName];

/** @throws Error as {@link openStages} does. */
export function openProvider(stages: StageDefinitions, { stage, role }: ProviderPlace): ProviderStage {
  switch (stage) {
    case 'stt':
      return { stage, provider: openStt(definitionOf(stages.stt, role)) };
    case 'llm':
      return { stage, provider: openLlm(definitionOf(stages.llm, role)) };
    case 'tts':
      return { stage, provider: openTts(definitionOf(stages.tts, role)) };
  }
}

/** Both providers of a stage with their breakers, and what failing over takes. */
function guarded<S extends StageName>(
  stage: S,
  definition: StageDefinition<S>,
  {
    services,
    open,
    secrets,
  }: {
    services: Required<StageServices>;
    open: (one: ProviderDefinition<S>) => Stages[S];
    secrets: readonly string[];
  },
): FailoverScope<Stages[S]> {
  const { breakers, metrics, machineMs, requested, budgets } = services;
  const guard = (role: ProviderRole, one: ProviderDefinition<S>): Guarded<Stages[S]> => {
    const provider = String(one.chosen.provider);
    const failureOf = newFailureReader({ ...siteOf(stage, role, one), secrets });
    const meter = newProviderMeter({
      metrics,
      stage,
      role,
      provider,
      requested: () => requested(stage, role),
      failed: (error) => services.failed(failureOf(error)),
    });
    return { role, stage: open(one), breaker: breakers.of(stage, role), meter };
  };
  const { primary, secondary } = definition;
  return {
    primary: guard('primary', primary),
    ...(secondary !== undefined && { secondary: guard('secondary', secondary) }),
    budgets,
    machineMs,
    failedOver: (reason) => metrics.providerFailovers.inc({ stage, reason }),
  };
}

const hedgeOf = (hedgeAfterMs: number | undefined): { hedgeAfterMs?: number } =>
  hedgeAfterMs === undefined ? {} : { hedgeAfterMs };

/**
 * The stages of an agent, each of which goes on with its secondary when its provider fails.
 *
 * @throws Error for a provider that the build leaves out, or when a key may not be sent to its address.
 */
export function openStages({ stt, llm, tts }: StageDefinitions, given: StageServices): Stages {
  const services = { ...given, budgets: given.budgets ?? new RetryBudgets() };
  const secrets = keysOf({ stt, llm, tts });
  const ears = newFailoverStt(guarded('stt', stt, { services, open: openStt, secrets }));
  const model = newFailoverLlm({
    ...guarded('llm', llm, { services, open: openLlm, secrets }),
    ...hedgeOf(llm.hedgeAfterMs),
  });
  return {
    stt: {
      ...ears,
      open: (context, sink) => {
        // A call begins: its first question shall find a connection.
        model.warm?.();
        return ears.open(context, sink);
      },
    },
    llm: model,
    tts: newFailoverTts({
      ...guarded('tts', tts, { services, open: openTts, secrets }),
      ...hedgeOf(tts.hedgeAfterMs),
    }),
  };
}

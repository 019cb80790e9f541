/**
 * How the stages of calls come from a definition: the adapters of its providers are loaded, and each stage is wrapped so that it
 * fails over.
 *
 * Invariant: no provider is named here; `providers.ts` lists them. Only canonical names arrive. A provider that the build
 * leaves out is refused.
 */
import { assert } from '../../shared/base/assert.ts';
import type { Chosen, ProviderOptions, StageKey } from '../../shared/config/stages/definition.ts';
import { isPackage, readPackageStage, type Packages } from '../../shared/config/stages/package.ts';
import { leftOut } from '../../shared/config/stages/features.ts';
import type { CascadeStage, StageName } from '../../shared/config/stages/declaration.ts';
import {
  breakerInts,
  Breakers,
  type BreakerBook,
  type ProviderRole,
} from '../../shared/protocol/breakers.ts';
import { vocabularyOf } from '../../shared/languages/vocabulary.ts';
import { newWorkerMetrics, type WorkerMetrics } from '../../shared/runtime/metrics.ts';
import { machineMs } from '../../shared/runtime/monotonic.ts';
import { absentLlm, absentStt, absentTts } from './absent.ts';
import { fenced } from './fence.ts';
import type { Failure } from './failure-log.ts';
import { newFailoverLlm } from './failover/llm.ts';
import { newProviderMeter } from './failover/metering.ts';
import type { FailoverScope, Guarded } from './failover/provider.ts';
import { RetryBudgets } from './failover/retry-budget.ts';
import { newFailoverStt } from './failover/stt.ts';
import { newFailoverTts } from './failover/tts.ts';
import { guardedLlm } from './llm/guarded-llm.ts';
import { providers, type Factory } from './providers.ts';
import type { ProviderNote } from './provider-note.ts';
import { realtimeStages } from './realtime/stages.ts';
import type { RealtimeAccess, RealtimeModel } from './realtime/contract.ts';
import { writtenStt } from './realtime/written-stt.ts';
import { lineVoice } from './realtime/line-voice.ts';
import { addressOf, newFailureReader, type ProviderSite } from './provider-failure.ts';
import type { LlmStage, ProviderAccess, SttAccess, SttStage, TtsAccess, TtsStage } from './stage.ts';

interface Stages {
  readonly stt: SttStage;
  readonly llm: LlmStage;
  readonly tts: TtsStage;
}

/** What the adapters of each stage make. */
interface Made extends Stages {
  readonly realtime: RealtimeModel;
}

type RealtimeDefined = Pick<StageDefinition<'realtime'>, 'primary'> & {
  /** No pause within a turn is longer. */
  readonly maxSilenceMs: number;
  /** There is no STT, and the model writes down what is said over the agent. */
  readonly writesOver: boolean;
};

interface Access {
  readonly stt: SttAccess;
  readonly llm: ProviderAccess;
  readonly tts: TtsAccess;
  readonly realtime: RealtimeAccess;
}

/** One provider as configured, with what its adapter gets beside the options. */
interface ProviderDefinition<S extends StageName> {
  readonly chosen: Chosen<S> & StageKey;
  readonly access: Access[S];
}

/** A stage: its provider, and the one that calls fail over to. */
export interface StageDefinition<S extends keyof ProviderOptions> {
  readonly primary: ProviderDefinition<S>;
  readonly secondary?: ProviderDefinition<S> | undefined;
  /** After so long without an answer the secondary is asked as well. */
  readonly hedgeAfterMs?: number | undefined;
}

export interface StageDefinitions {
  readonly stt?: StageDefinition<'stt'> | undefined;
  readonly llm?: StageDefinition<'llm'> | undefined;
  readonly tts?: StageDefinition<'tts'> | undefined;
  /** The model that speaks by itself in their place, where the agent has one: then any of them may be absent. */
  readonly realtime?: RealtimeDefined | undefined;
}

/** What the stages of a worker share with those of all others, and where they are counted. */
export interface StageServices {
  readonly breakers: BreakerBook;
  readonly metrics: WorkerMetrics;
  /** Milliseconds of the machine's monotonic clock. */
  readonly machineMs: () => number;
  /** A request went to a provider, for its budget. */
  readonly requested: (stage: CascadeStage, role: ProviderRole) => void;
  /** Takes each failure of a provider, for the people who run the service. */
  readonly failed: (failure: Failure) => void;
  readonly budgets?: RetryBudgets;
  /** Takes what traces tell of providers. */
  readonly noted?: ((note: ProviderNote) => void) | undefined;
}

type Adapters = { readonly [S in CascadeStage]: ReadonlyMap<string, Factory<Access[S], Made[S]>> };

/**
 * Loads the adapters of the providers that a definition names, and no others.
 *
 * @throws Error for a provider that the build leaves out.
 */
export async function loadAdapters(
  { stt, llm, tts }: StageDefinitions,
  packages: Packages = new Map(),
): Promise<Adapters> {
  const [hearing, thinking, speaking] = await Promise.all([
    loadNamed('stt', { rows: providers.stt, names: namesIn(stt), packages }),
    loadNamed('llm', { rows: providers.llm, names: namesIn(llm), packages }),
    loadNamed('tts', { rows: providers.tts, names: namesIn(tts), packages }),
  ]);
  return { stt: hearing, llm: thinking, tts: speaking };
}

/**
 * Opens the model of a definition that speaks by itself.
 *
 * @throws Error for a provider that the build leaves out, and when its key may not be sent to its address.
 */
export async function loadRealtime(
  { primary }: Pick<StageDefinition<'realtime'>, 'primary'>,
  packages: Packages = new Map(),
): Promise<RealtimeModel> {
  const names = namesIn({ primary });
  return openOne(await loadNamed('realtime', { rows: providers.realtime, names, packages }), primary);
}

/**
 * The stages of an agent whose model hears and speaks by itself: its own stages go on with calls where the model fails.
 *
 * @param sampleRate Hz of the voice of the stages beside it, which the model's voice is brought to.
 */
export function withRealtime(
  definitions: StageDefinitions,
  { model, stages, sampleRate }: { model: RealtimeModel; stages: Stages; sampleRate: number },
  services: Omit<StageServices, 'requested'>,
): Stages {
  const { breakers, metrics, machineMs, failed, noted, budgets = new RetryBudgets() } = services;
  const place = { stage: 'realtime', role: 'primary' } as const;
  const { primary, maxSilenceMs, writesOver } = realtimeOf(definitions);
  const identity = identityOf(primary);
  const { site } = providerSite(definitions, place);
  const failureOf = newFailureReader(site);
  const labels = { ...place, provider: site.provider };
  const meter = newProviderMeter({
    ...labels,
    metrics,
    noted,
    requested: () => undefined,
    failed: (error) => failed(failureOf(error)),
  });
  const { stt, llm, tts } = definitions;
  return realtimeStages({
    vendor: {
      primary: {
        role: place.role,
        stage: model,
        breaker: breakers.of(place.stage, place.role, identity),
        meter,
      },
      budgets: budgets.of(identity),
      machineMs,
      failedOver: (reason) => {
        metrics.providerFailovers.inc({ stage: place.stage, reason });
        noted?.({ ...labels, what: 'replaced', by: stages.llm.provider });
      },
      // Where one of the three is missing, nobody goes on with a call.
      isAlone: stt === undefined || llm === undefined || tts === undefined,
    },
    cascade: {
      ...stages,
      ...(writesOver && { stt: writtenStt(model) }),
      ...(tts === undefined && { tts: lineVoice(model, { sampleRate, meter }) }),
    },
    sampleRate,
    modelSpeaks: primary.access.output === 'audio',
    maxSilenceMs,
    sentences: vocabularyOf([primary.access.language]).sentences,
    words: primary.access.words,
    hasStt: stt !== undefined || writesOver,
  });
}

const namesIn = <S extends StageName>(stage: StageDefinition<S> | undefined): ReadonlySet<string> =>
  new Set(
    [stage?.primary, stage?.secondary].flatMap((one) =>
      one === undefined ? [] : [String(one.chosen.provider)],
    ),
  );

interface Named<S extends StageName> {
  readonly rows: readonly {
    readonly declaration: { readonly name: string };
    readonly load: () => Promise<Factory<Access[S], Made[S]>>;
  }[];
  readonly names: ReadonlySet<string>;
  readonly packages: Packages;
}

async function loadNamed<S extends StageName>(
  stage: S,
  { rows, names, packages }: Named<S>,
): Promise<ReadonlyMap<string, Factory<Access[S], Made[S]>>> {
  const missing = leftOut.find((name) => names.has(name));
  if (missing !== undefined) {
    throw new Error(`the build feature "${missing}" is off: this build does not hold it`);
  }
  const named = rows.filter(({ declaration }) => names.has(declaration.name));
  const loaded = named.map(async ({ declaration, load }) => [declaration.name, await load()] as const);
  const foreign = [...names]
    .filter(isPackage)
    .map((name) => [name, packageFactory(name, stage, packages)] as const);
  return new Map([...(await Promise.all(loaded)), ...foreign]);
}

/** The contract says what a package's `open` gives; its shape was looked at when the file was read. */
function packageFactory<S extends StageName>(
  name: string,
  stage: S,
  packages: Packages,
): Factory<Access[S], Made[S]> {
  const loaded = packages.get(name);
  const read = loaded?.ok === true ? readPackageStage(loaded.value, stage) : undefined;
  assert(read?.ok === true, 'a definition names packages that were loaded');
  const open = read.value.open as Factory<Access[S], Made[S]>;
  return stage === 'llm' ? guardedFactory(open) : open;
}

function guardedFactory<S extends StageName>(open: Factory<Access[S], Made[S]>): Factory<Access[S], Made[S]> {
  return (options, access) => {
    const model = 'model' in options ? options.model : undefined;
    // The stage is an LLM.
    return guardedLlm(open(options, access) as LlmStage, typeof model === 'string' ? model : '') as Made[S];
  };
}

/** Makes one provider's stage. @throws Error when its key may not be sent to its address. */
function openOne<S extends StageName>(
  adapters: ReadonlyMap<string, Factory<Access[S], Made[S]>>,
  { chosen, access }: ProviderDefinition<S>,
): Made[S] {
  const open = adapters.get(String(chosen.provider));
  assert(open !== undefined, 'the adapters of a definition were loaded');
  const made = open(fieldsOf(chosen.options), access);
  return access.isPublicOnly === true ? fenced(made) : made;
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
const keysOf = ({ stt, llm, tts, realtime }: StageDefinitions): string[] =>
  [stt, llm, tts]
    .flatMap((stage) => [stage?.primary.access.apiKey, stage?.secondary?.access.apiKey])
    .concat(realtime?.primary.access.apiKey)
    .filter((key) => key !== undefined);

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
    voice: voiceOf(one.access),
  };
}

const fieldsOf = (options: unknown): object =>
  typeof options === 'object' && options !== null ? options : {};

const voiceOf = (one: object): string | undefined =>
  'voice' in one && typeof one.voice === 'string' ? one.voice : undefined;

const definitionOf = <S extends StageName>(
  stage: StageDefinition<S> | undefined,
  role: ProviderRole,
): ProviderDefinition<S> => {
  const one = stage?.[role];
  assert(one !== undefined, 'a provider is asked for only where there is one');
  return one;
};

function realtimeOf({ realtime }: StageDefinitions): RealtimeDefined {
  assert(realtime !== undefined, 'a model that speaks is asked for only where there is one');
  return realtime;
}

/** A provider's place in the stages. */
interface ProviderPlace {
  readonly stage: StageName;
  readonly role: ProviderRole;
}

/** Where a provider is, and its address. */
export function providerSite(
  stages: StageDefinitions,
  { stage, role }: ProviderPlace,
): { readonly site: ProviderSite; readonly url: URL | undefined } {
  const definitions = {
    stt: () => siteOf('stt', role, definitionOf(stages.stt, role)),
    llm: () => siteOf('llm', role, definitionOf(stages.llm, role)),
    tts: () => siteOf('tts', role, definitionOf(stages.tts, role)),
    realtime: () => siteOf('realtime', role, realtimeOf(stages).primary),
  };
  const site = { ...definitions[stage](), secrets: keysOf(stages) };
  return { site, url: addressOf(site.options) };
}

/** One provider by itself, without breakers and without another that takes over. */
export type ProviderStage = {
  [S in StageName]: { readonly stage: S; readonly provider: Made[S] };
}[StageName];

/** @throws Error as {@link loadAdapters}, {@link openStages} and {@link loadRealtime} do. */
export async function openProvider(
  stages: StageDefinitions,
  { stage, role, packages }: ProviderPlace & { readonly packages: Packages },
): Promise<ProviderStage> {
  if (stage === 'realtime') return { stage, provider: await loadRealtime(realtimeOf(stages), packages) };
  const adapters = await loadAdapters(stages, packages);
  switch (stage) {
    case 'stt':
      return { stage, provider: openOne(adapters.stt, definitionOf(stages.stt, role)) };
    case 'llm':
      return { stage, provider: openOne(adapters.llm, definitionOf(stages.llm, role)) };
    case 'tts':
      return { stage, provider: openOne(adapters.tts, definitionOf(stages.tts, role)) };
  }
}

/** The same for the same provider at the same address with the same key. Never shown: it holds the key. */
export function identityOf<S extends StageName>({ chosen, access }: ProviderDefinition<S>): string {
  const address = addressOf(fieldsOf(chosen.options))?.href ?? '';
  return JSON.stringify([String(chosen.provider), address, access.apiKey ?? '']);
}

/** Both providers of a stage with their breakers, and what failing over takes. */
function guarded<S extends CascadeStage>(
  stage: S,
  definition: StageDefinition<S>,
  {
    services,
    adapters,
    secrets,
  }: {
    services: StageServices & Required<Pick<StageServices, 'budgets'>>;
    adapters: Adapters[S];
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
      noted: services.noted,
      failed: (error) => services.failed(failureOf(error)),
    });
    return { role, stage: openOne(adapters, one), breaker: breakers.of(stage, role, identityOf(one)), meter };
  };
  const { primary, secondary } = definition;
  return {
    primary: guard('primary', primary),
    ...(secondary !== undefined && { secondary: guard('secondary', secondary) }),
    budgets: budgets.of(identityOf(primary)),
    machineMs,
    failedOver: (reason) => metrics.providerFailovers.inc({ stage, reason }),
  };
}

const hedgeOf = (hedgeAfterMs: number | undefined): { hedgeAfterMs?: number } =>
  hedgeAfterMs === undefined ? {} : { hedgeAfterMs };

/**
 * The stages of an agent, each of which goes on with its secondary when its provider fails.
 *
 * @throws Error when a key may not be sent to its address.
 */
export function openStages(definitions: StageDefinitions, adapters: Adapters, given: StageServices): Stages {
  const { stt, llm, tts } = definitions;
  const services = { ...given, budgets: given.budgets ?? new RetryBudgets() };
  const secrets = keysOf(definitions);
  return {
    stt: stt ? newFailoverStt(guarded('stt', stt, { services, adapters: adapters.stt, secrets })) : absentStt,
    llm: llm
      ? newFailoverLlm({
          ...guarded('llm', llm, { services, adapters: adapters.llm, secrets }),
          ...hedgeOf(llm.hedgeAfterMs),
        })
      : absentLlm,
    tts: tts
      ? newFailoverTts({
          ...guarded('tts', tts, { services, adapters: adapters.tts, secrets }),
          ...hedgeOf(tts.hedgeAfterMs),
        })
      : absentTts,
  };
}

/**
 * An LLM without the other stages, its adapter loaded.
 *
 * @throws Error when a key may not be sent to its address.
 */
export async function openLlm(
  llm: StageDefinition<'llm'>,
  packages: Packages,
  given: StageServices,
): Promise<LlmStage> {
  const adapters = await loadNamed('llm', { rows: providers.llm, names: namesIn(llm), packages });
  const services = { ...given, budgets: given.budgets ?? new RetryBudgets() };
  const keys = [llm.primary, llm.secondary].flatMap((one) => one?.access.apiKey ?? []);
  return newFailoverLlm({
    ...guarded('llm', llm, { services, adapters, secrets: keys }),
    ...hedgeOf(llm.hedgeAfterMs),
  });
}

/** From an error of a provider to what people are told of it: who, where, why, and what to change. */
import { vendorOf } from '../../shared/config/stages/providers.ts';
import { isPackage, packageTable } from '../../shared/config/stages/package.ts';
import type { StageName } from '../../shared/config/stages/declaration.ts';
import type { ProviderRole } from '../../shared/protocol/breakers.ts';
import { adviceOn, type AdviceSite } from './advice.ts';
import { causeOf, reasonOf } from './failure.ts';
import type { Failure } from './failure-log.ts';
import type { StageError } from './stage.ts';

export interface ProviderSite {
  readonly stage: StageName;
  readonly role: ProviderRole;
  /** Canonical name. */
  readonly provider: string;
  readonly options: object;
  readonly apiKeyEnv?: string | undefined;
  readonly voice?: string | undefined;
  /** Every key that this process knows. */
  readonly secrets: readonly string[];
}

interface Endpoint {
  readonly key: 'base_url' | 'url';
  /** Absent for a provider from a package whose options have neither `baseUrl` nor `url`. */
  readonly url: URL | undefined;
}

const endpointOf = (options: object): Endpoint => {
  const fields = new Map<string, unknown>(Object.entries(options));
  const key = fields.has('baseUrl') ? 'base_url' : 'url';
  const address = fields.get('baseUrl') ?? fields.get('url');
  const isAddress = typeof address === 'string' && URL.canParse(address);
  return { key, url: isAddress ? new URL(address) : undefined };
};

/** Where a provider is asked: host and port of its address, which hold no credential. */
export const addressOf = (options: object): URL | undefined => endpointOf(options).url;

function adviceSite({ stage, role, provider, options, apiKeyEnv }: ProviderSite): AdviceSite {
  const prefix = role === 'secondary' ? `${stage}.secondary` : stage;
  const table = `${prefix}.${isPackage(provider) ? packageTable : provider}`;
  const { key, url } = endpointOf(options);
  const model = 'model' in options ? 'model' : 'speechModel' in options ? 'speech_model' : undefined;
  return {
    keyAt: `${prefix}.api_key_env`,
    keyVariable: apiKeyEnv,
    chosenAt: [
      ...(model === undefined ? [] : [`${table}.${model}`]),
      ...(stage === 'tts' ? [`${prefix}.voice`] : []),
    ],
    addressAt: `${table}.${key}`,
    host: url?.host ?? provider,
    isEncrypted: url?.protocol === 'wss:' || url?.protocol === 'https:',
  };
}

/** Tells what people are told of a provider's errors. */
export function newFailureReader(site: ProviderSite): (error: StageError) => Failure {
  const { stage, role, provider, secrets } = site;
  const advised = adviceSite(site);
  const { host } = advised;
  const who = { stage, role, provider, vendor: vendorOf(stage, provider, host), host };
  return (error) => {
    const cause = causeOf(error, secrets);
    const advice = adviceOn(error, cause, advised);
    const isStatus = error.kind === 'rejected' && cause.code === String(error.status);
    return {
      ...who,
      reason: reasonOf(error),
      ...(error.kind === 'rejected' && { status: error.status }),
      ...(error.kind === 'protocol' && { rule: error.rule }),
      ...(cause.code !== undefined && !isStatus && { code: cause.code }),
      ...(cause.text !== undefined && { text: cause.text }),
      ...(advice !== undefined && { advice }),
    };
  };
}

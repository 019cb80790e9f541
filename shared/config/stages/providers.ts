/**
 * The providers that an agent file may name (docs/providers.md), as their folders declare them. A provider that a build
 * leaves out is known all the same, so that the message can say so.
 */
import { providers } from '../../../worker/stages/providers.ts';
import type { ProviderFacts, ProviderRow, StageName } from './declaration.ts';

/** What each provider declares, in the order in which the reference lists them. */
export const declarations = {
  stt: providers.stt.map(({ declaration }) => declaration),
  llm: providers.llm.map(({ declaration }) => declaration),
  tts: providers.tts.map(({ declaration }) => declaration),
  realtime: providers.realtime.map(({ declaration }) => declaration),
} as const;

interface Described extends ProviderRow {
  readonly facts: ProviderFacts;
}

/** The declarations of a stage, without the types of their options. */
export const providersOf = (stage: StageName): readonly Described[] => declarations[stage];

/** The declaration for a provider name or an alias of it. */
export function findProvider(stage: StageName, name: string): Described | undefined {
  return providersOf(stage).find((row) => row.name === name || row.aliases.includes(name));
}

/** Every name that {@link findProvider} knows for a stage. */
export function providerNames(stage: StageName): string[] {
  return providersOf(stage).flatMap((row) => [...row.aliases, row.name]);
}

/** The names that a file may use, that of the vendor first: `deepgram (stt_cloud_a)`. */
export const shownProvider = ({ name, aliases }: ProviderRow): string =>
  aliases.length === 0 ? name : `${aliases.join(' or ')} (${name})`;

/** Services that speak a common interface, by their hosts. */
const vendorsByHost: ReadonlyMap<string, string> = new Map(
  Object.values(declarations)
    .flat()
    .flatMap(({ facts }) => Object.entries(facts.vendorsByHost ?? {})),
);

/** `Deepgram`; the name itself for a provider that is not known. */
export const vendorOf = (stage: StageName, provider: string, host = ''): string =>
  vendorsByHost.get(host) ??
  providersOf(stage).find(({ name }) => name === provider)?.facts.vendor ??
  provider;

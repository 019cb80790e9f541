/**
 * What the reader of a provider's options knows about the place of the table, and how it reads an address there. A reader reports everything that is
 * wrong and gives options only for a table without fault.
 */
import type { TableReading } from '../table.ts';
import { showPath, type KeyPath, type ProblemList } from '../problem.ts';
import * as z from 'zod';
import { camelKeys, type CamelKeys } from '../camel.ts';
import { readEndpoint, type Endpoint, type EndpointRules } from './endpoint.ts';

export interface OptionsSite {
  /** Path of the options table. */
  readonly at: KeyPath;
  /** Path of the stage that the table belongs to: `['stt']`, or `['stt', 'secondary']`. */
  readonly stageAt: KeyPath;
  readonly problems: ProblemList;
  /** Whether the stage names the variable of a key. */
  readonly hasKey: boolean;
  /** Language tag of the stage as the file writes it; absent while that is wrong. */
  readonly language?: string;
  /** True for a key that is there but failed its own rule, and needs no second message. */
  readonly isWrong: (key: string) => boolean;
}

/** Reads the options of one provider. */
export type OptionsReader<T, O> = (reading: TableReading<T>, site: OptionsSite) => O | undefined;

/** The key's path as messages show it. */
export const shownKey = (stageAt: KeyPath): string => showPath([...stageAt, 'api_key_env']);

export interface AddressRules extends EndpointRules {
  /** Paths that the adapter adds itself; one that is written at the end of the address is taken off. */
  readonly added?: readonly string[];
  /** Path of an address that is written without one. */
  readonly defaultPath?: string;
}

/** Reads the address under `key`; reports a bad one and gives nothing. */
export function readAddress(
  key: string,
  address: string,
  rules: AddressRules & { readonly site: OptionsSite },
): Endpoint | undefined {
  const endpoint = readEndpoint(address, rules);
  if (!endpoint.ok) {
    rules.site.problems.error([...rules.site.at, key], endpoint.error);
    return undefined;
  }
  const { value } = endpoint;
  const added = rules.added?.find((path) => value.text.endsWith(path));
  if (added !== undefined) return { ...value, text: value.text.slice(0, -added.length) };
  const isBare = new URL(value.text).pathname === '/';
  return isBare ? { ...value, text: `${value.text}${rules.defaultPath ?? ''}` } : value;
}

/** The address of a service that is reached encrypted, but on this machine itself. */
interface ServiceAddress<K extends string> extends Pick<AddressRules, 'family' | 'added' | 'defaultPath'> {
  readonly key: K;
  /** Where the service is when the file does not say. */
  readonly address: string;
}

/** The options of a hosted service: what the file says, and the address as its adapter takes it. */
export function readHosted<T extends Readonly<Partial<Record<K, string>>>, K extends 'url' | 'base_url'>(
  { value, known }: TableReading<T>,
  { key, address, ...rules }: ServiceAddress<K>,
  site: OptionsSite,
): (CamelKeys<Omit<T, K>> & CamelKeys<Readonly<Record<K, string>>>) | undefined {
  const endpoint = readAddress(key, known[key] ?? address, {
    ...rules,
    path: 'allowed',
    plain: 'loopback',
    site,
  });
  if (value === undefined || endpoint === undefined) return undefined;
  return camelKeys({ ...value, [key]: endpoint.text }) as CamelKeys<Omit<T, K>> &
    CamelKeys<Record<K, string>>;
}

/** The address of a socket of one's own server: plain text goes anywhere, but a key only where nobody can read it. */
export function readOwnSocket(
  address: string,
  site: OptionsSite,
  path: 'path' | 'path_and_query' = 'path',
): string | undefined {
  const endpoint = readAddress('base_url', address, { family: 'ws', path, plain: 'any-host', site });
  if (endpoint === undefined) return undefined;
  if (!site.hasKey || endpoint.isEncrypted || endpoint.isLoopback) return endpoint.text;
  site.problems.error(
    [...site.at, 'base_url'],
    `must be a wss:// address or lead to a loopback host, because ${shownKey(site.stageAt)} is set`,
  );
  return undefined;
}

/** The key of the model, where the service knows it by a name. */
export const modelKey = (usual: string, longest = 128): z.ZodDefault<z.ZodString> =>
  z
    .string()
    .min(1)
    .max(longest)
    .default(usual)
    .meta({ description: 'Name of the model as the service knows it.' });

/** Says that a region does nothing when the address is given. */
export function noteUnusedRegion(
  keys: { readonly region?: string; readonly base_url?: string },
  site: OptionsSite,
): void {
  if (keys.region !== undefined && keys.base_url !== undefined) {
    site.problems.warning([...site.at, 'region'], 'is not used, because base_url is set');
  }
}

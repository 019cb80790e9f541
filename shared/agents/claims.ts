/** What an agent claims for itself alone: its id, and what is dialled to reach it. Two agents with one claim cannot both be in force. */
import type { RoutedAgent } from './choose.ts';

/** What is claimed, as a key, and in words. */
export interface Claim {
  readonly key: string;
  readonly words: string;
}

export function claimsOf({ id, routing }: Pick<RoutedAgent, 'id' | 'routing'>): readonly Claim[] {
  const { numbers, hosts, trunks } = routing;
  return [
    { key: `id ${id}`, words: 'agent.name' },
    ...numbers.map((number) => ({ key: `number ${number}`, words: 'an entry of routing.numbers' })),
    ...hosts.map((host) => ({ key: `host ${host}`, words: 'an entry of routing.hosts' })),
    ...trunks.map((trunk) => ({ key: `trunk ${trunk}`, words: 'an entry of routing.trunks' })),
  ];
}

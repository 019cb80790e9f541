/**
 * Which agent a call gets, by what is known of the call: what was signed, what was dialled, what the client asks for. Supervisor and
 * workers ask the same table, each with what it knows.
 */
import { isInRange, parseCidr, parseIp, type Cidr } from '../net/cidr.ts';
import type { RoutingDefinition } from './routing.ts';
import { agentIdOf, type AgentRef } from './version.ts';

/** What the choice takes of an agent. */
export interface RoutedAgent extends AgentRef {
  readonly tenant?: string;
  readonly routing: RoutingDefinition;
}

/** What is known of a call. */
export interface CallFacts {
  /** Agent that a session token names, or the operator who has the call made. */
  readonly signed?: string | undefined;
  /** What was dialled, as it may be written. */
  readonly numbers?: readonly string[] | undefined;
  /** Hosts of the SIP addresses that were called. */
  readonly hosts?: readonly string[] | undefined;
  /** Address of the SIP peer. */
  readonly peer?: string | undefined;
  /** Agent that the client asks for by itself. */
  readonly asked?: string | undefined;
  /** What is the same for all calls that are to get the same share of a split: the caller, or else the call. */
  readonly share?: string | undefined;
}

export type ChosenBy = 'signed' | 'number' | 'host' | 'trunk' | 'asked' | 'default';

export interface ChosenAgent extends AgentRef {
  readonly by: ChosenBy;
  /** Agent that the call came to before `[[routing.split]]` gave it to this one. */
  readonly insteadOf?: string;
  /** The call names an agent that is not there. */
  readonly isUnknown?: true;
  /** The supervisor chose it, before the call came to a worker. */
  readonly isExpected?: true;
}

export type AgentChoice =
  | { readonly kind: 'chosen'; readonly agent: ChosenAgent }
  /** It names an agent that is not there, and such calls are refused. */
  | { readonly kind: 'refused' };

export class AgentTable {
  readonly #default: AgentRef;
  readonly #unknown: 'default' | 'refuse';
  readonly #byId = new Map<string, RoutedAgent>();
  readonly #numbers = new Map<string, RoutedAgent>();
  /** Beginnings of numbers. */
  readonly #prefixes = new Map<string, RoutedAgent>();
  readonly #hosts = new Map<string, RoutedAgent>();
  readonly #trunks: { readonly range: Cidr; readonly agent: RoutedAgent }[] = [];

  /** No two of the agents claim the same (`claims.ts`). The default is one of them. */
  constructor(
    agents: Iterable<RoutedAgent>,
    { fallback, unknown }: { readonly fallback: AgentRef; readonly unknown: 'default' | 'refuse' },
  ) {
    this.#default = fallback;
    this.#unknown = unknown;
    for (const agent of agents) this.#add(agent);
    this.#trunks.sort((one, other) => other.range.bits - one.range.bits);
  }

  #add(agent: RoutedAgent): void {
    this.#byId.set(agent.id, agent);
    const { numbers, hosts, trunks } = agent.routing;
    for (const number of numbers) {
      if (number.endsWith('*')) this.#prefixes.set(number.slice(0, -1), agent);
      else this.#numbers.set(number, agent);
    }
    for (const host of hosts) this.#hosts.set(host, agent);
    for (const trunk of trunks) {
      const range = parseCidr(trunk);
      if (range.ok) this.#trunks.push({ range: range.value, agent });
    }
  }

  /** The version of an agent that new calls get; undefined where there is no such agent. */
  find(id: string): RoutedAgent | undefined {
    return this.#byId.get(id);
  }

  choose(facts: CallFacts): AgentChoice {
    const { signed, asked } = facts;
    if (signed !== undefined) return this.#named(this.#byId.get(signed), 'signed', facts);
    const [dialled, by] = this.#dialled(facts);
    if (dialled !== undefined) return this.#found(dialled, by, facts);
    if (asked === undefined) return this.#found(this.#default, 'default', facts);
    const found = this.#byId.get(asked);
    // Whether there is an agent that nobody may ask for is nobody's business.
    return this.#named(found?.routing.open === true ? found : undefined, 'asked', facts);
  }

  #named(found: AgentRef | undefined, by: ChosenBy, facts: CallFacts): AgentChoice {
    if (found !== undefined) return this.#found(found, by, facts);
    if (this.#unknown === 'refuse') return { kind: 'refused' };
    const { agent } = this.#found(this.#default, 'default', facts);
    return { kind: 'chosen', agent: { ...agent, isUnknown: true } };
  }

  #dialled({ numbers = [], hosts = [], peer }: CallFacts): readonly [RoutedAgent | undefined, ChosenBy] {
    const byNumber = firstOf(numbers, (number) => this.#byNumber(number));
    if (byNumber !== undefined) return [byNumber, 'number'];
    const byHost = firstOf(hosts, (host) => this.#hosts.get(host.toLowerCase()));
    if (byHost !== undefined) return [byHost, 'host'];
    const ip = peer === undefined ? undefined : parseIp(peer);
    const trunk = ip && this.#trunks.find(({ range }) => isInRange(ip, range));
    return [trunk?.agent, 'trunk'];
  }

  #byNumber(number: string): RoutedAgent | undefined {
    const exact = this.#numbers.get(number);
    if (exact !== undefined || this.#prefixes.size === 0) return exact;
    for (let length = number.length; length >= 0; length -= 1) {
      const found = this.#prefixes.get(number.slice(0, length));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The agent, or the one that a split gives its call to; a share whose agent is not there stays. */
  #found(
    { id, hash }: AgentRef,
    by: ChosenBy,
    { share }: CallFacts,
  ): Extract<AgentChoice, { kind: 'chosen' }> {
    const own = { kind: 'chosen', agent: { id, hash, by } } as const;
    const agent = this.#byId.get(id);
    const splits = agent?.routing.splits ?? [];
    if (splits.length === 0 || share === undefined) return own;
    let left = percentOf(`${id}\n${share}`);
    for (const split of splits) {
      left -= split.weight;
      if (left >= 0) continue;
      const other = this.#byId.get(agentIdOf(agent?.tenant, split.agent));
      if (other === undefined) return own;
      return { kind: 'chosen', agent: { id: other.id, hash: other.hash, by, insteadOf: id } };
    }
    return own;
  }
}

function firstOf<T>(texts: readonly string[], find: (text: string) => T | undefined): T | undefined {
  for (const text of texts) {
    const found = find(text);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** 0 to 99, evenly, and the same for the same text in every version of the service (FNV-1a, mixed). */
export function percentOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % 100;
}

/**
 * The agents of a worker: their texts as the supervisor gave them, and those that have calls, equipped. An agent is read and equipped at its
 * first call; the most recent ones stay equipped, so that their next call begins at once.
 *
 * Invariant: a call has one version of one agent from its start to its end, in whichever worker.
 */
import { AsyncResource } from 'node:async_hooks';
import { AgentTable, type CallFacts, type ChosenAgent } from '../../shared/agents/choose.ts';
import { chosenKeys, readChosen } from '../../shared/agents/chosen.ts';
import type { AgentsForWorker } from '../../shared/agents/messages.ts';
import { agentIdOf, tenantOf, type AgentRef, type AgentVersion } from '../../shared/agents/version.ts';
import { assert } from '../../shared/base/assert.ts';
import { carrierKeys } from '../../shared/telephony/twilio/protocol.ts';
import { errorFields } from '../../shared/runtime/log.ts';
import { forgetAgents, otherAgents } from '../../shared/runtime/metrics.ts';
import type { CalledAgent } from '../call/services.ts';
import { loadAgent, type LoadedAgent } from '../host/agent.ts';
import type { CallStart } from '../transports/transport.ts';
import type { LimitedAgents } from './agents-limited.ts';
import { equipAgent, type AgentSite, type EquippedAgent } from './equip.ts';

/** Agents without a call that stay equipped, beside the one that serves whoever no other agent does. */
const mostIdle = 64;

interface Equipped {
  readonly agent: EquippedAgent;
  calls: number;
  /** Counts up with each call of the worker. */
  lastUsed: number;
}

export interface WorkerAgentsOptions {
  readonly site: AgentSite;
  /** The agent of a service that has one, or the one for calls that no other agent gets. */
  readonly own: LoadedAgent;
  /** Absent: it is the only one. */
  readonly many?: AgentsForWorker | undefined;
}

export class WorkerAgents implements LimitedAgents {
  readonly #site: AgentSite;
  readonly #own: EquippedAgent;
  readonly #ownHash: string | undefined;
  readonly #versions = new Map<string, AgentVersion>();
  #table: AgentTable | undefined;
  #fallback: AgentRef | undefined;
  #limited: ReadonlySet<string> = new Set();
  /** Agents that metrics tell apart; absent: all of them. */
  #named: ReadonlySet<string> | undefined;
  readonly #equipped = new Map<string, Equipped>();
  readonly #equipping = new Map<string, Promise<void>>();
  /** Outside of the call that asks for it: what an agent's calls share belongs to none of them. */
  readonly #equipNow: (hash: string) => Promise<void>;
  #uses = 0;

  constructor({ site, own, many }: WorkerAgentsOptions) {
    this.#site = many === undefined ? site : { ...site, labelOf: (id) => this.#labelOf(id) };
    this.#own = equipAgent(own, this.#site);
    this.#ownHash = many?.fallback.hash;
    this.#equipNow = AsyncResource.bind((hash: string) => this.#newEquipped(hash));
    if (many === undefined) return;
    this.#keep(many.fallback.hash, this.#own);
    this.change(many);
  }

  /** Resolves within a bounded time. */
  async start(): Promise<void> {
    await this.#own.start();
  }

  /** Other versions are in force from now on. Calls keep theirs. */
  change({ versions, inForce, kept, fallback, unknown, limited = [], named }: AgentsForWorker): void {
    this.#limited = new Set(limited);
    this.#named = named && new Set(named);
    void forgetAgents(this.#site.metrics, (label) => label === this.#labelOf(label));
    for (const version of versions) this.#versions.set(version.hash, version);
    const current = inForce.flatMap(({ hash }) => this.#versions.get(hash) ?? []);
    this.#table = new AgentTable(current, { fallback, unknown });
    this.#fallback = fallback;
    const needed = new Set([...kept, ...inForce.map(({ hash }) => hash)]);
    for (const hash of this.#versions.keys()) if (!needed.has(hash)) this.#versions.delete(hash);
    this.#dropIdle();
  }

  isLimited(id: string): boolean {
    return this.#limited.has(id);
  }

  of(start: CallStart, kept?: AgentRef): CalledAgent | Promise<CalledAgent> | 'unknown' {
    if (this.#table === undefined) return this.#only;
    const chosen = kept === undefined ? this.#choose(this.#table, start) : this.#again(kept);
    this.#count(chosen, start);
    if (chosen === undefined) return 'unknown';
    return this.#called(chosen) ?? this.#equip(chosen.hash).then(() => this.#taken(chosen));
  }

  other(
    { services, chosen }: CalledAgent,
    name: string,
  ): CalledAgent | Promise<CalledAgent> | 'same' | undefined {
    const tenant = tenantOf(services.agent);
    const id = agentIdOf(tenant, name);
    if (id === services.agent) return 'same';
    // No name leads out of the tenant.
    const found = name.includes('/') ? undefined : this.#table?.find(id);
    if (found === undefined || chosen === undefined) return undefined;
    const given: ChosenAgent = { id, hash: found.hash, by: chosen.by, insteadOf: chosen.id };
    return this.#called(given) ?? this.#equip(given.hash).then(() => this.#taken(given));
  }

  again(kept?: AgentRef): CalledAgent {
    return this.#table === undefined ? this.#only : this.#taken(this.#again(kept));
  }

  /** Until it resolves no call with this version can be taken up; undefined where one can. */
  pending(kept: AgentRef | undefined): Promise<void> | undefined {
    if (this.#table === undefined) return undefined;
    const { hash } = this.#again(kept);
    return this.#equipped.has(hash) ? undefined : this.#equip(hash);
  }

  async close(): Promise<void> {
    const all = new Set([this.#own, ...[...this.#equipped.values()].map(({ agent }) => agent)]);
    await Promise.all([...all].map((agent) => agent.close()));
  }

  get #only(): CalledAgent {
    return { services: this.#own.services, release: () => undefined };
  }

  /** The supervisor has chosen, but for clients of the call protocol, who may ask for an agent when they start. */
  #choose(table: AgentTable, { callId, metadata }: CallStart): ChosenAgent | undefined {
    const isOfCarrier = metadata[carrierKeys.callId] !== undefined;
    const given = metadata[chosenKeys.signed] ?? (isOfCarrier ? metadata[chosenKeys.parameter] : undefined);
    const before = given === undefined ? undefined : readChosen(given);
    const found = before && table.find(before.id);
    if (before !== undefined && found !== undefined) return { ...before, hash: found.hash, isExpected: true };
    const isClient = metadata[carrierKeys.transport] === undefined;
    const facts: CallFacts = {
      // It was there when the supervisor chose.
      signed: before?.id,
      asked: isClient ? metadata['agent'] : undefined,
      share: metadata['session_id'] ?? callId,
    };
    const choice = table.choose(facts);
    return choice.kind === 'chosen' ? choice.agent : undefined;
  }

  /** The version that a call had. Where nobody kept it, what has come in its place. */
  #again(kept: AgentRef | undefined): ChosenAgent {
    const { fallback, table } = { fallback: this.#fallback, table: this.#table };
    assert(fallback !== undefined && table !== undefined, 'asked where there are many agents');
    if (kept === undefined) return { ...fallback, by: 'default' };
    if (this.#versions.has(kept.hash)) return { ...kept, by: 'default' };
    const { id, hash } = table.find(kept.id) ?? fallback;
    this.#site.log.warn({ agent: kept.id }, 'the version of an agent that a call began with is gone');
    return { id, hash, by: 'default' };
  }

  #called(chosen: ChosenAgent): CalledAgent | undefined {
    const found = this.#equipped.get(chosen.hash);
    if (found === undefined) return undefined;
    found.calls += 1;
    found.lastUsed = this.#uses += 1;
    return {
      services: found.agent.services,
      chosen,
      release: () => {
        found.calls -= 1;
        this.#dropIdle();
      },
    };
  }

  #taken(chosen: ChosenAgent): CalledAgent {
    const called = this.#called(chosen);
    assert(called !== undefined, 'the agent is equipped');
    return called;
  }

  /** Once at a time. Rejects when the agent cannot be equipped here. */
  #equip(hash: string): Promise<void> {
    const running = this.#equipping.get(hash);
    if (running !== undefined) return running;
    const equipping = this.#equipNow(hash).finally(() => this.#equipping.delete(hash));
    this.#equipping.set(hash, equipping);
    return equipping;
  }

  async #newEquipped(hash: string): Promise<void> {
    const version = this.#versions.get(hash);
    assert(version !== undefined, 'the version was given to this worker');
    try {
      const { text: agentText, files, tenant } = version;
      const loaded = await loadAgent({ agentText, files, tenant }, hash);
      const agent = equipAgent(loaded, { ...this.#site, id: version.id });
      await agent.start();
      this.#keep(hash, agent);
    } catch (error) {
      this.#site.log.error({ agent: version.id, ...errorFields(error) }, 'an agent could not be equipped');
      throw error;
    }
  }

  #keep(hash: string, agent: EquippedAgent): void {
    this.#equipped.set(hash, { agent, calls: 0, lastUsed: (this.#uses += 1) });
  }

  /** The longest unused go first, and at once those that no new call gets. */
  #dropIdle(): void {
    const idle = [...this.#equipped].filter(([hash, { calls }]) => calls === 0 && hash !== this.#ownHash);
    const kept = idle
      .filter(([hash]) => this.#isInForce(hash))
      .toSorted(([, one], [, other]) => other.lastUsed - one.lastUsed)
      .slice(0, mostIdle);
    for (const [hash, { agent }] of idle) {
      if (kept.some(([one]) => one === hash)) continue;
      this.#equipped.delete(hash);
      void agent.close();
    }
  }

  #isInForce(hash: string): boolean {
    const version = this.#versions.get(hash);
    return version !== undefined && this.#table?.find(version.id)?.hash === hash;
  }

  #labelOf(id: string): string {
    return this.#named?.has(id) === false ? otherAgents : id;
  }

  #count(chosen: ChosenAgent | undefined, { callId: call }: CallStart): void {
    const by = chosen === undefined ? 'refused' : chosen.isUnknown === true ? 'unknown' : chosen.by;
    this.#site.metrics.agentChoices.inc({ by });
    if (by === 'refused' || by === 'unknown')
      this.#site.log.warn({ call, isRefused: by === 'refused' }, 'a call names an agent that is not there');
  }
}

/**
 * The calls that agents have, in this supervisor and in the one before it: counted for the limits of agents and tenants, and for the names that
 * metrics have a label of.
 */
import type { Limits } from '../../shared/agents/limits.ts';
import type { AgentAsked } from '../../shared/agents/messages.ts';
import type { AgentUse } from '../../shared/agents/takeover.ts';
import type { AgentRef, AgentVersion } from '../../shared/agents/version.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import { otherAgents, type SupervisorMetrics } from '../../shared/runtime/metrics.ts';
import { AgentLimits, countCalls, tenantKey, type LimitRefusal } from './agent-limits.ts';
import type { UsedMinutes } from './used-minutes.ts';

/** How exactly minutes are counted. */
const meterEveryMs: Millis = 1_000;
/** How often they are written down, and for how long the supervisor after this one does it once it was told of them. */
const writeEveryMs: Millis = 5_000;
/** Agents that metrics tell apart. */
export const mostNamed = 50;

export interface CallsSite {
  readonly metrics: Pick<SupervisorMetrics, 'agentCalls' | 'agentRefusals'>;
  /** The versions that calls of this supervisor have, one entry for each call. */
  readonly ofCalls: () => Iterable<AgentRef>;
  /** The version that the call of an offer has. */
  readonly agentOf: (offer: number) => AgentRef | undefined;
}

export interface AgentsInUseOptions {
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly minutes?: UsedMinutes | undefined;
}

export class AgentsInUse {
  readonly #clock: Clock;
  readonly #wallClock: WallClock;
  readonly #limits = new AgentLimits();
  #site: CallsSite | undefined;
  /** Calls that the supervisor before this one still has, by agent. */
  #elsewhere: Readonly<Record<string, number>> = {};
  #inForce: readonly AgentVersion[] = [];
  /** Calls that began, by agent. */
  readonly #begun = new Map<string, number>();
  #named: ReadonlySet<string> = new Set();
  readonly #minutes: UsedMinutes | undefined;
  #writtenAt: Millis = 0;
  /** When the supervisor after this one was told what is used. */
  #gaveAt: Millis = -Infinity;

  /** `minutes`: where they are kept while the service is stopped; absent: they are forgotten. */
  constructor({ clock, wallClock, minutes }: AgentsInUseOptions) {
    this.#clock = clock;
    this.#wallClock = wallClock;
    this.#minutes = minutes;
    const before = minutes?.read();
    if (before !== undefined) this.#limits.restore(before);
  }

  serve(site: CallsSite): void {
    this.#site = site;
    let before = this.#clock.now();
    const meter = (): void => {
      const now = this.#clock.now();
      this.#limits.meter(this.#running(), now - before, this.#wallClock.now());
      before = now;
      if (now - this.#writtenAt >= writeEveryMs) this.keep();
      this.#clock.after(meterEveryMs, meter);
    };
    this.#clock.after(meterEveryMs, meter);
  }

  /** Writes the minutes down. */
  keep(): void {
    const now = this.#clock.now();
    if (now - this.#gaveAt < writeEveryMs) return;
    this.#writtenAt = now;
    this.#minutes?.write(this.#limits.give());
  }

  /** These versions are in force, with their limits. */
  change(inForce: readonly AgentVersion[]): void {
    this.#inForce = inForce;
    const limits = new Map<string, Limits>();
    for (const { id, tenant, limits: own, tenantLimits } of inForce) {
      if (own !== undefined) limits.set(id, own);
      if (tenant !== undefined && tenantLimits !== undefined) limits.set(tenantKey(tenant), tenantLimits);
    }
    this.#limits.set(limits);
    this.#name();
  }

  /** Ids of agents whose calls are limited. */
  get limited(): readonly string[] {
    return this.#inForce.flatMap(({ id }) => (this.#limits.holdsFor(id) ? [id] : []));
  }

  #running(): Map<string, number> {
    const ids = [...(this.#site?.ofCalls() ?? [])].map(({ id }) => id);
    for (const [id, count] of Object.entries(this.#elsewhere))
      ids.push(...Array.from({ length: count }, () => id));
    return countCalls(ids);
  }

  // ---- calls ----

  /** Keeps room for a call that is told to come. */
  expect(id: string): void {
    this.#limits.expect(id, this.#wallClock.now());
  }

  /** Why a call to this agent would be refused now; undefined where it would not. */
  look(id: string): LimitRefusal | undefined {
    if (!this.#limits.holdsFor(id)) return undefined;
    const refusal = this.#limits.refusal(id, this.#running(), { now: this.#wallClock.now() });
    if (refusal !== undefined) this.#count(id, refusal);
    return refusal;
  }

  /** A call may begin on this agent: it has it from now on. */
  grants({ agent: { id }, offer, isExpected }: AgentAsked): boolean {
    const now = this.#wallClock.now();
    if (isExpected) this.#limits.came(id, now);
    const before = this.#site?.agentOf(offer)?.id;
    const refusal = this.#limits.refusal(id, this.#running(), { now, before });
    if (refusal === undefined) this.#limits.began(id, { now, before });
    else this.#count(id, refusal);
    return refusal === undefined;
  }

  /** A call has this agent. */
  began(id: string): void {
    this.#begun.set(id, (this.#begun.get(id) ?? 0) + 1);
  }

  #count(id: string, { limit }: LimitRefusal): void {
    this.#site?.metrics.agentRefusals.inc({ agent: this.label(id), limit });
  }

  // ---- metrics ----

  /** What metrics call an agent. */
  label(id: string): string {
    return this.#named.has(id) ? id : otherAgents;
  }

  get named(): readonly string[] {
    return [...this.#named];
  }

  /** Sets what metrics say of calls that run. */
  readGauges(): void {
    const counts = new Map<string, number>();
    for (const { id } of this.#site?.ofCalls() ?? [])
      counts.set(this.label(id), (counts.get(this.label(id)) ?? 0) + 1);
    const gauge = this.#site?.metrics.agentCalls;
    gauge?.reset();
    for (const [agent, count] of counts) gauge?.set({ agent }, count);
  }

  /** Looks which agents are the busiest. True where others are named from now on. */
  tidy(): boolean {
    this.#limits.tidy(this.#wallClock.now());
    return this.#name();
  }

  /** One that has a name keeps it until another one is twice as busy: a name that comes and goes tells nothing. */
  #name(): boolean {
    const weight = (id: string): number => ((this.#begun.get(id) ?? 0) + 1) * (this.#named.has(id) ? 2 : 1);
    const ids = this.#inForce.map(({ id }) => id);
    const there = new Set(ids);
    for (const id of this.#begun.keys()) if (!there.has(id)) this.#begun.delete(id);
    const named = ids.toSorted((one, other) => weight(other) - weight(one)).slice(0, mostNamed);
    const isSame = named.length === this.#named.size && named.every((id) => this.#named.has(id));
    this.#named = new Set(named);
    return !isSame;
  }

  // ---- a restart ----

  /** For the supervisor after this one. */
  give(): AgentUse {
    const calls: Record<string, number> = {};
    for (const { id } of this.#site?.ofCalls() ?? []) calls[id] = (calls[id] ?? 0) + 1;
    this.#gaveAt = this.#clock.now();
    return { ...this.#limits.give(), calls };
  }

  /** What the supervisor before this one counts; undefined: it is gone. `counts`: until this one serves, the other one counts for both. */
  inherit(use: AgentUse | undefined, { counts }: { readonly counts: boolean }): void {
    this.#elsewhere = use?.calls ?? {};
    if (use !== undefined && counts) this.#limits.inherit(use);
  }
}

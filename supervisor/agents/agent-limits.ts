/**
 * How much of the service each agent and each tenant uses, and whether it may have another call (`[limits]`). A tenant's limits hold for all of
 * its agents together. Pure: the hour and the calls that run are told.
 */
import type { Limits } from '../../shared/agents/limits.ts';
import type { AgentUse } from '../../shared/agents/takeover.ts';
import { tenantOf } from '../../shared/agents/version.ts';
import type { Millis } from '../../shared/base/units.ts';

const minuteMs: Millis = 60_000;
const dayMs: Millis = 86_400_000;
/** A caller who was told to come is here by then, or does not come. */
const onTheWayMs: Millis = 10_000;

/** Whose limit it is: an agent's by its id, a tenant's by `tenant/`, which is nobody's id. */
export const tenantKey = (tenant: string): string => `${tenant}/`;

/** Without those of an agent that the call had before. */
function keysOf(id: string, before?: string): readonly string[] {
  const tenant = tenantOf(id);
  const keys = tenant === undefined ? [id] : [id, tenantKey(tenant)];
  return before === undefined ? keys : keys.filter((key) => !keysOf(before).includes(key));
}

/** Calls that run, by what limits hold for. */
export function countCalls(ids: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) for (const key of keysOf(id)) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

export interface LimitRefusal {
  readonly limit: keyof Limits;
  /** When it is of use to call again; a guess where a call has to end first. */
  readonly retryAfterS: number;
}

interface When {
  readonly now: Millis;
  /** Agent that the call has already. */
  readonly before?: string | undefined;
}

/** Since when something is counted, oldest first, in Unix milliseconds. */
type Times = readonly Millis[];

export class AgentLimits {
  #limits: ReadonlyMap<string, Limits> = new Map();
  /** Calls that began within a minute. */
  readonly #starts = new Map<string, Times>();
  /** Calls that were given room and have not come yet: until when they are awaited. */
  readonly #awaited = new Map<string, Times>();
  /** Of this day. */
  #usedMs = new Map<string, number>();
  #day = 0;

  /** Other limits hold. Minutes that were used stay used. */
  set(limits: ReadonlyMap<string, Limits>): void {
    this.#limits = limits;
  }

  /** Limits hold for this agent. */
  holdsFor(id: string): boolean {
    return this.#limits.size > 0 && keysOf(id).some((key) => this.#limits.has(key));
  }

  /** Why the agent may not have another call; undefined where it may. The call may be one of the agent `before`, and of the same tenant. */
  refusal(id: string, running: ReadonlyMap<string, number>, { now, before }: When): LimitRefusal | undefined {
    this.#turn(now);
    for (const key of keysOf(id, before)) {
      const limits = this.#limits.get(key);
      const found = limits && this.#broken(key, limits, { running: running.get(key) ?? 0, now });
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #broken(
    key: string,
    { calls = Infinity, callsPerMinute = Infinity, minutesPerDay = Infinity }: Limits,
    { running, now }: { readonly running: number; readonly now: Millis },
  ): LimitRefusal | undefined {
    const awaited = since(this.#awaited.get(key), now).length;
    if (running + awaited >= calls) return { limit: 'calls', retryAfterS: 1 };
    const starts = since(this.#starts.get(key), now - minuteMs);
    if (starts.length + awaited >= callsPerMinute) {
      const free = starts.at(-callsPerMinute) ?? now;
      return { limit: 'callsPerMinute', retryAfterS: Math.max(1, Math.ceil((free + minuteMs - now) / 1000)) };
    }
    if ((this.#usedMs.get(key) ?? 0) < minutesPerDay * minuteMs) return undefined;
    return { limit: 'minutesPerDay', retryAfterS: Math.ceil((dayMs - (now % dayMs)) / 1000) };
  }

  /** A call of the agent was told to come. */
  expect(id: string, now: Millis): void {
    this.#add(this.#awaited, keysOf(id), { at: now + onTheWayMs, after: now });
  }

  /** One that was told so is here. */
  came(id: string, now: Millis): void {
    for (const key of keysOf(id)) {
      const [, ...others] = since(this.#awaited.get(key), now);
      this.#awaited.set(key, others);
    }
  }

  /** A call of the agent begins. */
  began(id: string, { now, before }: When): void {
    this.#add(this.#starts, keysOf(id, before), { at: now, after: now - minuteMs });
  }

  #add(
    to: Map<string, Times>,
    keys: readonly string[],
    { at, after }: { readonly at: Millis; readonly after: Millis },
  ): void {
    for (const key of keys) if (this.#limits.has(key)) to.set(key, [...since(to.get(key), after), at]);
  }

  /** So long these calls have run. */
  meter(running: ReadonlyMap<string, number>, ms: Millis, now: Millis): void {
    this.#turn(now);
    for (const [key, count] of running)
      if (this.#limits.get(key)?.minutesPerDay !== undefined)
        this.#usedMs.set(key, (this.#usedMs.get(key) ?? 0) + count * ms);
  }

  #turn(now: Millis): void {
    const day = Math.floor(now / dayMs);
    if (day !== this.#day) this.#usedMs = new Map();
    this.#day = day;
  }

  /** Forgets what no limit needs any more. */
  tidy(now: Millis): void {
    for (const [times, after] of [
      [this.#starts, now - minuteMs],
      [this.#awaited, now],
    ] as const)
      for (const [key, all] of times) {
        const left = since(all, after);
        if (left.length === 0) times.delete(key);
        else times.set(key, left);
      }
  }

  // ---- a restart ----

  give(): Pick<AgentUse, 'day' | 'usedMs' | 'starts'> {
    return {
      day: this.#day,
      usedMs: Object.fromEntries(this.#usedMs),
      starts: Object.fromEntries([...this.#starts].map(([key, times]) => [key, [...times]])),
    };
  }

  /** What was used before the service was started, of this day or of another one. */
  restore({ day, usedMs }: Pick<AgentUse, 'day' | 'usedMs'>): void {
    this.#day = day;
    this.#usedMs = new Map(Object.entries(usedMs));
  }

  /** What the supervisor before this one counted stands for what this one has, which has had no calls yet. */
  inherit({ day, usedMs, starts }: Pick<AgentUse, 'day' | 'usedMs' | 'starts'>): void {
    this.#day = day;
    this.#usedMs = new Map(Object.entries(usedMs));
    this.#starts.clear();
    for (const [key, times] of Object.entries(starts)) this.#starts.set(key, times);
  }
}

const since = (times: Times | undefined, after: Millis): Times =>
  times === undefined ? [] : times.filter((at) => at > after);

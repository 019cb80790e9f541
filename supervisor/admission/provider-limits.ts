/**
 * What is left of the providers' budgets, as a pure ledger (docs/providers.md, Breakers and budgets). A call takes one session of each of its
 * providers, all or none; requests are counted as they are reported, in a window of the last 60 seconds. Providers without a limit are not looked at.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { ProviderLimits } from '../../shared/config/server/provider-limits.ts';

export interface BudgetRefusal {
  readonly provider: string;
  readonly what: 'sessions' | 'rpm';
  /** For `Retry-After`; longer than the second that a full server asks for. */
  readonly retryAfterS: number;
}

const windowS = 60;
/** When a session becomes free nobody knows. */
const sessionsRetryS = 5;
const leastRetryS = 2;

interface Budget {
  readonly sessions: number;
  readonly rpm: number;
  inUse: number;
  readonly requests: RequestWindow;
}

export class ProviderLedger {
  readonly #budgets = new Map<string, Budget>();

  constructor(limits: ProviderLimits) {
    for (const [provider, limit] of limits) {
      this.#budgets.set(provider, {
        sessions: limit.sessions ?? Number.POSITIVE_INFINITY,
        rpm: limit.rpm ?? Number.POSITIVE_INFINITY,
        inUse: 0,
        requests: new RequestWindow(),
      });
    }
  }

  /** Why a call that needs these providers is refused now; undefined when it is not. The longest wait is named. */
  refusal(providers: readonly string[], nowMs: Millis): BudgetRefusal | undefined {
    let longest: BudgetRefusal | undefined;
    for (const provider of new Set(providers)) {
      const budget = this.#budgets.get(provider);
      const refusal = budget && refusalOf(provider, budget, nowMs);
      if (refusal !== undefined && refusal.retryAfterS > (longest?.retryAfterS ?? 0)) longest = refusal;
    }
    return longest;
  }

  /** Takes a session of each provider for one call. Does not refuse: ask `refusal` first. */
  take(providers: readonly string[]): void {
    for (const budget of this.#budgetsOf(providers)) budget.inUse += 1;
  }

  release(providers: readonly string[]): void {
    for (const budget of this.#budgetsOf(providers)) budget.inUse = Math.max(0, budget.inUse - 1);
  }

  /** Counts requests that were sent to a provider. */
  requested(provider: string, nowMs: Millis, { count = 1 }: { readonly count?: number } = {}): void {
    this.#budgets.get(provider)?.requests.add(nowMs, count);
  }

  /** Sessions in use and requests of the last minute, of each provider with a limit. */
  counts(nowMs: Millis): ReadonlyMap<string, { readonly sessions: number; readonly requests: number }> {
    const counts = new Map<string, { sessions: number; requests: number }>();
    for (const [provider, { inUse, requests }] of this.#budgets)
      counts.set(provider, { sessions: inUse, requests: requests.total(nowMs) });
    return counts;
  }

  /** Requests of the last minute of each provider with a limit: how many seconds ago and how many, oldest first. */
  recentRequests(nowMs: Millis): ReadonlyMap<string, (readonly [agoS: number, count: number])[]> {
    return new Map([...this.#budgets].map(([provider, { requests }]) => [provider, requests.recent(nowMs)]));
  }

  #budgetsOf(providers: readonly string[]): Budget[] {
    return [...new Set(providers)].flatMap((provider) => this.#budgets.get(provider) ?? []);
  }
}

function refusalOf(provider: string, budget: Budget, nowMs: Millis): BudgetRefusal | undefined {
  const waitS = budget.requests.secondsUntilBelow(budget.rpm, nowMs);
  if (waitS > 0) return { provider, what: 'rpm', retryAfterS: Math.max(leastRetryS, waitS) };
  return budget.inUse >= budget.sessions
    ? { provider, what: 'sessions', retryAfterS: sessionsRetryS }
    : undefined;
}

/** Requests per second of the last minute: 60 numbers, whatever the rate. */
class RequestWindow {
  readonly #counts = new Float64Array(windowS);
  #newestS = Number.NEGATIVE_INFINITY;

  add(nowMs: Millis, count: number): void {
    const slot = this.#slot(this.#moveTo(nowMs));
    this.#counts[slot] = (this.#counts[slot] ?? 0) + count;
  }

  total(nowMs: Millis): number {
    this.#moveTo(nowMs);
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** Seconds ago and count, oldest first; seconds without requests are left out. */
  recent(nowMs: Millis): (readonly [agoS: number, count: number])[] {
    const newestS = this.#moveTo(nowMs);
    return Array.from({ length: windowS }, (_, index) => windowS - 1 - index)
      .map((agoS) => [agoS, this.#counts[this.#slot(newestS - agoS)] ?? 0] as const)
      .filter(([, count]) => count > 0);
  }

  /** Seconds until enough requests have left the window; 0 when there is room now. */
  secondsUntilBelow(limit: number, nowMs: Millis): number {
    let left = this.total(nowMs);
    if (left < limit) return 0;
    const newestS = this.#moveTo(nowMs);
    for (let waitS = 1; waitS < windowS; waitS += 1) {
      left -= this.#counts[this.#slot(newestS + waitS)] ?? 0;
      if (left < limit) return waitS;
    }
    return windowS;
  }

  /** Empties the seconds that were passed over. Time that runs backwards counts as the newest second. */
  #moveTo(nowMs: Millis): number {
    const nowS = Math.floor(nowMs / 1000);
    if (nowS <= this.#newestS) return this.#newestS;
    const passed = Math.min(windowS, nowS - this.#newestS);
    for (let back = 0; back < passed; back += 1) this.#counts[this.#slot(nowS - back)] = 0;
    this.#newestS = nowS;
    return nowS;
  }

  #slot(second: number): number {
    return ((second % windowS) + windowS) % windowS;
  }
}

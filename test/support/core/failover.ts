/** Two providers of a stage with breakers of their own, and a record of what was counted about them. */
import type { StageName } from '../../../shared/config/stages/declaration.ts';
import { breakerInts, Breakers, type ProviderRole } from '../../../shared/protocol/breakers.ts';
import type { FailoverReason, FailoverScope, Guarded } from '../../../worker/stages/failover/provider.ts';
import { RetryBudgets } from '../../../worker/stages/failover/retry-budget.ts';

export interface Recorded {
  /** `primary requested`, `secondary failed disconnected`, in order. */
  readonly notes: string[];
  readonly reasons: FailoverReason[];
  readonly breakers: Breakers;
}

export interface ScopeOptions<S> {
  readonly primary: S;
  readonly secondary?: S;
  readonly machineMs: () => number;
  /** False: no call may turn to the other provider or ask again. */
  readonly retries?: boolean;
  readonly onRequest?: (role: ProviderRole) => void;
}

export function newFailoverScope<S>(
  name: StageName,
  { primary, secondary, machineMs, retries = true, onRequest }: ScopeOptions<S>,
): FailoverScope<S> & Recorded {
  const breakers = new Breakers(new Int32Array(breakerInts));
  const notes: string[] = [];
  const reasons: FailoverReason[] = [];
  const guard = (role: ProviderRole, stage: S): Guarded<S> => ({
    role,
    stage,
    breaker: breakers.of(name, role),
    meter: {
      requested: () => {
        notes.push(`${role} requested`);
        onRequest?.(role);
      },
      firstResult: (afterMs) => void notes.push(`${role} first result ${Math.round(afterMs)}`),
      failed: (kind) => void notes.push(`${role} failed ${kind}`),
      spent: (unit, amount) => {
        if (amount > 0) notes.push(`${role} spent ${amount} ${unit}`);
      },
    },
  });
  const none = { tokens: 0, perSecond: 0 };
  return {
    primary: guard('primary', primary),
    ...(secondary !== undefined && { secondary: guard('secondary', secondary) }),
    budgets: new RetryBudgets(retries ? {} : { call: none, process: none }),
    machineMs,
    failedOver: (reason) => void reasons.push(reason),
    notes,
    reasons,
    breakers,
  };
}

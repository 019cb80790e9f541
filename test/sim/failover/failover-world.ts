/**
 * What the simulations of failover share: two simulated providers of a stage on virtual time, of which the first is killed
 * at a random instant, and the bounds that a judge measures by.
 */
import { newPrng, type Prng } from '../../../shared/base/prng.ts';
import type { ProviderRole } from '../../../shared/protocol/breakers.ts';
import type { StageName } from '../../../shared/config/stages/declaration.ts';
import type { FailoverReason, FailoverScope } from '../../../worker/stages/failover/provider.ts';
import type { StageError } from '../../../worker/stages/stage.ts';
import { newFailoverScope } from '../../support/core/failover.ts';
import { newVirtualClock, type VirtualClock } from '../../support/core/virtual-clock.ts';

/** Beyond the timeout in force, a failure may cost this much. */
export const mostExtraMs = 1_000;

/** How the primary dies: its connections break, or it falls silent and an adapter's timeout has to find out. */
export interface Death {
  readonly atMs: number;
  readonly how: 'reset' | 'silence';
  /** Until an adapter calls a silent provider dead. */
  readonly timeoutMs: number;
  /** What new connections find. */
  readonly after: 'refused' | 'rejected' | 'silence';
}

export function planDeath(prng: Prng, withinMs: number): Death {
  return {
    atMs: Math.floor(prng.next() * withinMs),
    how: prng.pick(['reset', 'silence']),
    timeoutMs: 1_000 + prng.below(3_000),
    after: prng.pick(['refused', 'rejected', 'silence']),
  };
}

/** When a provider is dead, and what those who use it learn of it. */
export class Fate {
  readonly clock: VirtualClock;
  readonly death: Death | undefined;

  constructor(clock: VirtualClock, death: Death | undefined) {
    this.clock = clock;
    this.death = death;
  }

  get isDead(): boolean {
    return this.death !== undefined && this.clock.now() >= this.death.atMs;
  }

  /** Calls back with the error that a connection made now, or earlier, comes to in the end. */
  watch(tell: (error: StageError) => void): void {
    const { death, clock } = this;
    if (death === undefined) return;
    if (this.isDead) {
      const { after, timeoutMs } = death;
      if (after === 'silence') clock.after(timeoutMs, () => tell({ kind: 'timeout', what: 'connect' }));
      else if (after === 'refused') clock.after(2, () => tell({ kind: 'disconnected' }));
      else clock.after(40, () => tell({ kind: 'rejected', status: 503 }));
      return;
    }
    const inMs = death.atMs - clock.now();
    if (death.how === 'reset') clock.after(inMs, () => tell({ kind: 'disconnected' }));
    else clock.after(inMs + death.timeoutMs, () => tell({ kind: 'timeout', what: 'progress' }));
  }
}

export interface FailoverWorld {
  readonly clock: VirtualClock;
  readonly prng: Prng;
  /** Failovers so far. */
  readonly reasons: readonly FailoverReason[];
  /** Requests so far. */
  readonly requests: readonly ProviderRole[];
  scope<S>(name: StageName, stages: { readonly primary: S; readonly secondary: S }): FailoverScope<S>;
}

export function newFailoverWorld(seed: number): FailoverWorld {
  const clock = newVirtualClock();
  const requests: ProviderRole[] = [];
  const reasons: FailoverReason[] = [];
  return {
    clock,
    prng: newPrng(seed),
    reasons,
    requests,
    scope: (name, stages) => ({
      ...newFailoverScope(name, {
        ...stages,
        machineMs: () => clock.now(),
        onRequest: (role) => void requests.push(role),
      }),
      failedOver: (reason) => void reasons.push(reason),
    }),
  };
}

/** Moves time on in steps until `isOver`, at most for `mostMs`. */
export function runUntil(clock: VirtualClock, isOver: () => boolean, mostMs: number): void {
  const endMs = clock.now() + mostMs;
  while (!isOver() && clock.now() < endMs) clock.advance(5);
}

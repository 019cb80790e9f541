/**
 * The providers of a stage with their breakers, and one use of one of them.
 *
 * Invariant: what became of a use is reported to the breaker, a probe exactly once; a breaker never keeps a call from its
 * only provider. Nothing here knows what a stage does.
 */
import type { TokenUnit } from '../../../shared/tracing/gen-ai.ts';
import type { Breaker, Leave, ProviderRole } from '../../../shared/protocol/breakers.ts';
import type { StageContext, StageError } from '../stage.ts';
import type { RetryBudget } from './retry-budget.ts';
import { kindOf, verdictOn, type ErrorKind, type Verdict } from './verdict.ts';

export type Unit = TokenUnit | 'audio_seconds' | 'characters';

/** Where the figures of one provider go. */
export interface ProviderMeter {
  /** A request was sent, for the provider's budget; `session`: in which it was, where providers name one. */
  requested(session?: string): void;
  firstResult(afterMs: number): void;
  /** `error` is absent where nothing failed but was waited for too long. */
  failed(kind: ErrorKind, error?: StageError): void;
  /** `isLate`: for a request that the call no longer waits for. */
  spent(unit: Unit, amount: number, isLate?: boolean): void;
}

/** Why another provider than the one that was to be used is used: it failed, it is left alone, it is slow. */
export type FailoverReason = 'failed' | 'breaker' | 'hedge';

export interface Guarded<S> {
  readonly role: ProviderRole;
  readonly stage: S;
  readonly breaker: Breaker;
  readonly meter: ProviderMeter;
}

export interface FailoverScope<S> {
  readonly primary: Guarded<S>;
  readonly secondary?: Guarded<S>;
  readonly budgets: RetryBudget;
  /** Milliseconds of the machine's monotonic clock, as breakers take them. */
  readonly machineMs: () => number;
  readonly failedOver: (reason: FailoverReason) => void;
}

/** What the stage over both providers is called, and its end, which is the end of both. */
export const overBoth = <S extends Stage>({ primary, secondary }: FailoverScope<S>): Stage => ({
  provider: primary.stage.provider,
  close: async () => {
    await Promise.all([primary.stage.close(), secondary?.stage.close()]);
  },
});

interface Stage {
  readonly provider: string;
  close(): Promise<void>;
}

/** One use of a provider. */
export class Use<S> {
  readonly provider: Guarded<S>;
  readonly #machineMs: () => number;
  /** A probe is one until it is settled; what follows is use like any other. */
  #leave: Leave;

  constructor(provider: Guarded<S>, leave: Leave, machineMs: () => number) {
    this.provider = provider;
    this.#leave = leave;
    this.#machineMs = machineMs;
  }

  succeeded(): void {
    this.provider.breaker.succeeded(this.#settle(), this.#machineMs());
  }

  failed(error: StageError): Verdict {
    const verdict = verdictOn(error);
    const { breaker, meter } = this.provider;
    meter.failed(kindOf(error), error);
    const { pauseMs } = verdict;
    if (verdict.blames) breaker.failed(this.#settle(), this.#machineMs(), { pauseMs });
    else if (error.kind === 'rejected') this.succeeded();
    else this.abandoned();
    return verdict;
  }

  /** The call gave up waiting for it. */
  stalled(): void {
    this.provider.meter.failed('stalled');
    this.provider.breaker.failed(this.#settle(), this.#machineMs());
  }

  abandoned(): void {
    this.provider.breaker.abandoned(this.#settle());
  }

  #settle(): Leave {
    const leave = this.#leave;
    this.#leave = { kind: 'usual', probeAt: 0 };
    return leave;
  }
}

/** The provider to begin with: the first that may be used, and the primary when none may. */
export function firstUse<S>(scope: FailoverScope<S>): Use<S> {
  const { primary, secondary, machineMs } = scope;
  const leave = primary.breaker.ask(machineMs());
  if (leave !== undefined) return new Use(primary, leave, machineMs);
  const other = secondary && useOf(secondary, scope);
  if (other === undefined) return new Use(primary, primary.breaker.force(), machineMs);
  scope.failedOver('breaker');
  return other;
}

/** Remembers which provider a call has given up, so that its next session begins with the other one. */
export class GivenUp<S> {
  readonly #providers = new WeakMap<StageContext, Guarded<S>>();

  note(context: StageContext, { provider }: Use<S>): void {
    this.#providers.set(context, provider);
  }

  /** The use that the call's next session begins with. */
  nextUse(context: StageContext, scope: FailoverScope<S>): Use<S> {
    const provider = this.#providers.get(context);
    this.#providers.delete(context);
    const other = provider && otherThan(provider, scope);
    const use = other && useOf(other, scope);
    if (use === undefined) return firstUse(scope);
    scope.failedOver('failed');
    return use;
  }
}

/** A use of this provider; undefined while it is to be left alone. */
export function useOf<S>(provider: Guarded<S>, { machineMs }: FailoverScope<S>): Use<S> | undefined {
  const leave = provider.breaker.ask(machineMs());
  return leave && new Use(provider, leave, machineMs);
}

export function otherThan<S>(
  provider: Guarded<S>,
  { primary, secondary }: FailoverScope<S>,
): Guarded<S> | undefined {
  return provider === primary ? secondary : primary;
}

/**
 * Whose turn it is when a session dies: the other provider at once, then the first one once more after a pause, and then
 * nobody, until something has come of a session again. And where a session goes that has nothing to lose: away from a
 * provider that others have found broken, and back to the primary once it has worked for others.
 *
 * Invariant: each change takes a retry from the budgets of call and process; a provider that is to be left alone is not
 * turned to. At most one change waits.
 */
import type { Timer } from '../../../shared/runtime/clock.ts';
import type { StageContext, StageError } from '../stage.ts';
import { otherThan, useOf, type FailoverScope, type Use } from './provider.ts';

/** Changes in a row without anything in between that shows that a session works. */
const mostChanges = 2;
const pauseMs = 250;

export class SessionTurns<S> {
  readonly #scope: FailoverScope<S>;
  readonly #context: StageContext;
  #changes = 0;
  #timer: Timer | undefined;
  /** Successes of the primary when this session was last turned away from it. */
  #primaryHad: number;

  constructor(scope: FailoverScope<S>, context: StageContext) {
    this.#scope = scope;
    this.#context = context;
    this.#primaryHad = scope.primary.breaker.successes;
  }

  succeeded(use: Use<S>): void {
    this.#changes = 0;
    use.succeeded();
  }

  /** The session says nothing: `begin` is called when the other provider is there at once, and nothing happens otherwise. */
  afterSilence(use: Use<S>, error: StageError, begin: (use: Use<S>) => void): boolean {
    if (this.#changes > 0) return false;
    const next = this.#takeTurn(use);
    if (next === undefined) return false;
    use.failed(error);
    begin(next);
    return true;
  }

  /** Reports the failure; `begin` is called, now or soon, with the provider that is next. False when there is none. */
  afterFailure(use: Use<S>, error: StageError, begin: (use: Use<S>) => void): boolean {
    use.failed(error);
    const next = this.#takeTurn(use);
    if (next === undefined) return false;
    const context = this.#context;
    if (this.#changes === 1) begin(next);
    else {
      this.#timer = context.clock.after(
        pauseMs,
        context.bind(() => begin(next)),
      );
    }
    return true;
  }

  /** A use of the other provider, paid for; undefined when there is none to be had. */
  #takeTurn({ provider }: Use<S>): Use<S> | undefined {
    const scope = this.#scope;
    const context = this.#context;
    const other = otherThan(provider, scope);
    const next = other && this.#changes < mostChanges ? useOf(other, scope) : undefined;
    if (next === undefined) return undefined;
    if (!scope.budgets.take(context)) {
      next.abandoned();
      return undefined;
    }
    this.#changes += 1;
    this.#primaryHad = scope.primary.breaker.successes;
    scope.failedOver('failed');
    return next;
  }

  /** The provider that an idle session should be with instead; undefined when it is where it should be. */
  better({ provider }: Use<S>, { mayReturn }: { readonly mayReturn: boolean }): Use<S> | undefined {
    const scope = this.#scope;
    const other = otherThan(provider, scope);
    const nowMs = scope.machineMs();
    if (other?.breaker.state(nowMs) !== 'closed') return undefined;
    const isAway = provider.breaker.state(nowMs) === 'open';
    const isBack = mayReturn && other === scope.primary && other.breaker.successes !== this.#primaryHad;
    if (!isAway && !isBack) return undefined;
    this.#primaryHad = scope.primary.breaker.successes;
    if (isAway) scope.failedOver('breaker');
    return useOf(other, scope);
  }

  close(): void {
    this.#timer?.cancel();
  }
}

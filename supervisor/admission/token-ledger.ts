/**
 * The session ids that have opened a call, as a pure ledger (docs/tokens.md, Single use). An id is kept
 * until its token can no longer be verified; ids that are past that are dropped a few at a time as others come. Looking
 * never marks: an id is used by `use` alone, once its call has a slot.
 */
import { skewS } from '../../shared/auth/session-token.ts';

/** Live ids (docs/tokens.md, Single use). */
const defaultMaxIds = 100_000;
/** Expired ids that one use clears away, more than it can add. */
const clearedPerUse = 16;
const warnEveryS = 60;

export interface TokenUse {
  readonly sid: string;
  /** Unix seconds; the token's `exp`. */
  readonly expS: number;
  readonly nowS: number;
}

export type UseOutcome =
  | { readonly kind: 'taken' }
  | { readonly kind: 'reused' }
  /** No room and nothing has expired: the token stays unused. `shouldWarn` at most once a minute. */
  | { readonly kind: 'full'; readonly shouldWarn: boolean };

interface Expiry {
  readonly sid: string;
  /** From here on the id is not live. */
  readonly endS: number;
}

/** Is told of every change; for a supervisor that is about to take over. */
export interface TokensWatcher {
  readonly used: (sid: string, endS: number) => void;
  readonly released: (sid: string) => void;
}

export class TokenLedger {
  readonly #maxIds: number;
  readonly #endOfId = new Map<string, number>();
  readonly #expiries = new ExpiryHeap();
  readonly #warnings = newRareWarning(warnEveryS);
  #watcher: TokensWatcher | undefined;

  constructor({ maxIds = defaultMaxIds }: { readonly maxIds?: number } = {}) {
    this.#maxIds = maxIds;
  }

  /** Ids in memory: the live ones and expired ones that were not cleared away yet. */
  get size(): number {
    return this.#endOfId.size;
  }

  isUsed(sid: string, nowS: number): boolean {
    return (this.#endOfId.get(sid) ?? Number.NEGATIVE_INFINITY) > nowS;
  }

  /** Whether no id that was never used can be used now. */
  isFull(nowS: number): boolean {
    while (this.#endOfId.size >= this.#maxIds) if (!this.#clearOne(nowS)) return true;
    return false;
  }

  use({ sid, expS, nowS }: TokenUse): UseOutcome {
    if (this.isUsed(sid, nowS)) return { kind: 'reused' };
    this.#endOfId.delete(sid);
    for (let cleared = 0; cleared < clearedPerUse && this.#clearOne(nowS); cleared += 1);
    if (this.isFull(nowS)) return { kind: 'full', shouldWarn: this.#warnings.isDue(nowS) };
    this.carry(sid, expS + skewS);
    return { kind: 'taken' };
  }

  /** Takes a use back: no call came of it, and the token may be tried again. */
  release(sid: string): void {
    this.#endOfId.delete(sid);
    this.#watcher?.released(sid);
  }

  /** Ids in memory with the Unix second from which on each is not live. Changes during a walk may or may not appear. */
  entries(): Iterable<readonly [sid: string, endS: number]> {
    return this.#endOfId.entries();
  }

  /** Marks an id that was used here or at the supervisor before this one, whatever the room. */
  carry(sid: string, endS: number): void {
    this.#endOfId.set(sid, endS);
    this.#expiries.push({ sid, endS });
    this.#watcher?.used(sid, endS);
  }

  /** One watcher at a time; undefined ends the watch. */
  watch(watcher: TokensWatcher | undefined): void {
    this.#watcher = watcher;
  }

  /** False when nothing has expired. An id that was released or used anew leaves an expiry that clears nothing. */
  #clearOne(nowS: number): boolean {
    const first = this.#expiries.first;
    if (first === undefined || first.endS > nowS) return false;
    this.#expiries.dropFirst();
    if (this.#endOfId.get(first.sid) === first.endS) this.#endOfId.delete(first.sid);
    return true;
  }
}

/** Says when a warning that repeats itself is due: at once, then at most once in `everyS`. */
export function newRareWarning(everyS: number): { isDue(nowS: number): boolean } {
  let nextS = Number.NEGATIVE_INFINITY;
  return {
    isDue: (nowS) => {
      if (nowS < nextS) return false;
      nextS = nowS + everyS;
      return true;
    },
  };
}

/** A binary heap, soonest end first. */
class ExpiryHeap {
  readonly #items: Expiry[] = [];

  get first(): Expiry | undefined {
    return this.#items[0];
  }

  push(item: Expiry): void {
    let at = this.#items.length;
    this.#items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = this.#items[parent];
      if (above === undefined || above.endS <= item.endS) break;
      this.#items[at] = above;
      at = parent;
    }
    this.#items[at] = item;
  }

  dropFirst(): void {
    const last = this.#items.pop();
    if (last === undefined || this.#items.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [this.#items[2 * at + 1], this.#items[2 * at + 2]];
      const isRight = right !== undefined && left !== undefined && right.endS < left.endS;
      const sooner = isRight ? right : left;
      if (sooner === undefined || sooner.endS >= last.endS) break;
      this.#items[at] = sooner;
      at = 2 * at + (isRight ? 2 : 1);
    }
    this.#items[at] = last;
  }
}

/**
 * How often a stage may turn to another provider, or to the same one again: a bucket of tokens per call and one per process for each
 * provider and key, so that a provider that is down does not become a storm on the one that is not, and an agent takes nothing from another.
 *
 * Invariant: a retry takes one token of both buckets or of none; buckets fill with time alone. Pure.
 */
import type { StageContext } from '../stage.ts';

export interface BucketSize {
  readonly tokens: number;
  readonly perSecond: number;
}

/** A call that needs more is better told that something is wrong. */
const perCall: BucketSize = { tokens: 8, perSecond: 0.2 };
/** All calls of a worker may lose a provider at the same moment. */
const perProcess: BucketSize = { tokens: 512, perSecond: 20 };

class TokenBucket {
  readonly #size: BucketSize;
  #tokens: number;
  #atMs: number | undefined;

  constructor(size: BucketSize) {
    this.#size = size;
    this.#tokens = size.tokens;
  }

  has(nowMs: number): boolean {
    const passedMs = Math.max(0, nowMs - (this.#atMs ?? nowMs));
    this.#atMs = Math.max(nowMs, this.#atMs ?? nowMs);
    this.#tokens = Math.min(this.#size.tokens, this.#tokens + (passedMs * this.#size.perSecond) / 1000);
    return this.#tokens >= 1;
  }

  take(): void {
    this.#tokens -= 1;
  }
}

/** What a stage asks before it tries again. */
export interface RetryBudget {
  take(context: StageContext): boolean;
}

/** Providers and keys of a process that have budgets of their own. */
const mostKeys = 1_024;

export class RetryBudgets implements RetryBudget {
  readonly #process: TokenBucket;
  readonly #processSize: BucketSize;
  readonly #keys = new Map<string, TokenBucket>();
  readonly #callSize: BucketSize;
  /** A call is known by the context that it lends to its stages. */
  readonly #calls = new WeakMap<StageContext, TokenBucket>();

  constructor(sizes: { readonly call?: BucketSize; readonly process?: BucketSize } = {}) {
    this.#processSize = sizes.process ?? perProcess;
    this.#process = new TokenBucket(this.#processSize);
    this.#callSize = sizes.call ?? perCall;
  }

  /** The budget of a provider and its key; calls have one for all of theirs. */
  of(identity: string): RetryBudget {
    const known = this.#keys.get(identity);
    const bucket = known ?? new TokenBucket(this.#processSize);
    // Those used last are at the end.
    this.#keys.delete(identity);
    this.#keys.set(identity, bucket);
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > mostKeys && oldest !== undefined) this.#keys.delete(oldest);
    return { take: (context) => this.#take(context, bucket) };
  }

  /** True, and counted, when the call and the process have a retry left. */
  take(context: StageContext): boolean {
    return this.#take(context, this.#process);
  }

  #take(context: StageContext, process: TokenBucket): boolean {
    const nowMs = context.clock.now();
    const call = this.#calls.get(context) ?? new TokenBucket(this.#callSize);
    this.#calls.set(context, call);
    if (!call.has(nowMs) || !process.has(nowMs)) return false;
    call.take();
    process.take();
    return true;
  }
}

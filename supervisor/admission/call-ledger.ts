/**
 * What calls hold: a place each, a session of each of their providers, a place of their address.
 * Everything is taken at once and given back by one function. Calls of a supervisor from which this one took over are
 * counted like its own, so that a limit is one of the machine while both are there (decision 0017).
 */
import type { ProviderLimits } from '../../shared/config/server/provider-limits.ts';
import type { CarriedCall } from '../../shared/protocol/takeover.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { AddressLedger } from './address-ledger.ts';
import type { Admission } from './admission.ts';
import { ProviderLedger, type BudgetRefusal } from './provider-limits.ts';

/** Is told of every change; for a supervisor that is about to take over. */
export interface CallLedgerWatcher {
  readonly began: (call: CarriedCall) => void;
  readonly over: (id: number) => void;
  readonly requested: (provider: string, count: number) => void;
}

export interface CallLedgerOptions {
  readonly clock: Clock;
  readonly admission: Admission;
  readonly providerLimits: ProviderLimits;
  /** Providers of which a call that begins now takes a session, by canonical name; requests of calls are counted by then. */
  readonly providers: () => readonly string[];
  /** Calls of one address at the same time; 0 is no limit. */
  readonly maxCallsPerAddress: number;
  /** Something became free. */
  readonly released: () => void;
  /** The number of calls at the supervisor before this one has changed. */
  readonly carriedChanged: () => void;
}

export class CallLedger {
  readonly #options: CallLedgerOptions;
  readonly #addresses: AddressLedger;
  readonly #providers: ProviderLedger;
  readonly #calls = new Map<number, CarriedCall>();
  #watcher: CallLedgerWatcher | undefined;
  #lastId = 0;
  #own = 0;
  #carried = 0;

  constructor(options: CallLedgerOptions) {
    this.#options = options;
    this.#addresses = new AddressLedger({
      offersPerMinute: undefined,
      maxCalls: options.maxCallsPerAddress === 0 ? undefined : options.maxCallsPerAddress,
    });
    this.#providers = new ProviderLedger(options.providerLimits);
  }

  /** Calls of this supervisor, those that are still being judged among them. */
  get own(): number {
    return this.#own;
  }

  /** Calls of the supervisor before this one; each counts as a session, whether or not it has begun. */
  get carried(): number {
    return this.#carried;
  }

  /** Everything that is held, here and at the supervisor before this one. */
  get calls(): Iterable<CarriedCall> {
    return this.#calls.values();
  }

  /** Why the agent's providers have no room for a call; undefined when they have. */
  budgetRefusal(): BudgetRefusal | undefined {
    return this.#providers.refusal(this.#options.providers(), this.#options.clock.now());
  }

  /** Whether the address may have another call. */
  hasRoomFor(address: string): boolean {
    return this.#addresses.hasPlace(address);
  }

  /** Takes everything for one call; undefined when its address has no place left. The function gives all back, once. */
  take(address: string, pool: string): (() => void) | undefined {
    const { clock, providers, released } = this.#options;
    const place = this.#addresses.place(address, clock.now());
    if (place === undefined) return undefined;
    this.#own += 1;
    const leave = this.#hold({ address, providers: [...providers()], pool }, () =>
      place.release(clock.now()),
    );
    return () => {
      if (!leave()) return;
      this.#own -= 1;
      released();
    };
  }

  /** Counts a call that runs at the supervisor before this one. Nothing refuses it: it is there. */
  carry({ address, providers, pool }: Omit<CarriedCall, 'id'>): () => void {
    const { clock, released, carriedChanged } = this.#options;
    const place = this.#addresses.place(address, clock.now());
    const leave = this.#hold({ address, providers, pool }, () => place?.release(clock.now()));
    this.#carried += 1;
    carriedChanged();
    return () => {
      if (!leave()) return;
      this.#carried -= 1;
      carriedChanged();
      released();
    };
  }

  /** Counts requests that calls sent to a provider, `agoS` seconds ago. */
  requested(provider: string, count: number, { agoS }: { readonly agoS: number } = { agoS: 0 }): void {
    this.#providers.requested(provider, this.#options.clock.now() - agoS * 1000, { count });
    this.#watcher?.requested(provider, count);
  }

  /** Requests of the last minute, by provider: how many seconds ago and how many, oldest first. */
  recentRequests(): ReadonlyMap<string, (readonly [agoS: number, count: number])[]> {
    return this.#providers.recentRequests(this.#options.clock.now());
  }

  /** One watcher at a time; undefined ends the watch. */
  watch(watcher: CallLedgerWatcher | undefined): void {
    this.#watcher = watcher;
  }

  /** The function says whether it was the first time. */
  #hold(call: Omit<CarriedCall, 'id'>, freeAddress: () => void): () => boolean {
    const { admission } = this.#options;
    this.#lastId += 1;
    const id = this.#lastId;
    admission.take(call.pool);
    this.#providers.take(call.providers);
    this.#calls.set(id, { id, ...call });
    this.#watcher?.began({ id, ...call });
    return () => {
      if (!this.#calls.delete(id)) return false;
      freeAddress();
      admission.release(call.pool);
      this.#providers.release(call.providers);
      this.#watcher?.over(id);
      return true;
    };
  }
}

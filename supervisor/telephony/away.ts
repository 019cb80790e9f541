/**
 * Calls that have left the agent: who somebody else has, or may have, and what each goes on with when it comes back on another stream.
 * Kept in memory and bounded; a call that is forgotten here begins anew when it comes.
 */
import type { AgentRef } from '../../shared/agents/version.ts';
import type { CarriedCall } from '../../shared/telephony/call-control.ts';

/** Calls that are remembered; of more, the oldest are forgotten. */
const most = 4_096;

/** Nothing is known of what was said, as after a death of the service: the caller is not greeted again all the same. */
export const nothingKnown: CarriedCall = { context: [], after: 'transfer', metadata: {} };

export class CallsAway {
  /** By the carrier's id of the call. */
  readonly #away = new Map<string, CarriedCall>();
  readonly #returning = new Map<string, CarriedCall>();
  readonly #forgotten: () => void;

  /** `forgotten`: a call is, because too many are away. */
  constructor({ forgotten }: { readonly forgotten: () => void }) {
    this.#forgotten = forgotten;
  }

  /** Somebody else has the call from now on, as far as anybody knows. */
  leaves(callId: string, carried: CarriedCall = nothingKnown): void {
    this.#away.set(callId, carried);
    if (bound(this.#away)) this.#forgotten();
  }

  /** Its next stream is expected. */
  returns(callId: string, carried: CarriedCall = this.#away.get(callId) ?? nothingKnown): void {
    this.#returning.set(callId, carried);
    if (bound(this.#returning)) this.#forgotten();
  }

  /** Its next stream is here: what it goes on with; undefined where it was not away. */
  arrives(callId: string): CarriedCall | undefined {
    const carried = this.#returning.get(callId);
    if (carried !== undefined) this.forget(callId);
    return carried;
  }

  /** Its next stream is at another host: what it goes on with. Nobody hangs it up here. */
  goesElsewhere(callId: string): CarriedCall | undefined {
    const carried = this.#returning.get(callId);
    if (carried === undefined) return undefined;
    this.#returning.delete(callId);
    this.leaves(callId);
    return carried;
  }

  /** The versions of agents that calls go on with. */
  get agents(): readonly AgentRef[] {
    return [...this.#away.values(), ...this.#returning.values()].flatMap(({ agent }) => agent ?? []);
  }

  isAway(callId: string): boolean {
    return this.#away.has(callId);
  }

  isReturning(callId: string): boolean {
    return this.#returning.has(callId);
  }

  /** It never left, it is back, or it is over. */
  forget(callId: string): void {
    this.#away.delete(callId);
    this.#returning.delete(callId);
  }
}

/** Forgets the oldest of too many; whether there were. */
export function bound(calls: Map<string, unknown> | Set<string>): boolean {
  let isOver = false;
  for (const oldest of calls.keys()) {
    if (calls.size <= most) break;
    isOver = calls.delete(oldest);
  }
  return isOver;
}

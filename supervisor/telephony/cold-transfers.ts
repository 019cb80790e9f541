/**
 * Cold transfers beyond their request (decision 0071): what becomes of the destination's leg, and a caller whom nobody took. Such a caller
 * comes back to the agent.
 *
 * Invariant: a caller is brought back only when the leg is known to be over, or never to have been dialled, and only once the agent's stream
 * is over; a caller who talked with the destination is not brought back.
 */
import type { CarrierOutcome, ControlCommand } from '../../shared/telephony/call-control.ts';
import { bound, type CallsAway } from './away.ts';
import type { Carrier } from './carrier.ts';

type Transfer = Extract<ControlCommand, { type: 'transfer' }>;

export interface ColdTransfersOptions {
  readonly away: CallsAway;
  /** Opens a stream of the agent for a call of Telnyx. */
  readonly bringBack: (callId: string) => void;
  /** Ends the stream of the agent, which nobody is to hear over a talk. */
  readonly endStream: (callId: string) => void;
}

export class ColdTransfers {
  readonly #options: ColdTransfersOptions;
  /** Calls on a stream of the agent. */
  readonly #here = new Set<string>();
  /** Of these, calls that the agent is about to leave. */
  readonly #leaving = new Set<string>();
  /** Calls whose destination has answered. */
  readonly #taken = new Set<string>();
  /** Calls whose leg was over while the agent was still leaving. */
  readonly #alone = new Set<string>();

  constructor(options: ColdTransfersOptions) {
    this.#options = options;
  }

  async give(carrier: Carrier, { callId, commandId, to, from, carried }: Transfer): Promise<CarrierOutcome> {
    const { away } = this.#options;
    away.leaves(callId, carried);
    this.#leaving.add(callId);
    bound(this.#leaving);
    const outcome = await carrier.transfer(callId, { commandId, to, ...(from !== undefined && { from }) });
    if (outcome.kind === 'ok') return outcome;
    if (outcome.kind === 'unknown' && outcome.isAlone === true) this.#leftAlone(callId);
    else {
      // The agent goes on with the caller, as long as nobody else turns out to have them.
      this.#leaving.delete(callId);
      if (outcome.kind === 'refused' || this.#alone.delete(callId)) away.forget(callId);
      else if (this.#taken.has(callId)) this.#options.endStream(callId);
    }
    return outcome.kind === 'unknown' ? { kind: 'unknown' } : outcome;
  }

  /** The agent has the call. */
  streamBegins(callId: string): void {
    this.#here.add(callId);
  }

  /** True when the caller is on the way back to the agent. */
  streamOver(callId: string): boolean {
    this.#here.delete(callId);
    this.#leaving.delete(callId);
    if (!this.#alone.delete(callId)) return false;
    this.#options.bringBack(callId);
    return true;
  }

  /** The destination talks with the caller. */
  legAnswered(callId: string): void {
    this.#taken.add(callId);
    bound(this.#taken);
    // The answer to the transfer was lost, and the agent had gone on.
    if (this.#here.has(callId) && !this.#leaving.has(callId)) this.#options.endStream(callId);
  }

  /** Telnyx: the leg is over. `isCallers`: because the caller hung up. */
  legOver(callId: string, { isCallers }: { readonly isCallers: boolean }): void {
    // Behind a talk the carrier ends the caller's call by itself.
    if (this.#taken.delete(callId)) this.#options.away.forget(callId);
    else if (!isCallers) this.#leftAlone(callId);
  }

  /** Twilio: the dialling is over. True when the caller comes back. */
  dialled(callId: string, status: string): boolean {
    const { away } = this.#options;
    const isTaken = status === 'completed' || status === 'answered';
    if (isTaken) away.forget(callId);
    else away.returns(callId);
    return !isTaken;
  }

  callerGone(callId: string): void {
    this.#options.away.forget(callId);
    this.#taken.delete(callId);
    this.#leaving.delete(callId);
    this.#alone.delete(callId);
  }

  #leftAlone(callId: string): void {
    const { away, bringBack } = this.#options;
    if (!this.#here.has(callId)) bringBack(callId);
    else if (this.#leaving.has(callId)) {
      this.#alone.add(callId);
      bound(this.#alone);
    } else away.forget(callId);
  }
}

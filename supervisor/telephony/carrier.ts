/**
 * What the service asks of a carrier, whichever it is: one contract, an adapter each. Every command says in the end that it was done,
 * that it was refused and nothing has happened, or that nobody knows. No adapter tries a command again that may have been done.
 */
import type { CarrierName, CarrierOutcome, ControlMeans } from '../../shared/protocol/call-control.ts';

/** A command whose answer names what was made: a leg, a conference. */
export type MadeOutcome =
  { readonly kind: 'ok'; readonly id: string } | Exclude<CarrierOutcome, { readonly kind: 'ok' }>;

export interface ColdTransfer {
  readonly commandId: string;
  readonly to: string;
  readonly from?: string;
}

/** A call of our own making: a leg to a destination, or to somebody whom the bot calls. */
export interface Ring {
  readonly commandId: string;
  readonly to: string;
  readonly from: string;
  /** Names the saga or the call in what the carrier tells of the leg. */
  readonly tag: string;
  /** `destination`: it waits in silence for `acceptS`. `bot`: it is connected to the bot. */
  readonly purpose: 'destination' | 'bot';
  readonly acceptS: number;
  readonly ringS: number;
}

export interface Carrier {
  readonly name: CarrierName;
  readonly means: ControlMeans;
  hangUp(callId: string, commandId: string): Promise<CarrierOutcome>;
  transfer(callId: string, transfer: ColdTransfer): Promise<CarrierOutcome>;
  /** Keys in upper case, with `w` and `W` as pauses. */
  pressKeys(
    callId: string,
    keys: { readonly commandId: string; readonly digits: string },
  ): Promise<CarrierOutcome>;
}

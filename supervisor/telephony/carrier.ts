/**
 * What the service asks of a carrier, whichever it is: one contract, an adapter each. Every command says in the end that it was done,
 * that it was refused and nothing has happened, or that nobody knows. No adapter tries a command again that may have been done.
 */
import type { MachineDetection } from '../../shared/telephony/callback-api.ts';
import type {
  CarrierName,
  CarrierOutcome,
  ControlCapabilities,
} from '../../shared/telephony/call-control.ts';

/** A command whose answer names what was made: a leg, a conference. */
export type MadeOutcome =
  { readonly kind: 'ok'; readonly id: string } | Exclude<CarrierOutcome, { readonly kind: 'ok' }>;

/** `isAlone`: no transfer was made, and the agent's stream is gone. */
export type ColdOutcome =
  | Exclude<CarrierOutcome, { readonly kind: 'unknown' }>
  | { readonly kind: 'unknown'; readonly isAlone?: true };

export interface ColdTransfer {
  readonly commandId: string;
  readonly to: string;
  readonly from?: string;
}

/** A leg to a destination, outside of the conference. */
export interface Ring {
  readonly commandId: string;
  readonly to: string;
  readonly from: string;
  /** Names the transfer in what the carrier tells of the leg. */
  readonly tag: string;
  /** How long it waits in silence once somebody has answered. */
  readonly acceptS: number;
  readonly ringS: number;
}

export interface Carrier {
  readonly name: CarrierName;
  readonly capabilities: ControlCapabilities;
  hangUp(callId: string, commandId: string): Promise<CarrierOutcome>;
  transfer(callId: string, transfer: ColdTransfer): Promise<ColdOutcome>;
  /** Keys in upper case, with `w` and `W` as pauses. */
  pressKeys(
    callId: string,
    keys: { readonly commandId: string; readonly digits: string },
  ): Promise<CarrierOutcome>;
}

/** The steps of a warm transfer (docs/telephony.md, Warm transfers). */
export interface WarmCarrier {
  /** Puts the caller on hold in a conference; its id, where the carrier gives one. */
  park(callId: string, given: { readonly tag: string; readonly commandId: string }): Promise<StepAnswer>;
  ring(ring: Ring): Promise<StepAnswer>;
  /** The destination hears the summary, then both meet. */
  /** `meets`: the carrier tells when the two are together. */
  join(legId: string, given: Join): Promise<CarrierOutcome | { readonly kind: 'ok'; readonly meets: true }>;
  hangUp(callId: string, commandId: string): Promise<CarrierOutcome>;
  /** Connects the caller to the agent again. */
  putBack(
    callId: string,
    given: {
      /** Empty where nobody knows it. */
      readonly conference: string;
      readonly tag: string;
      readonly commandId: string;
    },
  ): Promise<CarrierOutcome>;
  /** Whether a call is known to be over. */
  isOver(callId: string): Promise<boolean>;
}

type StepAnswer = MadeOutcome | { readonly kind: 'ok'; readonly id?: string };

export interface Join {
  readonly tag: string;
  readonly conference: string;
  readonly text: string;
  readonly language: string;
  readonly commandId: string;
}

/** A call that the service makes. */
export interface Dial {
  /** Names it in what the carrier tells. */
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly ringS: number;
  /** Whether the carrier finds out who answers. */
  readonly detection: MachineDetection;
}

/** How calls are made. Carriers that ask what to do when somebody has answered are told then; the others by `connect` and `say`. */
export interface OutboundCarrier {
  readonly name: CarrierName;
  dial(dial: Dial): Promise<MadeOutcome>;
  connect?(
    callId: string,
    given: {
      readonly id: string;
      readonly parameters: Readonly<Record<string, string>>;
      /** What the service says of the call beside them; where a stream follows, that is told of it when it comes. */
      readonly signed?: Readonly<Record<string, string>>;
    },
  ): Promise<CarrierOutcome>;
  say?(
    callId: string,
    given: { readonly id: string; readonly text: string; readonly language: string },
  ): Promise<CarrierOutcome>;
  hangUp(callId: string, commandId: string): Promise<CarrierOutcome>;
}

/** SIP, where it is on: its calls have no stream that another carrier would have to be asked for. */
export interface SipAsCarrier extends Carrier, OutboundCarrier {
  /** It has a trunk. */
  readonly canDial: boolean;
  hangUp(callId: string): Promise<CarrierOutcome>;
}

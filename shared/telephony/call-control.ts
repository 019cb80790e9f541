/**
 * What a call may ask of its carrier (docs/telephony.md, Transfers and keys): commands with ids, which are done once however often they
 * are asked for, and their outcomes. Workers ask, the supervisor performs: it outlives the streams that a transfer ends.
 */
import type { AgentRef } from '../agents/version.ts';
import type { Millis } from '../base/units.ts';

/** Carriers whose calls can be controlled, by the transport of their calls; SIP counts as one. */
export const carrierNames = ['carrier_a', 'carrier_b', 'sip'] as const;
export type CarrierName = (typeof carrierNames)[number];

/** What calls of a carrier can be made to do. */
export interface ControlCapabilities {
  readonly transfer: boolean;
  readonly warm: boolean;
  readonly keys: boolean;
}

/** Why a carrier, or the service, does not do a command. Nothing of it has happened. */
export type RefusedCode =
  /** The carrier says no: the call is over, or it may not be done. */
  | 'rejected'
  /** Nobody could be asked, or too much is asked at present. */
  | 'unavailable'
  /** The carrier cannot read what it is asked. */
  | 'invalid_argument'
  | 'unsupported';

/** Where a caller is who had left the agent for a warm transfer that was not made. */
export type CallerLeft =
  { readonly where: 'returning' } | { readonly where: 'parked'; readonly handle: string };

export type CarrierOutcome =
  /** `message`: what is said to the machine that has answered. */
  | { readonly kind: 'ok'; readonly message?: string }
  /** `gone`: because the call is over. */
  | {
      readonly kind: 'refused';
      readonly code: RefusedCode;
      readonly gone?: true;
      readonly left?: CallerLeft;
    }
  /** It may have happened. `handle` names a parked caller to an operator. */
  | { readonly kind: 'unknown'; readonly handle?: string };

/** What is said before a call that comes back on another stream goes on. */
export interface CarriedCall {
  /** The conversation so far. */
  readonly context: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly text: string }[];
  /** What came with the call, but for what the server itself says of it. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The version of its agent, in a service of many. */
  readonly agent?: AgentRef;
  /** Why it is back: what the agent says first depends on it. */
  readonly after: 'keys' | 'transfer';
}

interface ControlCommandBase {
  /** Names the command: the same one is done once and answered as often as it is asked for. */
  readonly commandId: string;
  readonly carrier: CarrierName;
  /** The carrier's own id of the call. */
  readonly callId: string;
}

/** What a call goes on with that comes back. */
interface Carries {
  readonly carried: CarriedCall;
}

export type ControlCommand = ControlCommandBase &
  (
    | (Carries & {
        readonly type: 'transfer';
        /** From 1; a later one is done although the outcome of an earlier one was lost. */
        readonly attempt: number;
        readonly mode: 'cold' | 'warm';
        /** E.164. */
        readonly to: string;
        /** What the agent file calls it; absent: the agent gave a number. */
        readonly destination?: string;
        /** What the destination sees; absent: the carrier's own choice. */
        readonly from?: string;
        readonly summary: string;
        readonly language: string;
      })
    | (Carries & { readonly type: 'keys'; readonly digits: string })
    /** Nothing is asked of the carrier: the service listened to who answered a call that it made, or has left its message. */
    | { readonly type: 'answered'; readonly outbound: string; readonly by: AnsweredBy }
  );

/** What a carrier is asked for. */
export type CarrierCommand = Exclude<ControlCommand, { readonly type: 'answered' }>;

export type AnsweredBy = 'person' | 'machine' | 'beep' | 'spoken';

/** Key of a call's metadata: the call that the service made, where the service finds out by itself who answers. */
export const screeningKey = 'outbound_screening';

/** Key of a call's metadata that says `outbound` of a call that the service made; the server sets it. */
export const directionKey = 'session.direction';

/** Who has called whom. */
export const directionOf = (metadata: Readonly<Record<string, string>>): 'inbound' | 'outbound' =>
  metadata[directionKey] === 'outbound' ? 'outbound' : 'inbound';

/** Provider budget of one command (docs/reference/agent-file.md, `transfer_timeout_ms`). */
export const controlBudgetMs: Millis = 40_000;

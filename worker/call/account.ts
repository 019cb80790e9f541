/** Who keeps account of a call for its record, from its `start` to its end: more than observers, who come with the conversation. */
import type { AdmittedStart } from './admission.ts';
import type { CallObserver } from './observer.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { CallRefusal } from '../../shared/protocol/call.ts';
import type { EndCause } from '../core/course.ts';
import type { HeardLine, TransportEnd } from '../transports/transport.ts';

/** How a call was over, as its runner knows it. */
export interface CallOver {
  readonly end: TransportEnd;
  /** Why the engine ended it, where it did. */
  readonly engine: 'ended' | 'shutdown' | 'transferred';
  readonly cause?: EndCause | undefined;
  /** The call goes on in another stream. */
  readonly isMoved: boolean;
  /** It was not taken. */
  readonly refusal?: CallRefusal | undefined;
  /** Something broke inside. */
  readonly isBroken: boolean;
  /** How the caller's packets arrived. */
  readonly line?: HeardLine | undefined;
}

export interface CallAccount extends CallObserver {
  /** Called once, last. */
  over(over: CallOver, now: Millis): void;
}

export interface AccountedCall {
  readonly start: AdmittedStart & { readonly recordId: string };
  readonly startedAt: Millis;
  /** Another worker had it before, and nobody for so long. */
  readonly silentMs?: Millis;
  /** Agent that the call came to before it was given to this one. */
  readonly insteadOf?: string;
}

export interface Accounts {
  readonly open: (call: AccountedCall) => CallAccount;
  readonly newRecordId: () => string;
}

/** What a SIP call is given beside its engine: the way to the supervisor, which has the signalling, and what another worker left. */
import type { Socket } from 'node:dgram';
import type { Millis } from '../../shared/base/units.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import type { SipOffer } from '../../shared/sip/calls.ts';
import type { Opus } from '../media/opus/opus.ts';
import type { SavedTransport, TransportEvents } from '../transports/transport.ts';

/** Tells the supervisor about a call. */
export interface SipLine {
  /** The call is built. */
  accept(): void;
  refuse(): void;
  hangUp(): void;
  /** Nothing is left of it here. Called once. */
  over(): void;
}

export interface SipCallOptions {
  readonly offer: SipOffer;
  /** For audio; bound, and shared with the supervisor. */
  readonly socket: Socket;
  readonly events: TransportEvents;
  readonly line: SipLine;
  readonly now: () => Millis;
  /** Milliseconds since 1970, for reports. */
  readonly unixMs: () => Millis;
  /** The call's own: an error that is thrown in it ends this call alone. */
  readonly scope: Pick<Scope, 'bind'>;
  /** 32 random bits. */
  readonly random: () => number;
  readonly saved?: SavedTransport | undefined;
  /** Opened where the call has it; the call frees it. */
  readonly opus?: Opus | undefined;
}

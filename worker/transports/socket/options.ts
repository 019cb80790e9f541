/** How a call is opened on an upgraded socket, whatever is spoken there. */
import type { Millis } from '../../../shared/base/units.ts';
import type { CallErrorCode, WsCallLimits } from '../../../shared/protocol/call.ts';
import type { CallTransport, SavedTransport, TransportEvents } from '../transport.ts';
import type { CallSocket } from './call-socket.ts';
import type { Complaint } from './dialect.ts';
import type { ConnectionJournal } from './connection-journal.ts';

/** Sets its handlers before it returns. */
export type OpenSocketCall = (
  ws: CallSocket,
  events: TransportEvents,
  options: SocketCallOptions,
) => CallTransport;

/** What a transport is given beside its socket and its engine. */
export interface SocketCallOptions {
  readonly limits: WsCallLimits;
  readonly journal?: ConnectionJournal | undefined;
  /** What `save` gave in the worker that had the call before. */
  readonly saved?: SavedTransport | undefined;
  /** Set by the server: token claims, transport label. May be empty. */
  readonly signedMetadata: Readonly<Record<string, string>>;
  /** Monotonic milliseconds, the same clock as `tick`'s argument. */
  now(): Millis;
  /** Unix time in milliseconds; absent where no clock of the wall is at hand, as in tests. */
  wallNow?(): number;
  newCallId(): string;
  /** Wraps a callback into the call's scope; after the scope ended the result may do nothing. */
  bind<A extends readonly unknown[]>(callback: (...args: A) => void): (...args: A) => void;
  /** The socket is gone, some time after `ended`; not bound. For counts and for a clean exit. */
  socketClosed?(): void;
  /** The other side says that something is wrong with what it was sent; for the log. */
  complained?(complaint: Complaint): void;
  /** An `error` message went out; for logs and counters. */
  faultSent?(code: CallErrorCode, fatal: boolean, message: string): void;
}

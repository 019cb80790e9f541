/** A place for a call by offer in its worker: a new call, or one that goes on where another worker left it once its connection is there. */
import type { SavedTransport, CallTransport, TransportEvents } from '../transports/transport.ts';
import type { PeerPlace, PeerSite } from './peer-calls.ts';

/** What another worker left, as far as a transport has to know it. */
interface Left<C, R> {
  readonly transport: SavedTransport;
  readonly call: C | undefined;
  readonly resumed: (call: C) => R;
  readonly forget: (slot: number) => void;
}

interface Scoped extends TransportEvents {
  readonly scope: { bind: PeerSite['bind'] };
}

/** `serve` makes the engine of the call with the transport that it is given. */
export function newPeerPlace<C, R>(
  left: Left<C, R> | undefined,
  slot: number,
  serve: (open: (engine: Scoped) => CallTransport) => { resume(left: R): void },
): PeerPlace {
  return {
    saved: left?.transport,
    serve: (open) => {
      const engine = serve((events) =>
        open({
          events,
          bind: (callback) => events.scope.bind(callback),
          connected: () => {
            if (left?.call !== undefined) engine.resume(left.resumed(left.call));
            left?.forget(slot);
          },
        }),
      );
    },
  };
}

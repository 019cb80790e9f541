/** A stage whose sessions are WebSockets to one vendor. It keeps nothing between calls. */
import type { TtsStage } from '../stage.ts';
import { SocketSession } from './socket-session.ts';
import type { Vendor } from './wire.ts';

export function newSocketStage(vendor: Vendor): TtsStage {
  return {
    provider: vendor.provider,
    open: (context, sink) => new SocketSession(vendor, { context, sink }),
    close: () => Promise.resolve(),
  };
}

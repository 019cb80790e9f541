/**
 * What the supervisor says to a client whose worker is gone and whose call nobody can go on with, by transport. It writes from a
 * place where a message of ours can be told from the one before it, and says as little as the protocol allows.
 */
import type { TransportKind } from '../../shared/protocol/ipc.ts';

export interface EndMessage {
  /** The call ends because of a fault. */
  readonly failed: Buffer;
  /** The service stops. */
  readonly shutdown: Buffer;
}

const finalFrame = (opcode: 1 | 8, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x80 | opcode, body.length]), body]);

/** A close frame of WebSocket (RFC 6455, 5.5.1). */
const closeFrame = (code: number): Buffer => finalFrame(8, Buffer.from([code >> 8, code & 0xff]));

/** A shutdown is `stop`, then 1001 (docs/call-protocol.md, Messages). A fault is told by 1011 alone. */
const websocket: EndMessage = {
  failed: closeFrame(1011),
  shutdown: Buffer.concat([
    finalFrame(1, Buffer.from('{"type":"stop","reason":"shutdown"}')),
    closeFrame(1001),
  ]),
};

/** Protocols without a word for an end: a carrier goes on behind the stream once the socket is closed. */
const stream: EndMessage = { failed: closeFrame(1011), shutdown: closeFrame(1001) };

/** What comes by an offer has no socket on which something could be said. */
export const endMessages: Readonly<Record<Exclude<TransportKind, 'webrtc'>, EndMessage>> = {
  websocket,
  carrier_a: stream,
  carrier_b: stream,
  rtvi: stream,
};

/**
 * Sockets of the `ws` library as calls use them: made by an upgrade, or taken over from another process with what it had read.
 */
import type { Socket } from 'node:net';
import { WebSocket, type ServerOptions } from 'ws';
import { assert } from '../../../shared/base/assert.ts';
import { startReading, stopReading } from '../../../shared/runtime/reading.ts';
import type { WsCallLimits } from '../../../shared/protocol/call.ts';
import { readBytes } from './late-frames.ts';
import { StreamRepair } from './stream-repair.ts';

/** The part of the library's class that is not public: how a socket that was upgraded becomes one of its own. */
interface SocketTaker {
  setSocket(socket: Socket, head: Buffer, options: object): void;
}

/** What made the `ws` library close on its own: the peer's close frame, or a frame that it cannot read. */
export type ClosingCause = 'close-frame' | 'too-large' | 'broken-framing';

/**
 * A server-side socket that tells why the library is about to close it, before the close frame is written: an `error`
 * message has to come first, and the engine must not wait for the end of the closing handshake.
 */
export class CallSocket extends WebSocket {
  /** Called at most once, synchronously, with the socket still open for sending. */
  closingHook: ((cause: ClosingCause) => void) | undefined = undefined;
  /** Called with every chunk as soon as it is read, which is before anything of it arrives. */
  readHook: ((chunk: Buffer) => void) | undefined = undefined;
  /** What was read before the hook could be set. */
  earlyBytes: Buffer = Buffer.alloc(0);
  /** Of a stream that another process has read: until it is known to be in step. */
  repair: StreamRepair | undefined = undefined;
  #transport: Socket | undefined;
  #lastReadBytes = 0;

  /**
   * The library calls this with a socket of its own server. A chunk that is read while reading is being paused waits in
   * the socket, where no listener sees it; so the hook stands where chunks come in.
   */
  setSocket(socket: Socket, head: Buffer, options: object): void {
    this.earlyBytes = head;
    this.#transport = socket;
    const push = socket.push.bind(socket);
    socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (!Buffer.isBuffer(chunk)) return push(chunk, encoding);
      this.#lastReadBytes = chunk.length;
      const bytes = this.#repaired(chunk);
      this.readHook?.(bytes);
      return push(bytes, encoding);
    };
    (WebSocket.prototype as unknown as SocketTaker).setSocket.call(this, socket, head, options);
  }

  #repaired(chunk: Buffer): Buffer {
    const bytes = this.repair?.take(chunk) ?? chunk;
    if (this.repair?.isDone === true) this.repair = undefined;
    return bytes;
  }

  /**
   * Reads on after reading was held from the start. Where there is more than one read brings, reading is held again and
   * `held` is called; otherwise it goes on from here.
   */
  readPiece(held: () => void): void {
    const socket = this.#transport;
    if (socket === undefined) return;
    socket.once('data', () => {
      if (this.#lastReadBytes < readBytes) return;
      stopReading(socket);
      held();
    });
    startReading(socket);
  }

  /** Closes by our own decision; the hook stays silent. */
  closeWith(code: number): void {
    this.closingHook = undefined;
    super.close(code);
  }

  /** The library calls this with the peer's code and reason, with nothing, or with the code of a receive error. */
  override close(code?: number, data?: string | Buffer): void {
    const hook = this.closingHook;
    this.closingHook = undefined;
    if (hook !== undefined && this.readyState === WebSocket.OPEN) {
      if (code === undefined || data !== undefined) hook('close-frame');
      else hook(code === 1009 ? 'too-large' : 'broken-framing');
    }
    super.close(code, data);
  }
}

/**
 * Options of the `WebSocketServer` whose sockets {@link openSocketCalls} takes. Frames over the larger limit are
 * refused by their header, before any payload is stored. UTF-8 is checked with the JSON, so that it fails as
 * `invalid_json`. A client that offers `svc` gets it; a token entry is never echoed (docs/call-protocol.md, A call).
 */
export function callSocketServerOptions(limits: WsCallLimits): ServerOptions<typeof CallSocket> {
  const closeTimeout = { closeTimeout: limits.closeGraceMs };
  return {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    skipUTF8Validation: true,
    // Pings are answered within the client's allowance.
    autoPong: false,
    maxPayload: Math.max(limits.maxAudioBytes, limits.maxControlBytes),
    handleProtocols: (offered) => (offered.has('svc') ? 'svc' : false),
    WebSocket: CallSocket,
    ...closeTimeout,
  };
}

/** How the library's own server makes a socket. */
type ServerSideSocket = new (address: null, protocols: undefined, options: object) => CallSocket;

/**
 * A socket whose handshake another process answered. `tail` is what it had read of a message that is not complete.
 * Nothing is read of it until `readPiece`.
 * @throws Error when this version of the library cannot take sockets over.
 */
export function resumeCallSocket(socket: Socket, tail: Buffer, limits: WsCallLimits): CallSocket {
  const { maxPayload, skipUTF8Validation } = callSocketServerOptions(limits);
  const ServerSide = CallSocket as unknown as ServerSideSocket;
  const ws = new ServerSide(null, undefined, { autoPong: false, closeTimeout: limits.closeGraceMs });
  assert('setSocket' in WebSocket.prototype, 'the library can take a socket over');
  ws.repair = new StreamRepair(tail, { mostBytes: Math.max(limits.maxAudioBytes, limits.maxControlBytes) });
  stopReading(socket);
  ws.setSocket(socket, tail, {
    allowSynchronousEvents: true,
    maxPayload,
    skipUTF8Validation,
  });
  return ws;
}

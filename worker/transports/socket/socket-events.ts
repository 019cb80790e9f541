/** The events of a call's socket, each led into the scope of the call. */
import type { RawData } from 'ws';
import type { CallSocket, ClosingCause } from './call-socket.ts';
import type { SocketCallOptions } from './options.ts';

export interface SocketHandlers {
  readonly closing: (cause: ClosingCause) => void;
  readonly read: (chunk: Buffer) => void;
  readonly message: (data: RawData, isBinary: boolean) => void;
  readonly ping: (data: Buffer) => void;
  readonly pong: () => void;
  readonly broken: () => void;
  readonly closed: () => void;
}

export function listenTo(
  ws: CallSocket,
  { bind, socketClosed }: Pick<SocketCallOptions, 'bind' | 'socketClosed'>,
  handlers: SocketHandlers,
): void {
  ws.closingHook = bind(handlers.closing);
  ws.readHook = bind(handlers.read);
  ws.on('message', bind(handlers.message));
  ws.on('ping', bind(handlers.ping));
  ws.on('pong', bind(handlers.pong));
  ws.on('error', bind(handlers.broken));
  ws.on('close', bind(handlers.closed));
  ws.on('close', () => socketClosed?.());
}

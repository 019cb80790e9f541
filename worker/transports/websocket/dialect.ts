/** The WebSocket call protocol itself (docs/call-protocol.md): audio in binary frames, messages as they are. Pure. */
import { decodeClientMessage } from '../../../shared/protocol/call.ts';
import type { SocketDialect } from '../socket/dialect.ts';

/** It keeps nothing, so all calls share one. */
const dialect: SocketDialect = {
  kind: 'websocket',
  audioComesAs: 'binary',
  hear: (text) => ({ type: 'message', message: decodeClientMessage(text) }),
  write: (message) => JSON.stringify(message),
  writeAudio: (frame) => frame,
  save: () => 'null',
};

export const websocketDialect = (): SocketDialect => dialect;

/** The WebSocket handshake of connections that the supervisor let in: what it read of the request comes beside the socket. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import { assert } from '../../../shared/base/assert.ts';
import type { WsCallLimits } from '../../../shared/protocol/call.ts';
import type { CallOffer } from '../../../shared/protocol/ipc.ts';
import { CallSocket, callSocketServerOptions } from './call-socket.ts';

export function newUpgradeServer(limits: WsCallLimits): WebSocketServer {
  const server = new WebSocketServer(callSocketServerOptions(limits));
  // Tokens stand in addresses: no answer to an upgrade may be kept by a cache.
  server.on('headers', (headers) => headers.push('Cache-Control: no-store'));
  return server;
}

/** Finishes the handshake. The library answers a malformed upgrade on its own and closes the socket; nothing is served then. */
export function takeUpgrade(
  server: WebSocketServer,
  { socket, offer }: { readonly socket: Socket; readonly offer: CallOffer },
  serve: (ws: CallSocket) => void,
): void {
  const head = Buffer.from(offer.head, 'base64');
  const { method, url, headers } = offer;
  const request = { method, url, headers, socket } as unknown as IncomingMessage;
  server.handleUpgrade(request, socket, head, (ws) => {
    assert(ws instanceof CallSocket, 'the server makes sockets of the class it was given');
    serve(ws);
  });
}

/** A WebSocket server of the demo, which has a bounded number of connections with messages of a bounded size. */
import type { IncomingMessage } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';

const maxFrameBytes = 1_048_576;

export interface DemoServerOptions {
  readonly host: string;
  readonly port: number;
  /** The server answers upgrades of this path alone; without it, of every path. */
  readonly path?: string;
  readonly maxConnections: number;
}

/** Starts listening; rejects when the port is taken. */
export function openWebSocketServer(
  { maxConnections, ...address }: DemoServerOptions,
  serve: (socket: WebSocket) => void,
): Promise<WebSocketServer> {
  return new Promise((resolve, reject) => {
    const server: WebSocketServer = new WebSocketServer({
      ...address,
      maxPayload: maxFrameBytes,
      perMessageDeflate: false,
      verifyClient: (
        _info: { req: IncomingMessage },
        done: (accepted: boolean, status?: number, message?: string) => void,
      ) => (server.clients.size < maxConnections ? done(true) : done(false, 503, 'too many connections')),
    });
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      resolve(server);
    });
    server.on('connection', serve);
  });
}

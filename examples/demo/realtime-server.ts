/**
 * The speaking model: a WebSocket server with OpenAI's realtime protocol at `/v1/realtime`, made of the demo's ear, mind and voice.
 *
 * Invariant: a connection is one conversation of at most an hour, and nothing is kept of it behind its end.
 */
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import { openWebSocketServer } from './websocket-server.ts';
import { RealtimeSession, type RealtimeEngines } from './realtime-session.ts';

const maxConnections = 256;
/** A client that does not read what it asked for. */
const mostUnreadBytes = 16_777_216;

const closeExpired = 1001;
const closeSlow = 1013;

const textOf = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString('utf8');

function serve(socket: WebSocket, engines: RealtimeEngines): void {
  const session = new RealtimeSession(engines, (event) => {
    if (socket.bufferedAmount > mostUnreadBytes) socket.close(closeSlow, 'too much is unread');
    else socket.send(JSON.stringify(event));
  });
  const end = setTimeout(() => {
    session.expire();
    socket.close(closeExpired, 'Your session hit the maximum duration of 60 minutes.');
  }, session.endsInMs);
  end.unref();
  socket.on('message', (data) => session.take(textOf(data)));
  socket.on('close', () => {
    clearTimeout(end);
    session.close();
  });
  socket.on('error', () => socket.terminate());
}

/** Starts listening; rejects when the port is taken. */
export function startRealtimeServer(
  engines: RealtimeEngines,
  address: { host: string; port: number },
): Promise<WebSocketServer> {
  return openWebSocketServer({ ...address, path: '/v1/realtime', maxConnections }, (socket) =>
    serve(socket, engines),
  );
}

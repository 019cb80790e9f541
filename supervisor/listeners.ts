/**
 * The listening sockets for calls. An upgrade is checked and then handed over with its socket; everything else gets an HTTP
 * answer. The path of the generic WebSocket listener is not inspected (spec 01, Endpoints).
 */
import { createServer, STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import { Socket, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { assert } from '../shared/base/assert.ts';
import type { HostPort } from '../shared/net/address.ts';
import type { CallOffer } from '../shared/protocol/ipc.ts';
import type { Answer, Decision, Arrival } from './front-door.ts';

/** Largest request head (spec 01, Limits). */
const maxHeadBytes = 8 * 1024;
/** A client has this long to send its request head. */
const headTimeoutMs = 5_000;

/** The part of Node's socket that is not public: reading must stop before anything else, or early frames are lost. */
interface ReadStoppable {
  readonly _handle?: { readStop?: () => number } | null;
}

export interface CallListenerOptions {
  readonly addr: HostPort;
  readonly decide: (arrival: Arrival) => Promise<Decision>;
  /** `release` gives the call's slot back. */
  readonly accepted: (
    socket: Socket,
    request: Omit<CallOffer, 'type' | 'offer'>,
    release: () => void,
  ) => void;
  /** The decision itself failed: a bug, answered with 500. */
  readonly failed: (error: unknown) => void;
}

/** Opens the WebSocket listener. Resolves with the address in use; rejects when it cannot be bound. */
export async function openCallListener(
  options: CallListenerOptions,
): Promise<{ server: Server; address: string }> {
  const server = createServer({
    maxHeaderSize: maxHeadBytes,
    headersTimeout: headTimeoutMs,
    requestTimeout: headTimeoutMs,
    connectionsCheckingInterval: headTimeoutMs / 5,
  });
  server.on('request', (request, response) => {
    response.writeHead(426, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      Upgrade: 'websocket',
      Connection: 'Upgrade, close',
    });
    response.end(errorBody('upgrade_required', 'this port speaks the WebSocket call protocol'));
    request.resume();
  });
  server.on('upgrade', (request, socket, head) => {
    assert(socket instanceof Socket, 'a plain listener accepts plain sockets');
    onUpgrade(request, { socket, head, options });
  });
  return { server, address: await listen(server, options.addr) };
}

function onUpgrade(
  request: IncomingMessage,
  at: { socket: Socket; head: Buffer; options: CallListenerOptions },
): void {
  const { socket, head, options } = at;
  stopReading(socket);
  // A reset while the decision is made must not end the process; the hand-over notices the dead socket.
  socket.on('error', () => undefined);
  const method = request.method ?? 'GET';
  const arrival: Arrival = {
    method,
    head: { url: request.url ?? '/', headers: plainHeaders(request) },
    peer: socket.remoteAddress,
  };
  options.decide(arrival).then(
    (decision) => {
      if (decision.kind === 'refused') {
        refuseUpgrade(socket, decision.answer);
        return;
      }
      const { signedMetadata, release } = decision;
      if (socket.destroyed) {
        release();
        return;
      }
      const { url, headers } = decision.head;
      options.accepted(
        socket,
        { method, url, headers: { ...headers }, head: head.toString('base64'), signedMetadata },
        release,
      );
    },
    (error: unknown) => {
      options.failed(error);
      refuseUpgrade(socket, serverError);
    },
  );
}

const serverError: Answer = { status: 500, code: 'server_error', message: 'the call could not be built' };

/** Stops reading at once: Node reads on while it sends a socket to another process, and throws away what it read. */
function stopReading(socket: Socket): void {
  const stop = (socket as ReadStoppable)._handle?.readStop;
  assert(typeof stop === 'function', 'this version of Node can stop reading a socket');
  stop.call((socket as ReadStoppable)._handle);
}

function plainHeaders(request: IncomingMessage): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) headers[name] = value;
  return headers;
}

/** Answers an upgrade with a status, and closes. Nothing is said about what the client sent. */
export function refuseUpgrade(socket: Duplex, answer: Answer): void {
  const body = errorBody(answer.code, answer.message);
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    Connection: 'close',
  };
  if (answer.retryAfterS !== undefined) headers['Retry-After'] = String(answer.retryAfterS);
  if (answer.status === 401) headers['WWW-Authenticate'] = 'Bearer';
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n`;
  socket.end(`${head}${lines.join('')}\r\n${body}`, () => socket.destroy());
}

export const errorBody = (code: string, message: string): string => `${JSON.stringify({ code, message })}\n`;

/** Binds a server. Resolves with `host:port` as it is in force. */
export function listen(server: Server, { host, port }: HostPort): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      const address = server.address() as AddressInfo;
      resolve(`${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`);
    });
  });
}

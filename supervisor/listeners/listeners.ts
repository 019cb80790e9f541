/**
 * The listening sockets for calls. An upgrade is checked and then handed over with its socket; everything else gets an HTTP
 * answer. The path of the generic WebSocket listener is not inspected (docs/call-protocol.md, A call).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, Socket, type AddressInfo } from 'node:net';
import { assert } from '../../shared/base/assert.ts';
import type { HostPort } from '../../shared/net/address.ts';
import type { CallOffer } from '../../shared/protocol/ipc.ts';
import { machineMs } from '../../shared/runtime/monotonic.ts';
import { stopReading } from '../../shared/runtime/reading.ts';
import type { Release } from '../handover/open-offer.ts';
import { answerHeaders, errorBody, refuse, refuseUpgrade } from '../http/answer.ts';
import { refusal, refusals, type Answer } from '../http/refusals.ts';
import type { Decision, Arrival } from './front-door.ts';
import { headOf, headTooLarge, parsedHeadBytes, requestFault, upgradeFault } from './request-form.ts';

/** A client has this long to send its request head. */
const headTimeoutMs = 5_000;
/** Connections that have sent no request head yet. */
const maxSilent = 1_024;
/** Requests that one connection may send, so that none keeps a place for ever. */
const maxRequestsPerConnection = 100;

/** A request for an upgrade. Reading of its socket has been stopped. */
export interface Arrived {
  readonly arrival: Arrival;
  readonly socket: Socket;
  /** Bytes that followed the request head. */
  readonly bytes: Buffer;
}

export interface CallListenerOptions {
  /** Where to listen: an address, or a listening socket that another process gave away. */
  readonly at: HostPort | NetServer;
  readonly name: string;
  readonly arrived: (arrived: Arrived) => void;
}

export interface OpenListener {
  readonly server: NetServer;
  /** `host:port` as it is in force. */
  readonly address: string;
  /** Connections that still wait for an answer or may ask for something. */
  readonly connections: () => number;
}

/** Opens the WebSocket listener. Rejects when its address cannot be bound. */
export async function openCallListener(options: CallListenerOptions): Promise<OpenListener> {
  const { server, silent } = newGuardedServer((_request, response) => {
    const body = errorBody(refusals.upgrade_required);
    response.writeHead(refusals.upgrade_required.status, {
      ...answerHeaders(body),
      Upgrade: 'websocket',
      Connection: 'Upgrade, close',
    });
    response.end(body);
  });
  takeUpgrades({ server, silent, listener: options.name }, options.arrived);
  return { server, address: await listen(server, options.at), connections: () => silent.size };
}

/** Passes on every request for an upgrade, with its socket. */
export function takeUpgrades(
  { server, silent, listener }: GuardedServer & Pick<Arrival, 'listener'>,
  arrived: CallListenerOptions['arrived'],
): void {
  server.on('upgrade', (request, socket, bytes) => {
    assert(socket instanceof Socket, 'a plain listener accepts plain sockets');
    if (silent.isAnswering(socket)) {
      socket.destroySoon();
      return;
    }
    silent.spoke(socket);
    // Before anything else, or early frames are lost: Node reads on while it sends a socket to another process, and throws away what it read.
    stopReading(socket);
    // A reset while the decision is made must not end the process; the hand-over notices the dead socket.
    socket.on('error', () => undefined);
    arrived({ arrival: arrivalOf(request, socket, listener), socket, bytes });
  });
}

interface GuardedServer {
  readonly server: Server;
  readonly silent: SilentConnections;
}

/**
 * An HTTP server that strangers may talk to: request heads have a limit in size and time, what cannot be read or breaks the form gets
 * an answer of ours, and connections that say nothing take no place from those that do. `answer` gets all other requests.
 */
export function newGuardedServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): GuardedServer {
  const server = createServer({
    maxHeaderSize: parsedHeadBytes,
    headersTimeout: headTimeoutMs,
    requestTimeout: headTimeoutMs,
    connectionsCheckingInterval: headTimeoutMs / 5,
    // Node's own answer to a request without Host could not be kept from caches.
    requireHostHeader: false,
  });
  server.maxRequestsPerSocket = maxRequestsPerConnection;
  const silent = new SilentConnections(server);
  server.on('request', (request, response) => {
    request.resume();
    const fault = requestFault(request);
    if (fault === undefined) answer(request, response);
    else refuse(response, fault);
  });
  // Node would close it without a word.
  server.on('connect', (_request, socket) => {
    socket.on('error', () => undefined);
    refuseUpgrade(socket, noTunnel);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const isAnswered = socket instanceof Socket && socket.bytesWritten > 0;
    if (isAnswered || !socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else refuseUpgrade(socket, unreadable[error.code ?? ''] ?? refusals.bad_request);
  });
  return { server, silent };
}

const noTunnel = refusal('method_not_allowed', {
  message: 'this is no proxy',
  headers: { Allow: 'GET' },
});

/** Answers to what the parser gives up, by its code. */
const unreadable: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: headTooLarge,
  ERR_HTTP_REQUEST_TIMEOUT: refusal('head_too_slow', {
    message: `a request must be complete within ${headTimeoutMs / 1000} s`,
  }),
};

/**
 * Connections that the server waits for. When there are too many, the one that has been silent for longest is cut off: a
 * flood of them costs neither the descriptors that calls need nor the place of a client that speaks at once.
 */
class SilentConnections {
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    server.on('connection', (socket) => {
      socket.once('close', () => this.#sockets.delete(socket));
      this.#wait(socket);
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      this.spoke(socket);
      response.once('finish', () => {
        if (!socket.destroyed) this.#wait(socket);
      });
    });
  }

  get size(): number {
    return this.#sockets.size;
  }

  /** A request came before on this connection, and its answer is not sent yet or ends it. */
  isAnswering(socket: Socket): boolean {
    return !this.#sockets.has(socket) || !socket.writable;
  }

  /** Its request head is here. */
  spoke(socket: Socket): void {
    this.#sockets.delete(socket);
  }

  #wait(socket: Socket): void {
    this.#sockets.add(socket);
    for (const oldest of this.#sockets) {
      if (this.#sockets.size <= maxSilent) return;
      this.#sockets.delete(oldest);
      oldest.destroy();
    }
  }
}

export function arrivalOf(request: IncomingMessage, socket: Socket, listener: Arrival['listener']): Arrival {
  const fault = upgradeFault(request);
  return {
    listener,
    ...(fault !== undefined && { fault }),
    method: request.method ?? 'GET',
    head: headOf(request),
    // A system call: a request that is refused before anybody asks for it is refused sooner.
    get peer() {
      return socket.remoteAddress;
    },
  };
}

export interface Judge {
  readonly decide: (arrival: Arrival) => Promise<Decision>;
  /** `release` gives the call's slot back. */
  readonly accepted: (socket: Socket, request: Omit<CallOffer, 'type' | 'offer'>, release: Release) => void;
  /** The decision itself failed: a bug, answered with 500. */
  readonly failed: (error: unknown) => void;
}

/** Has an arrival judged, and answers or accepts it. */
export function judge({ arrival, socket, bytes }: Arrived, options: Judge): void {
  options.decide(arrival).then(
    (decision) => {
      if (decision.kind === 'refused') {
        refuseUpgrade(socket, decision.answer);
        return;
      }
      const { transport, signedMetadata, release, maxS } = decision;
      if (socket.destroyed) {
        release();
        return;
      }
      const { url, headers } = decision.head;
      const head = bytes.toString('base64');
      // The library wants the one name that counted in what may have been a list.
      const upgrade = { ...headers, upgrade: 'websocket' };
      const request = {
        transport,
        method: arrival.method,
        url,
        headers: upgrade,
        head,
        signedMetadata,
        ...(maxS !== undefined && { endsAtMs: machineMs() + maxS * 1000 }),
      };
      options.accepted(socket, request, release);
    },
    (error: unknown) => {
      options.failed(error);
      refuseUpgrade(socket, refusals.server_error);
    },
  );
}

/** Binds a server, or has it accept on a socket that listens already. Resolves with `host:port` as it is in force. */
export function listen(server: NetServer, at: HostPort | NetServer): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(at, () => {
      server.off('error', reject);
      // A connection that cannot be accepted (no descriptor left, say) must not end the process; the next one may be.
      server.on('error', () => undefined);
      const address = server.address() as AddressInfo;
      resolve(`${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`);
    });
  });
}

/**
 * Stops accepting, and keeps the connections that are there: the limits in time that a server watches over hold on for them.
 * Where another process has the listening socket too, it goes on accepting.
 */
export function stopAccepting(server: NetServer): void {
  // The close of an HTTP server would cut idle connections, a request on its way among them.
  NetServer.prototype.close.call(server);
}

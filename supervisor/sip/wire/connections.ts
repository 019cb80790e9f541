/**
 * SIP over TCP and TLS: connections of peers, bounded in number, in silence, and in the time until the first whole request. Where there
 * are too many, a new one is closed: those that are there may have calls.
 */
import {
  connect as connectTcp,
  createServer as createTcpServer,
  isIP,
  type Server,
  type Socket,
} from 'node:net';
import { connect as connectTls, createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import type { HostPort } from '../../../shared/net/address.ts';
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import type { Source } from '../../../shared/sip/message/write.ts';
import type { Parsed } from '../../../shared/sip/message/parse.ts';
import { StreamFrames } from '../../../shared/sip/message/stream.ts';
import type { Certificate } from './certificate.ts';
import { plain } from './datagrams.ts';

export interface StreamFlow {
  readonly connection: number;
  readonly protocol: 'TCP' | 'TLS';
  readonly source: Source;
  readonly localAddress: string;
}

export interface ConnectionsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly maxConnections: number;
  readonly handshakeTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly received: (parsed: Parsed, flow: StreamFlow) => void;
  readonly closed: (connection: number) => void;
  /** A call runs over it: its silence is no idleness. */
  readonly isNeeded: (connection: number) => boolean;
  /** A request that did not come in time. */
  readonly late: () => void;
  /** There are as many as there may be. */
  readonly full: () => void;
}

interface Connection {
  readonly socket: Socket;
  readonly flow: StreamFlow;
  readonly frames: StreamFrames;
  /** Nobody keeps a place by pings alone. */
  hasSpoken: boolean;
  timer: Timer | undefined;
}

/** Output that a peer does not read. */
const mostUnsentBytes = 256 * 1024;

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<number, Connection>();
  readonly #servers = new Map<'TCP' | 'TLS', Server>();
  /** Connections that this side has made, by whom they lead to. */
  readonly #made = new Map<string, number>();
  /** Accepted and not yet closed, those that still shake hands among them. */
  #count = 0;
  #last = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  /** Rejects when the address cannot be bound. Resolves with the port. */
  listen(at: HostPort, tls?: Certificate): Promise<number> {
    const server = createTcpServer();
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(at, () => {
        server.off('error', reject);
        resolve(this.accept(server, tls));
      });
    });
  }

  /** Accepts on a socket that listens, from this very moment on. Returns its port. */
  accept(server: Server, tls?: Certificate): number {
    const take = (socket: Socket): void => {
      const id = this.#take(socket, tls === undefined ? 'TCP' : 'TLS');
      const connection = id === undefined ? undefined : this.#open.get(id);
      if (connection === undefined) return;
      connection.hasSpoken = false;
      this.#wait(connection, this.#options.handshakeTimeoutMs, () => this.#options.late());
    };
    const secure = tls && this.#newSecure(tls, take);
    server.on('connection', (socket: Socket) => {
      this.#counted(socket);
      if (this.#count > this.#options.maxConnections) {
        this.#options.full();
        socket.destroy();
      } else if (secure === undefined) take(socket);
      else {
        tls?.ifRenewed((context) => secure.setSecureContext(context));
        secure.emit('connection', socket);
      }
    });
    server.on('error', () => undefined);
    this.#servers.set(tls === undefined ? 'TCP' : 'TLS', server);
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Does not listen itself: what changes hands in a restart is a socket for plain connections. */
  #newSecure(tls: Certificate, take: (socket: Socket) => void): TlsServer {
    const secure = createTlsServer(
      { ...tls.read(), handshakeTimeout: this.#options.handshakeTimeoutMs },
      take,
    );
    // A handshake that fails closes its connection, which is all there is to do.
    secure.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
    return secure;
  }

  /** Listening sockets, for a process that takes over. */
  get servers(): ReadonlyMap<'TCP' | 'TLS', Server> {
    return this.#servers;
  }

  /** Another process accepts from now on. Connections stay. */
  leave(): void {
    for (const server of this.#servers.values()) server.close();
  }

  /**
   * Sends to a peer that has let go of its own connection. Over TLS its certificate must be one that the system trusts, for the address
   * that it has; where the way cannot be made nothing is sent, and the request runs into its time limit.
   */
  call(at: Source, { protocol, bytes }: { readonly protocol: 'TCP' | 'TLS'; readonly bytes: Buffer }): void {
    const key = `${protocol} ${at.address} ${at.port}`;
    const known = this.#made.get(key);
    if (known !== undefined && this.send(known, bytes)) return;
    this.#made.delete(key);
    this.#connect(at, { protocol }, (id, socket) => {
      if (id === undefined || socket === undefined) return;
      this.#made.set(key, id);
      socket.once('close', () => this.#made.delete(key));
      this.send(id, bytes);
    });
  }

  /** A connection to a peer that has a name, which its certificate must be for. Undefined where the way cannot be made. */
  dial(
    at: Source,
    to: { readonly protocol: 'TCP' | 'TLS'; readonly name: string },
  ): Promise<StreamFlow | undefined> {
    return new Promise((resolve) => {
      this.#connect(at, to, (id, socket) => {
        const flow = id === undefined ? undefined : this.#open.get(id)?.flow;
        if (flow === undefined)
          this.#options.log.warn({ peer: to.name, ...whyNot(socket) }, 'no connection to a SIP peer');
        resolve(flow);
      });
    });
  }

  #connect(
    at: Source,
    { protocol, name }: { readonly protocol: 'TCP' | 'TLS'; readonly name?: string },
    done: (id?: number, socket?: Socket) => void,
  ): void {
    if (this.#count >= this.#options.maxConnections) {
      this.#options.full();
      done();
      return;
    }
    const to = { host: at.address, port: at.port };
    const named = name !== undefined && isIP(name) === 0 ? { servername: name } : {};
    const socket =
      protocol === 'TCP' ? connectTcp(to) : connectTls({ ...to, ...named, minVersion: 'TLSv1.2' });
    this.#counted(socket);
    socket.on('error', () => undefined);
    const timer = this.#options.clock.after(this.#options.handshakeTimeoutMs, () => socket.destroy());
    let isDone = false;
    const finish = (id?: number): void => {
      timer.cancel();
      if (!isDone) done(id, socket);
      isDone = true;
    };
    socket.once('close', () => finish());
    socket.once(protocol === 'TCP' ? 'connect' : 'secureConnect', () => finish(this.#take(socket, protocol)));
  }

  #counted(socket: Socket): void {
    this.#count += 1;
    socket.once('close', () => (this.#count -= 1));
  }

  #take(socket: Socket, protocol: 'TCP' | 'TLS'): number | undefined {
    socket.on('error', () => undefined);
    const { remoteAddress = '', remotePort = 0, localAddress = '' } = socket;
    if (socket.destroyed || remoteAddress === '') return undefined;
    socket.setNoDelay(true);
    this.#last += 1;
    const source = { address: plain(remoteAddress), port: remotePort };
    const flow = { connection: this.#last, protocol, source, localAddress: plain(localAddress) };
    const fresh = { frames: new StreamFrames(), hasSpoken: true, timer: undefined };
    const connection: Connection = { socket, flow, ...fresh };
    this.#open.set(flow.connection, connection);
    this.#wait(connection, this.#options.idleTimeoutMs);
    socket.on('data', (bytes: Buffer) => this.#read(connection, bytes));
    socket.on('close', () => {
      connection.timer?.cancel();
      this.#open.delete(flow.connection);
      this.#options.closed(flow.connection);
    });
    return flow.connection;
  }

  /** Closes a connection that says nothing whole for so long. */
  #wait(connection: Connection, afterMs: number, expired?: () => void): void {
    connection.timer?.cancel();
    connection.timer = this.#options.clock.after(afterMs, () => {
      if (this.#options.isNeeded(connection.flow.connection)) {
        this.#wait(connection, afterMs);
        return;
      }
      expired?.();
      connection.socket.destroy();
    });
  }

  #read(connection: Connection, bytes: Buffer): void {
    const framed = connection.frames.take(bytes);
    if (!framed.ok) {
      connection.socket.destroy();
      return;
    }
    const { messages, pings } = framed.value;
    for (let i = 0; i < Math.min(pings, 4); i += 1)
      this.send(connection.flow.connection, Buffer.from('\r\n'));
    if (messages.length > 0) connection.hasSpoken = true;
    if (connection.hasSpoken && messages.length + pings > 0)
      this.#wait(connection, this.#options.idleTimeoutMs);
    for (const parsed of messages) this.#options.received(parsed, connection.flow);
  }

  /** False where the connection is gone. */
  send(id: number, bytes: Buffer): boolean {
    const socket = this.#open.get(id)?.socket;
    if (socket?.writable !== true) return false;
    if (socket.writableLength > mostUnsentBytes) socket.destroy();
    else socket.write(bytes);
    return true;
  }

  close(): void {
    this.leave();
    for (const { socket } of this.#open.values()) socket.destroy();
  }
}

/** Why a connection did not come about, by the code of the system or of the check of the certificate. */
function whyNot(socket: Socket | undefined): { readonly reason: string } {
  if (socket === undefined) return { reason: 'SVC_SIP_MAX_CONNECTIONS' };
  const { errored } = socket;
  return { reason: errored === null ? 'no answer in time' : String(Reflect.get(errored, 'code')) };
}

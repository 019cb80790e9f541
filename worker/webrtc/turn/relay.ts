/**
 * A relay that the service holds for one call: the machine of allocation.ts on a socket to the TURN server, and a loopback socket for each peer
 * whose packets come through it.
 *
 * Invariant: a relay that could not be had leaves nothing open; a relay that is closed is given back to its server.
 */
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Millis } from '../../../shared/base/units.ts';
import type { SocketAddress } from '../../../shared/webrtc/stun.ts';
import type { TurnServer } from '../../../shared/webrtc/turn-url.ts';
import { LoopbackSocket, type MuxPort } from '../ways/loopback-socket.ts';
import { Allocation, type AllocationAction } from './allocation.ts';
import { TurnReader } from './turn-reader.ts';

export interface RelayOptions {
  readonly server: TurnServer;
  readonly mux: MuxPort;
  readonly now: () => Millis;
  readonly after: (delayMs: Millis, run: () => void) => { cancel(): void };
  readonly noted: (what: string) => void;
  /** The relay is lost after it was there. */
  readonly lost: (reason: string) => void;
}

/** A way to the server. */
interface Wire {
  readonly isReliable: boolean;
  send(bytes: Buffer): void;
  close(): void;
}

interface WireEvents {
  readonly opened: () => void;
  readonly received: (bytes: Buffer) => void;
  readonly broke: (reason: string) => void;
}

/** A packet to the server that waits for a TCP connection which takes nothing is of no use any more. */
const mostUnsentBytes = 64 * 1024;
const mostLoopbacks = 16;

export class Relay {
  readonly #options: RelayOptions;
  readonly #wire: Wire;
  readonly #allocation: Allocation;
  readonly #loopbacks = new Map<string, LoopbackSocket>();
  #timer: { cancel(): void } | undefined;
  #settle: ((outcome: SocketAddress | string) => void) | undefined;
  #address: SocketAddress | undefined;

  private constructor(options: RelayOptions, settle: (outcome: SocketAddress | string) => void) {
    this.#options = options;
    this.#settle = settle;
    const { username, credential } = options.server;
    const isReliable = options.server.transport !== 'udp';
    const newTransaction = (): Buffer => randomBytes(12);
    this.#allocation = new Allocation({ username, credential, isReliable, newTransaction });
    this.#wire = openWire(options.server, {
      opened: () => this.#perform(this.#allocation.start(options.now())),
      received: (bytes) => this.#received(bytes),
      broke: (reason) => this.#fail(reason),
    });
  }

  /** Resolves with the relay, or with why there is none: the server refuses, does not answer, or `signal` says that it takes too long. */
  static open(options: RelayOptions, signal: AbortSignal): Promise<Relay | string> {
    return new Promise((resolve) => {
      const relay: Relay = new Relay(options, (outcome) => {
        signal.removeEventListener('abort', abandon);
        resolve(typeof outcome === 'string' ? outcome : relay);
      });
      const abandon = (): void => relay.#fail('it took too long');
      signal.addEventListener('abort', abandon);
      if (signal.aborted) abandon();
    });
  }

  /** Where clients reach it. */
  get address(): SocketAddress | undefined {
    return this.#address;
  }

  /** Lets packets of these addresses through. */
  permit(ips: readonly string[]): void {
    for (const ip of ips) this.#perform(this.#allocation.permit(ip, this.#options.now()));
  }

  close(): void {
    this.#perform(this.#allocation.close());
    this.#end();
  }

  #end(): void {
    this.#timer?.cancel();
    for (const loopback of this.#loopbacks.values()) loopback.close();
    this.#loopbacks.clear();
    this.#wire.close();
  }

  #fail(reason: string): void {
    const settle = this.#settle;
    const isNews = settle !== undefined || !this.#allocation.isOver;
    this.#settle = undefined;
    this.#allocation.close();
    this.#end();
    if (settle !== undefined) settle(reason);
    else if (isNews) this.#options.lost(reason);
  }

  #received(bytes: Buffer): void {
    const heard = this.#allocation.unwrap(bytes);
    if (heard === undefined) this.#perform(this.#allocation.receive(bytes, this.#options.now()));
    else this.#loopbackOf(heard.peer)?.push(heard.data);
  }

  #loopbackOf(peer: SocketAddress): LoopbackSocket | undefined {
    const key = `${peer.ip} ${peer.port}`;
    const known = this.#loopbacks.get(key);
    if (known !== undefined || this.#loopbacks.size >= mostLoopbacks) return known;
    const made = new LoopbackSocket(this.#options.mux, (packet) => {
      const sent = this.#allocation.wrap(peer, packet, this.#options.now());
      for (const bytes of sent) this.#wire.send(bytes);
      // A channel was asked for beside it.
      if (sent.length > 1) this.#arm();
    });
    this.#loopbacks.set(key, made);
    return made;
  }

  #perform(actions: readonly AllocationAction[]): void {
    for (const action of actions) {
      if (action.type === 'send') this.#wire.send(action.bytes);
      else if (action.type === 'noted') this.#options.noted(action.what);
      else if (action.type === 'allocated') this.#allocated(action.address);
      else {
        // The machine is over by now, so that nobody would say so.
        const settle = this.#settle;
        this.#settle = undefined;
        this.#end();
        if (settle === undefined) this.#options.lost(action.reason);
        else settle(action.reason);
      }
    }
    this.#arm();
  }

  #allocated(address: SocketAddress): void {
    this.#address = address;
    const settle = this.#settle;
    this.#settle = undefined;
    this.#options.noted('a relay was allocated');
    settle?.(address);
  }

  #arm(): void {
    this.#timer?.cancel();
    const { deadline } = this.#allocation;
    if (deadline === Number.POSITIVE_INFINITY) return;
    const { now, after } = this.#options;
    this.#timer = after(Math.max(0, deadline - now()), () => this.#perform(this.#allocation.wake(now())));
  }
}

function openWire(server: TurnServer, events: WireEvents): Wire {
  return server.transport === 'udp' ? datagramWire(server, events) : streamWire(server, events);
}

function datagramWire({ host, port }: TurnServer, { opened, received, broke }: WireEvents): Wire {
  const socket = createSocket(isIP(host) === 6 ? 'udp6' : 'udp4');
  let isClosed = false;
  socket.on('error', () => broke('its address cannot be reached'));
  socket.on('message', (bytes) => {
    if (!isClosed) received(bytes);
  });
  socket.connect(port, host, (error?: Error) => {
    if (isClosed) return;
    if (error === undefined) opened();
    else broke('its name leads nowhere');
  });
  return {
    isReliable: false,
    send: (bytes) => {
      if (!isClosed) socket.send(bytes, () => undefined);
    },
    close: () => {
      if (isClosed) return;
      isClosed = true;
      // The message of a moment ago, which frees the relay, has left: a connected socket sends at once.
      socket.close();
    },
  };
}

function streamWire({ host, port, transport }: TurnServer, { opened, received, broke }: WireEvents): Wire {
  const name = isIP(host) === 0 ? { servername: host } : {};
  const socket: Socket =
    transport === 'tls' ? connectTls({ host, port, ...name }) : connectTcp({ host, port });
  const reader = new TurnReader();
  let isOpen = false;
  socket.setNoDelay(true);
  socket.once(transport === 'tls' ? 'secureConnect' : 'connect', () => {
    isOpen = true;
    opened();
  });
  socket.on('error', () => broke('its address cannot be reached'));
  socket.once('close', () => broke('the server closed the connection'));
  socket.on('data', (chunk: Buffer) => {
    const messages = reader.push(chunk);
    if (messages === undefined) broke('the server speaks no TURN');
    else for (const bytes of messages) received(bytes);
  });
  return {
    isReliable: true,
    send: (bytes) => {
      if (socket.writable && socket.writableLength < mostUnsentBytes) socket.write(bytes);
    },
    close: () => {
      if (isOpen) socket.end(() => socket.destroy());
      else socket.destroy();
    },
  };
}

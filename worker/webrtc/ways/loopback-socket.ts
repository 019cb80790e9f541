/**
 * A client's packets from somewhere else than its own UDP socket, brought to the UDP port on which the library takes all media, and the
 * answers back. The library finds a client by the address that its packets come from, so each way has a socket of its own.
 *
 * Invariant: nothing leaves this machine by it; after `close` nothing is told.
 */
import { createSocket, type Socket } from 'node:dgram';

export interface MuxPort {
  /** As it is bound; an address of all is reached on the loopback. */
  readonly host: string;
  readonly port: number;
}

/** Packets that wait for the socket. */
const mostEarly = 8;

export class LoopbackSocket {
  readonly #socket: Socket;
  #early: Buffer[] | undefined = [];
  #isClosed = false;

  constructor({ host, port }: MuxPort, told: (packet: Buffer) => void) {
    const isSix = host.includes(':');
    const socket = createSocket(isSix ? 'udp6' : 'udp4');
    this.#socket = socket;
    // Nobody listens there any more: the call is about to be told so in another way.
    socket.on('error', () => undefined);
    socket.on('message', (packet) => {
      if (!this.#isClosed) told(packet);
    });
    const near = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
    socket.connect(port, near, () => {
      if (this.#isClosed) return;
      const early = this.#early ?? [];
      this.#early = undefined;
      for (const packet of early) this.push(packet);
    });
  }

  push(packet: Buffer): void {
    if (this.#isClosed) return;
    if (this.#early === undefined) this.#socket.send(packet, () => undefined);
    else if (this.#early.length < mostEarly) this.#early.push(Buffer.from(packet));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.close();
  }
}

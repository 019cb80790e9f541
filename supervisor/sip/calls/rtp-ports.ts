/**
 * Sockets for the audio of calls, out of the ports that are set aside for it: even ones for RTP, the one above each for RTCP. They are
 * bound here and never read here, so that what arrives while a call changes its worker waits in the kernel for the next one.
 */
import { createSocket, type Socket } from 'node:dgram';
import type { PortRange } from '../../../shared/sip/variables.ts';
import { stopReceiving } from '../../../shared/runtime/reading.ts';

export interface RtpSocket {
  readonly socket: Socket;
  readonly port: number;
  readonly close: () => void;
}

/** Ports that other programs have, the supervisor before this one among them, are passed over. */
const mostTries = 2_048;

export class RtpPorts {
  readonly #first: number;
  readonly #pairs: number;
  readonly #used = new Set<number>();
  #next = 0;

  constructor({ first, last }: PortRange) {
    this.#first = first + (first % 2);
    this.#pairs = Math.max(1, Math.floor((last - this.#first + 1) / 2));
  }

  /** Where the next search begins, for a process that goes on with these ports. */
  get next(): number {
    return this.#next;
  }

  goOnAt(next: number): void {
    this.#next = next % this.#pairs;
  }

  /** Undefined where every port is taken, by calls or by other programs. */
  async take(host: string): Promise<RtpSocket | undefined> {
    for (let tried = 0; tried < Math.min(this.#pairs, mostTries); tried += 1) {
      const port = this.#free();
      if (port === undefined) return undefined;
      this.#used.add(port);
      const socket = await bound(host, port);
      if (socket === undefined) {
        this.#used.delete(port);
        continue;
      }
      let isOpen = true;
      const close = (): void => {
        if (!isOpen) return;
        isOpen = false;
        this.#used.delete(port);
        socket.close();
      };
      return { socket, port, close };
    }
    return undefined;
  }

  /** In turn, so that a port rests before it is used again: packets of the call before may still be on their way. */
  #free(): number | undefined {
    for (let tried = 0; tried < this.#pairs; tried += 1) {
      const port = this.#first + 2 * this.#next;
      this.#next = (this.#next + 1) % this.#pairs;
      if (!this.#used.has(port)) return port;
    }
    return undefined;
  }
}

function bound(host: string, port: number): Promise<Socket | undefined> {
  const socket = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4', recvBufferSize: 128 * 1024 });
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close();
      resolve(undefined);
    });
    socket.bind(port, host, () => {
      stopReceiving(socket);
      socket.removeAllListeners('error');
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

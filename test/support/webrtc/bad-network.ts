/**
 * A network between a client and the service that loses packets and lets others wait, each for another time, so that they come out of
 * order. It stands in for `tc netem`, which a kernel may not have and which only root may use.
 *
 * Invariant: the same seed loses the same packets of the same line.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { newPrng } from '../../../shared/base/prng.ts';

export interface NetworkOptions {
  /** Where the service takes media. */
  readonly port: number;
  /** Share of the packets that get lost, in each direction. */
  readonly loss: number;
  /** A packet takes from nothing to so long. */
  readonly jitterMs: number;
  readonly seed: number;
}

export class BadNetwork {
  readonly #near: Socket;
  readonly #far: Socket;
  readonly #options: NetworkOptions;
  readonly #prng: ReturnType<typeof newPrng>;
  #client: number | undefined;
  #isOver = false;
  lost = 0;

  private constructor(options: NetworkOptions, [near, far]: readonly [Socket, Socket]) {
    this.#options = options;
    this.#prng = newPrng(options.seed);
    this.#near = near;
    this.#far = far;
    near.on('message', (packet, { port }) => {
      this.#client = port;
      this.#pass(() => far.send(packet, options.port, '127.0.0.1'));
    });
    far.on('message', (packet) => this.#pass(() => near.send(packet, this.#client ?? 9, '127.0.0.1')));
  }

  static async open(options: NetworkOptions): Promise<BadNetwork> {
    const sockets = [
      createSocket('udp4').bind(0, '127.0.0.1'),
      createSocket('udp4').bind(0, '127.0.0.1'),
    ] as const;
    await Promise.all(sockets.map((socket) => once(socket, 'listening')));
    return new BadNetwork(options, sockets);
  }

  /** The port that the client is to take for the service's. */
  get port(): number {
    return this.#near.address().port;
  }

  #pass(deliver: () => void): void {
    const { loss, jitterMs } = this.#options;
    if (this.#prng.next() < loss) {
      this.lost += 1;
      return;
    }
    setTimeout(() => {
      if (!this.#isOver) deliver();
    }, this.#prng.next() * jitterMs);
  }

  close(): void {
    this.#isOver = true;
    this.#near.close();
    this.#far.close();
  }
}

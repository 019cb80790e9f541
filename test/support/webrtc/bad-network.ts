/**
 * A network between a WebRTC client and the service: a relay of datagrams that loses some of them and delays each by its own time, so that
 * they overtake one another. What becomes of a packet follows from the seed.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { newPrng, type Prng } from '../../../shared/base/prng.ts';

export interface BadNetworkOptions {
  readonly seed: number;
  /** Of each direction. */
  readonly loss: number;
  readonly leastMs: number;
  readonly jitterMs: number;
}

export class BadNetwork {
  readonly #options: BadNetworkOptions;
  readonly #prng: Prng;
  /** Where the client sends, and what sends to the service for it. */
  readonly #near = createSocket('udp4');
  readonly #far = createSocket('udp4');
  #service = 0;
  #client = 0;
  lost = 0;
  carried = 0;

  private constructor(options: BadNetworkOptions) {
    this.#options = options;
    this.#prng = newPrng(options.seed);
  }

  static async open(options: BadNetworkOptions): Promise<BadNetwork> {
    const network = new BadNetwork(options);
    for (const socket of [network.#near, network.#far]) {
      socket.bind(0, '127.0.0.1');
      await once(socket, 'listening');
    }
    network.#near.on('message', (packet, { port }) => {
      network.#client = port;
      network.#carry(packet, network.#far, () => network.#service);
    });
    network.#far.on('message', (packet) => network.#carry(packet, network.#near, () => network.#client));
    return network;
  }

  /** The answer of a service on this host as one that is reached by this network. */
  reroute(answer: string): string {
    return answer.replace(
      /^(a=candidate:.* udp \d+ )\S+ (\d+) typ host.*$/gim,
      (_, head: string, port: string) => {
        this.#service = Number(port);
        return `${head}127.0.0.1 ${this.#near.address().port} typ host`;
      },
    );
  }

  #carry(packet: Buffer, socket: Socket, port: () => number): void {
    const { loss, leastMs, jitterMs } = this.#options;
    this.carried += 1;
    if (this.#prng.chance(loss)) {
      this.lost += 1;
      return;
    }
    const delayMs = leastMs + this.#prng.below(jitterMs + 1);
    setTimeout(() => {
      if (port() > 0 && !this.#isClosed) socket.send(packet, port(), '127.0.0.1');
    }, delayMs);
  }

  #isClosed = false;

  close(): void {
    this.#isClosed = true;
    this.#near.close();
    this.#far.close();
  }
}

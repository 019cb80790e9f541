/**
 * A bad network between a WebRTC client and the service: a UDP relay that loses packets and delays each by a time of its own, so that they
 * overtake one another. What it does to a packet is drawn from a seed; which packet that is, is not.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { newPrng, type Prng } from '../../../shared/base/prng.ts';

export interface LossyOptions {
  readonly seed: number;
  /** Of each direction, 0 to 1. */
  readonly loss: number;
  /** The longest delay of a packet; delays are spread evenly. */
  readonly jitterMs: number;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** A media candidate of an answer, by its address and port. */
const candidate = /^(a=candidate:\S+ \d+ udp \d+ )(\S+) (\d+)( typ .*)$/im;

export class LossyRelay {
  readonly #options: LossyOptions;
  readonly #prng: Prng;
  readonly #service: Address;
  /** Where the client sends, and what the service takes for the client. */
  readonly #near: Socket = createSocket('udp4');
  readonly #far: Socket = createSocket('udp4');
  readonly #delayed = new Set<NodeJS.Timeout>();
  #client: AddressInfo | undefined;
  /** The answer as the client gets it: it leads here. */
  answer = '';
  passed = 0;
  lost = 0;

  private constructor(service: Address, options: LossyOptions) {
    this.#service = service;
    this.#options = options;
    this.#prng = newPrng(options.seed);
  }

  static async between(answer: string, options: LossyOptions): Promise<LossyRelay> {
    const [, , host = '', port = ''] = candidate.exec(answer) ?? [];
    if (host === '') throw new Error(`no candidate in ${answer}`);
    const relay = new LossyRelay({ host, port: Number(port) }, options);
    const own = await relay.#open();
    relay.answer = answer.replace(candidate, `$1127.0.0.1 ${own}$4`);
    return relay;
  }

  async #open(): Promise<number> {
    for (const socket of [this.#near, this.#far]) {
      socket.bind(0, '127.0.0.1');
      await once(socket, 'listening');
    }
    this.#near.on('message', (packet, from) => {
      this.#client = from;
      this.#pass(() => this.#far.send(packet, this.#service.port, this.#service.host));
    });
    this.#far.on('message', (packet) => {
      const client = this.#client;
      if (client !== undefined) this.#pass(() => this.#near.send(packet, client.port, client.address));
    });
    return this.#near.address().port;
  }

  #pass(send: () => void): void {
    const { loss, jitterMs } = this.#options;
    if (this.#prng.chance(loss)) {
      this.lost += 1;
      return;
    }
    this.passed += 1;
    const timer = setTimeout(() => {
      this.#delayed.delete(timer);
      send();
    }, this.#prng.next() * jitterMs);
    this.#delayed.add(timer);
  }

  close(): void {
    for (const timer of this.#delayed) clearTimeout(timer);
    this.#near.close();
    this.#far.close();
  }
}

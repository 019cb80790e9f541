/**
 * A fleet behind a balancer, in virtual time: calls that come at random and last at random, hosts that die, and rollouts. The rules are
 * those of the service: a host takes calls up to its limit and refuses beyond it, takes none while it drains, tells calls that outlast
 * the drain, and takes its calls along when it dies. Chance comes from a seed.
 *
 * Invariant: every call that came is counted once, as refused, completed, told at the end of a drain, cut by a death, or open.
 */
import { newPrng, type Prng } from '../../../shared/base/prng.ts';

export interface FleetSettings {
  readonly seed: number;
  readonly hosts: number;
  readonly maxSessions: number;
  /** Calls at the same time, in the mean. */
  readonly meanCalls: number;
  readonly meanCallS: number;
  readonly lastsS: number;
  readonly drainS: number;
  /** From the order for a host until it serves. */
  readonly startS: number;
  /** Until the balancer notices that a host is gone; meanwhile it tries another when a connection fails. */
  readonly noticeS: number;
  /** When a host dies, and when a rollout of all hosts begins, which replaces one after another. */
  readonly deathsAtS: readonly number[];
  readonly rolloutsAtS: readonly number[];
  /** Whether the balancer waits for readiness before it sends calls; `false` is a fault on purpose. */
  readonly looksAtReadiness: boolean;
}

export interface FleetOutcome {
  readonly came: number;
  readonly refused: number;
  readonly completed: number;
  readonly told: number;
  readonly cut: number;
  readonly open: number;
  readonly rolled: number;
  /** Of calls that ran when a drain began. */
  readonly atDrain: number;
  readonly fullest: number;
  readonly most: number;
}

interface Host {
  phase: 'starting' | 'serving' | 'draining' | 'gone';
  calls: number;
  /** Calls of a host that is gone have ended with it. */
  readonly id: number;
}

type Order = { readonly atS: number; readonly run: () => void };

/** Orders by time; a binary heap, because there are hundreds of thousands. */
class Agenda {
  readonly #heap: Order[] = [];

  add(order: Order): void {
    const heap = this.#heap;
    let at = heap.push(order) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.atS <= order.atS) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = order;
  }

  next(): Order | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      if (left >= heap.length) break;
      const child = right < heap.length && heap[right]!.atS < heap[left]!.atS ? right : left;
      if (heap[child]!.atS >= last.atS) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

export class FleetSimulation {
  readonly #settings: FleetSettings;
  readonly #chance: Prng;
  readonly #agenda = new Agenda();
  #hosts: Host[] = [];
  #nowS = 0;
  #ids = 0;
  #turn = 0;
  readonly #counts = {
    came: 0,
    refused: 0,
    completed: 0,
    told: 0,
    cut: 0,
    rolled: 0,
    atDrain: 0,
    fullest: 0,
    most: 0,
  };
  #open = 0;

  constructor(settings: FleetSettings) {
    this.#settings = settings;
    this.#chance = newPrng(settings.seed);
  }

  run(): FleetOutcome {
    const { hosts, lastsS, deathsAtS, rolloutsAtS } = this.#settings;
    for (let index = 0; index < hosts; index += 1) this.#hosts.push(this.#newHost('serving'));
    this.#in(this.#untilNextS(), () => this.#come());
    for (const atS of deathsAtS) this.#in(atS, () => this.#die());
    for (const atS of rolloutsAtS)
      this.#in(atS, () => this.#roll(this.#hosts.filter(({ phase }) => phase === 'serving')));
    for (
      let order = this.#agenda.next();
      order !== undefined && order.atS <= lastsS;
      order = this.#agenda.next()
    ) {
      this.#nowS = order.atS;
      order.run();
    }
    return { ...this.#counts, open: this.#open };
  }

  #newHost(phase: Host['phase']): Host {
    this.#ids += 1;
    return { phase, calls: 0, id: this.#ids };
  }

  #in(s: number, run: () => void): void {
    this.#agenda.add({ atS: this.#nowS + s, run });
  }

  readonly #random = (meanS: number): number => -Math.log(1 - this.#chance.next()) * meanS;
  readonly #untilNextS = (): number => this.#random(this.#settings.meanCallS / this.#settings.meanCalls);

  #come(): void {
    this.#in(this.#untilNextS(), () => this.#come());
    this.#counts.came += 1;
    const host = this.#pick();
    if (host === undefined || host.calls >= this.#settings.maxSessions) {
      this.#counts.refused += 1;
      return;
    }
    host.calls += 1;
    this.#open += 1;
    this.#counts.fullest = Math.max(this.#counts.fullest, host.calls);
    this.#counts.most = Math.max(this.#counts.most, this.#open);
    this.#in(this.#random(this.#settings.meanCallS), () => this.#complete(host));
  }

  /** In rotation, passing over hosts that refuse connections because they are gone: balancers try another then. */
  #pick(): Host | undefined {
    for (let tries = 0; tries < this.#hosts.length; tries += 1) {
      this.#turn = (this.#turn + 1) % this.#hosts.length;
      const host = this.#hosts[this.#turn];
      if (host === undefined || host.phase === 'gone') continue;
      if (this.#settings.looksAtReadiness && host.phase !== 'serving') continue;
      // A host that drains answers 503, and a balancer passes that on.
      return host.phase === 'serving' ? host : undefined;
    }
    return undefined;
  }

  #complete(host: Host): void {
    if (host.phase === 'gone') return;
    host.calls -= 1;
    this.#open -= 1;
    this.#counts.completed += 1;
  }

  #leave(host: Host, as: 'told' | 'cut'): void {
    host.phase = 'gone';
    this.#counts[as] += host.calls;
    this.#open -= host.calls;
    host.calls = 0;
    this.#in(as === 'cut' ? this.#settings.noticeS : 0, () => {
      this.#hosts = this.#hosts.filter((one) => one !== host);
    });
  }

  #start(then: () => void): void {
    const host = this.#newHost('starting');
    this.#hosts.push(host);
    this.#in(this.#settings.startS, () => {
      host.phase = 'serving';
      then();
    });
  }

  #die(): void {
    const living = this.#hosts.filter(({ phase }) => phase === 'serving');
    const host = living[Math.floor(this.#chance.next() * living.length)];
    if (host === undefined) return;
    this.#leave(host, 'cut');
    this.#start(() => undefined);
  }

  /** One host more, then one less; the next when the old one is gone, so that a rollout never needs two hosts more. */
  #roll(left: readonly Host[]): void {
    const [host, ...rest] = left;
    if (host === undefined) return;
    if (host.phase !== 'serving') {
      this.#roll(rest);
      return;
    }
    this.#start(() => {
      host.phase = 'draining';
      this.#counts.rolled += 1;
      this.#counts.atDrain += host.calls;
      this.#in(this.#settings.drainS, () => {
        if (host.phase === 'draining') this.#leave(host, 'told');
      });
      this.#in(Math.min(this.#settings.drainS, 60), () => this.#roll(rest));
    });
  }
}

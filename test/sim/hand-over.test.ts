/** The hand-over among workers that start, confirm, decline, hang and die at any moment: every call has one owner, and none is lost. */
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { newPrng, type Prng } from '../../shared/base/prng.ts';
import { HandOver } from '../../supervisor/handover/hand-over.ts';
import type { LeftRecord } from '../../supervisor/handover/left-records.ts';
import { takeUpAtOnce } from '../../supervisor/handover/worker-for.ts';
import { newVirtualClock } from '../support/core/virtual-clock.ts';
import { upgradeRequest } from '../support/upgrade-request.ts';

const mostWorkers = 4;

/** What a worker has of a call: sent to it, or confirmed. */
interface Held {
  readonly isTakeover: boolean;
  isTaken: boolean;
}

class World {
  readonly #clock = newVirtualClock();
  readonly #prng: Prng;
  readonly #workers = new Map<number, Map<number, Held>>();
  readonly #handOver: HandOver;
  #lastWorker = 0;
  #leftRecords: ReadonlyMap<number, LeftRecord> = new Map();
  readonly violations: string[] = [];
  readonly released = new Map<number, number>();
  readonly counts = { taken: 0, moved: 0, lost: 0, resumed: 0, cut: 0, blamed: 0 };
  given = 0;
  mostAtOnce = 0;

  constructor(seed: number) {
    this.#prng = newPrng(seed);
    this.#handOver = new HandOver({
      clock: this.#clock,
      readyWorkers: () => [...this.#workers.keys()],
      offer: (worker, { offer, resumeFrom }) => this.#receive(worker, offer, resumeFrom !== undefined),
      allGiven: () => undefined,
      keepsCalls: true,
      records: { leftBy: () => this.#leftRecords, forget: () => undefined },
      isStopping: () => false,
      counted: (outcome) => (this.counts[outcome] += 1),
    });
    for (let i = 0; i < 2; i += 1) this.#start();
  }

  run(): void {
    for (let step = 0; step < 600; step += 1) {
      this.#act();
      this.#look();
    }
    if (this.#workers.size === 0) this.#start();
    for (let left = this.#all('sent'); left.length > 0; left = this.#all('sent'))
      for (const [worker, offer] of left) this.#confirm(worker, offer);
    this.#handOver.retry();
    if (this.#handOver.waiting !== 0)
      this.violations.push('calls wait although a worker takes all it is sent');
    this.#look();
  }

  #act(): void {
    const chance = this.#prng.next();
    const worker = this.#workers.size === 0 ? undefined : this.#prng.pick([...this.#workers.keys()]);
    if (chance < 0.3) this.#call();
    else if (chance < 0.75 && worker !== undefined) this.#work(worker);
    else if (chance < 0.8 && worker !== undefined) this.#die(worker);
    else if (chance < 0.86 && this.#workers.size < mostWorkers) this.#start();
    else {
      // Somebody is back before the ten seconds that a call waits where there is nobody.
      this.#clock.advance(this.#workers.size === 0 ? 100 : this.#prng.below(5_000));
      this.#handOver.retry();
    }
  }

  #call(): void {
    this.given += 1;
    const call = this.given;
    this.#handOver.give(new Socket(), upgradeRequest, () =>
      this.released.set(call, (this.released.get(call) ?? 0) + 1),
    );
  }

  #receive(worker: number, offer: number, isTakeover: boolean): boolean {
    const others = [...this.#workers].filter(([, held]) => held.has(offer));
    if (others.length > 0) this.violations.push(`call ${offer} has two workers`);
    this.#workers.get(worker)?.set(offer, { isTakeover, isTaken: false });
    return true;
  }

  #all(phase: 'sent' | 'taken'): [number, number][] {
    return [...this.#workers].flatMap(([worker, held]) =>
      [...held]
        .filter(([, { isTaken }]) => isTaken === (phase === 'taken'))
        .map(([offer]): [number, number] => [worker, offer]),
    );
  }

  #confirm(worker: number, offer: number): void {
    const held = this.#workers.get(worker)?.get(offer);
    if (held !== undefined) held.isTaken = true;
    this.#handOver.taken(offer);
  }

  /** A worker confirms some of what it was sent, and now and then a call ends, before it was confirmed or after. */
  #work(worker: number): void {
    for (const [offer, held] of this.#workers.get(worker) ?? []) {
      if (this.#prng.chance(0.05)) {
        this.#workers.get(worker)?.delete(offer);
        this.#handOver.over(offer);
      } else if (!held.isTaken && this.#prng.chance(0.4)) this.#confirm(worker, offer);
    }
  }

  #start(): void {
    this.#lastWorker += 1;
    this.#workers.set(this.#lastWorker, new Map());
    this.#handOver.retry();
  }

  /** What it had confirmed can be gone on with; of what it was sent its record may have been begun. */
  #die(worker: number): void {
    const held = this.#workers.get(worker) ?? new Map<number, Held>();
    this.#workers.delete(worker);
    this.#leftRecords = new Map(
      [...held].flatMap(([offer, { isTaken }]): [number, LeftRecord][] => {
        const slot = worker * 1_000 + offer;
        if (isTaken) return [[offer, { slot, connection: 'open' }]];
        return this.#prng.chance(0.5) ? [[offer, { slot, connection: 'begun' }]] : [];
      }),
    );
    this.#handOver.workerGone(worker);
    this.#leftRecords = new Map();
  }

  #look(): void {
    for (const [worker, held] of this.#workers) {
      const takingUp = [...held.values()].filter(({ isTakeover, isTaken }) => isTakeover && !isTaken).length;
      this.mostAtOnce = Math.max(this.mostAtOnce, takingUp);
      if (takingUp > takeUpAtOnce)
        this.violations.push(`worker ${worker} was sent ${takingUp} calls at once`);
    }
    const { open, waiting } = this.#handOver;
    if (open !== this.given - this.released.size)
      this.violations.push('a slot is held by nobody, or given back early');
    if (waiting !== open - this.#all('taken').length) this.violations.push('what waits is miscounted');
    if ([...this.released.values()].some((times) => times > 1))
      this.violations.push('a slot was given back twice');
  }
}

describe('the hand-over, whatever its workers do', () => {
  it('gives every call one owner and loses none, in 150 worlds', () => {
    let [resumed, mostAtOnce, cut] = [0, 0, 0];
    for (let seed = 1; seed <= 150; seed += 1) {
      const world = new World(seed);
      world.run();
      expect({ seed, violations: world.violations, lost: world.counts.lost }).toEqual({
        seed,
        violations: [],
        lost: 0,
      });
      resumed += world.counts.resumed;
      cut += world.counts.cut;
      mostAtOnce = Math.max(mostAtOnce, world.mostAtOnce);
    }
    // The worlds reach what they are for.
    expect(resumed).toBeGreaterThan(3_000);
    expect(mostAtOnce).toBe(takeUpAtOnce);
    expect(cut).toBeGreaterThan(0);
  });
});

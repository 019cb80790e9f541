/**
 * How late the packets of a line come, and how long one that is missing is waited for: about as long as nearly all of the last ones
 * would have needed. Pure, time as an argument.
 */
import type { Millis } from '../../../shared/base/units.ts';

export interface PacketDelaysOptions {
  /** Ticks of a timestamp in a second. */
  readonly clockRate: number;
  readonly frameTicks: number;
  /** Shortest and longest wait for a packet that is missing. */
  readonly leastWaitMs?: Millis;
  readonly mostWaitMs?: Millis;
}

/** The delays of as many packets tell how late the next ones may be. */
const delaysKept = 100;
/** A wait holds as many of them back, in parts of all. */
const waitQuantile = 0.97;
/** Looked at anew after so many packets. */
const lookEvery = 10;
/** The shortest way of the last 5 to 10 s is the one that delays are measured against, so that clocks may differ. */
const baseWindowMs = 5_000;

export class PacketDelays {
  readonly #msPerTick: number;
  readonly #leastWaitMs: Millis;
  readonly #mostWaitMs: Millis;
  /** Time of arrival less the timestamp, of the quickest packet of the last window and of this one. */
  #baseBefore = Infinity;
  #base = Infinity;
  #baseSince: Millis = 0;
  readonly #delays = new Float64Array(delaysKept);
  #count = 0;
  #waitMs: Millis;

  constructor({ clockRate, frameTicks, leastWaitMs = 10, mostWaitMs = 200 }: PacketDelaysOptions) {
    this.#msPerTick = 1000 / clockRate;
    this.#leastWaitMs = leastWaitMs;
    this.#mostWaitMs = mostWaitMs;
    this.#waitMs = Math.min(mostWaitMs, 2 * frameTicks * this.#msPerTick);
  }

  /** How long a missing packet is waited for at present. */
  get waitMs(): Millis {
    return this.#waitMs;
  }

  /** When the packet with this timestamp comes that takes the shortest way. */
  dueAt(at: number): Millis {
    return this.#baseMs + at * this.#msPerTick;
  }

  note(at: number, now: Millis): void {
    const transit = now - at * this.#msPerTick;
    if (now - this.#baseSince > baseWindowMs) {
      this.#baseBefore = this.#base;
      this.#base = Infinity;
      this.#baseSince = now;
    }
    this.#base = Math.min(this.#base, transit);
    this.#delays[this.#count % delaysKept] = transit - this.#baseMs;
    this.#count += 1;
    if (this.#count % lookEvery !== 0) return;
    const known = this.#delays.slice(0, Math.min(this.#count, delaysKept)).sort();
    const late = known[Math.min(known.length - 1, Math.floor(known.length * waitQuantile))] ?? 0;
    this.#waitMs = Math.min(this.#mostWaitMs, Math.max(this.#leastWaitMs, late + this.#leastWaitMs / 2));
  }

  /** The line begins anew with a packet that came now. */
  restart(at: number, now: Millis): void {
    this.#baseBefore = Infinity;
    this.#base = now - at * this.#msPerTick;
    this.#baseSince = now;
  }

  get #baseMs(): Millis {
    return Math.min(this.#base, this.#baseBefore);
  }
}

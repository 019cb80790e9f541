/**
 * What a client sent beyond its allowance, in the order in which it came, until it may be looked at. Pure.
 *
 * Invariant: bounded by what one read brings, because reading stops with the first frame that waits. Of pings only the newest
 * is kept: it is the one that has to be answered (RFC 6455, 5.5.3).
 */
import { charge, hasCredit, intakeCosts, spend, type Allowance } from './allowance.ts';
import type { Millis } from '../../../shared/base/units.ts';

/** The most that one read of a socket brings: frames of it still arrive after reading was paused. */
export const readBytes = 64 * 1024;

export interface LateFramesOptions {
  readonly allowance: Allowance;
  /** Size of the largest text that may be complete with the first bytes of a read. */
  readonly maxTextBytes: number;
  /** What a text frame takes of the allowance. */
  readonly textCost: number;
}

export class LateFrames {
  readonly #allowance: Allowance;
  readonly #maxBytes: number;
  readonly #textCost: number;
  #texts: Buffer[] = [];
  #next = 0;
  #bytes = 0;
  #ping: Buffer | undefined;

  constructor({ allowance, maxTextBytes, textCost }: LateFramesOptions) {
    this.#textCost = textCost;
    this.#allowance = allowance;
    this.#maxBytes = readBytes + maxTextBytes;
  }

  /** Whether a text may be looked at now; otherwise it is kept, or there is no room left for it. */
  text(data: Buffer, now: Millis): 'now' | 'later' | 'never' {
    if (this.#texts.length === 0 && spend(this.#allowance, this.#textCost, now)) return 'now';
    if (this.#bytes + data.length > this.#maxBytes) return 'never';
    this.#texts.push(data);
    this.#bytes += data.length;
    return 'later';
  }

  /** Whether a ping may be answered now; otherwise it is kept instead of the one before it. */
  ping(data: Buffer, now: Millis): boolean {
    if (this.#ping === undefined && spend(this.#allowance, intakeCosts.control, now)) return true;
    this.#ping = data;
    return false;
  }

  /** Notes what is done with anyway. False when the client owes something from here on. */
  charge(cost: number, now: Millis): boolean {
    return charge(this.#allowance, cost, now);
  }

  /** The next text whose time has come. */
  nextText(now: Millis): Buffer | undefined {
    const text = this.#texts[this.#next];
    if (text === undefined || !spend(this.#allowance, this.#textCost, now)) return undefined;
    this.#next += 1;
    this.#bytes -= text.length;
    if (this.#next === this.#texts.length) this.#dropTexts();
    return text;
  }

  /** The ping whose time has come. */
  nextPing(now: Millis): Buffer | undefined {
    if (this.#ping === undefined || !spend(this.#allowance, intakeCosts.control, now)) return undefined;
    const ping = this.#ping;
    this.#ping = undefined;
    return ping;
  }

  /** Nothing waits, and what comes next may be looked at. */
  isOver(now: Millis): boolean {
    return this.#texts.length === 0 && this.#ping === undefined && hasCredit(this.#allowance, now);
  }

  drop(): void {
    this.#dropTexts();
    this.#bytes = 0;
    this.#ping = undefined;
  }

  #dropTexts(): void {
    this.#texts = [];
    this.#next = 0;
  }
}

/**
 * Puts packets of a caller's audio into order and says when one that is missing is waited for no longer. The listener here is no
 * loudspeaker: a packet that is next in line is given at once, and delay is paid only for what is late or lost. How long a hole is held
 * open follows how late packets have come in the last seconds. Pure, time as an argument.
 *
 * Invariant: what is given out is one line of audio without holes or overlaps, of packets and of stretches to conceal; a packet whose
 * place has been given away is never given.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { PacketDelays, type PacketDelaysOptions } from './packet-delays.ts';

export interface RtpPacket {
  /** 16 bits, as on the wire. */
  readonly sequence: number;
  /** 32 bits, as on the wire. */
  readonly timestamp: number;
  readonly payload: Buffer;
}

export interface JitterBufferOptions extends PacketDelaysOptions {
  /** Ticks of the audio of one packet; a stretch to conceal is so long. */
  readonly frameTicks: number;
  /** Ticks of a packet's audio where packets differ; a multiple of nothing in particular. */
  readonly ticksOf?: (payload: Buffer) => number;
}

export type Pulled =
  | { readonly kind: 'payload'; readonly payload: Buffer; readonly ticks: number }
  | {
      readonly kind: 'conceal';
      readonly ticks: number;
      /** How many stretches in a row this one ends: sound is made up for the first ones, and silence for the others. */
      readonly row: number;
      /** The packet right behind the hole, which may hold a copy of what is missing. It is given as a payload next. */
      readonly next?: Buffer;
    }
  /** Nothing is due. */
  | { readonly kind: 'nothing' };

export interface JitterStats {
  readonly received: number;
  /** Came when their place had been given away. */
  readonly late: number;
  readonly duplicate: number;
  /** Stretches given to conceal while packets were expected. */
  readonly concealed: number;
  /** How long a missing packet is waited for at present. */
  readonly waitMs: Millis;
}

interface Held {
  readonly at: number;
  readonly sequence: number;
  readonly ticks: number;
  readonly payload: Buffer;
}

/** Where nothing at all comes, the network may stand still, and deliver everything afterwards. */
const stallWaitMs = 120;
/** Packets that wait at once; more mean that the line has jumped. */
const mostHeld = 100;
/** So many late packets in a row are no stragglers: the way has become longer, or a silence of the network has ended. */
const lateRun = 5;
/** A line that goes on further away than this has begun anew. */
const longestHoleMs = 2_000;

const nothing: Pulled = { kind: 'nothing' };

/** Extends a counter that wraps: the value next to the last one. */
function unwrap(value: number, { last, bits }: { last: number | undefined; bits: 16 | 32 }): number {
  if (last === undefined) return value;
  const span = 2 ** bits;
  let step = (value - (((last % span) + span) % span)) % span;
  if (step > span / 2) step -= span;
  else if (step < -span / 2) step += span;
  return last + step;
}

export class JitterBuffer {
  readonly #options: JitterBufferOptions;
  readonly #msPerTick: number;
  readonly #delays: PacketDelays;
  /** By timestamp. */
  readonly #held: Held[] = [];
  #sequence: number | undefined;
  #timestamp: number | undefined;
  /** Where the line goes on; undefined before the first packet. */
  #next: number | undefined;
  #lastGiven = 0;
  #row = 0;
  #lateInRow = 0;
  #received = 0;
  #late = 0;
  #duplicate = 0;
  #concealed = 0;

  constructor(options: JitterBufferOptions) {
    this.#options = options;
    this.#msPerTick = 1000 / options.clockRate;
    this.#delays = new PacketDelays(options);
  }

  get stats(): JitterStats {
    return {
      received: this.#received,
      late: this.#late,
      duplicate: this.#duplicate,
      concealed: this.#concealed,
      waitMs: this.#delays.waitMs,
    };
  }

  /** Takes a packet as it comes; the payload is kept until it is given. */
  push({ sequence, timestamp, payload }: RtpPacket, now: Millis): void {
    this.#received += 1;
    const at = unwrap(timestamp, { last: this.#timestamp, bits: 32 });
    const order = unwrap(sequence, { last: this.#sequence, bits: 16 });
    if (this.#next === undefined) {
      this.#next = at;
      this.#lastGiven = order - 1;
    }
    if (order > (this.#sequence ?? -Infinity)) {
      this.#sequence = order;
      this.#timestamp = at;
    }
    if (this.#isLate(at, order, now)) return;
    this.#delays.note(at, now);
    const ticks = this.#options.ticksOf?.(payload) ?? this.#options.frameTicks;
    this.#hold({ at, sequence: order, ticks, payload });
  }

  #isLate(at: number, order: number, now: Millis): boolean {
    const next = this.#next ?? at;
    if (at >= next) {
      this.#lateInRow = 0;
      return false;
    }
    this.#late += 1;
    this.#lateInRow += 1;
    if (this.#lateInRow < lateRun) return true;
    // The line goes on here; what is made up for the time that has passed stays heard.
    this.#restart(at, order, now);
    return false;
  }

  #restart(at: number, order: number, now: Millis): void {
    this.#held.length = 0;
    this.#next = at;
    this.#lastGiven = order - 1;
    this.#sequence = order;
    this.#timestamp = at;
    this.#lateInRow = 0;
    this.#delays.restart(at, now);
  }

  #hold(packet: Held): void {
    let index = this.#held.length;
    while (index > 0 && (this.#held[index - 1]?.at ?? 0) > packet.at) index -= 1;
    if (this.#held[index - 1]?.at === packet.at) {
      this.#duplicate += 1;
      return;
    }
    this.#held.splice(index, 0, packet);
    if (this.#held.length <= mostHeld) return;
    this.#held.shift();
    this.#next = this.#held[0]?.at;
  }

  /** What is due now; to be asked until it is nothing. */
  pull(now: Millis): Pulled {
    const next = this.#next;
    if (next === undefined) return nothing;
    const [head] = this.#held;
    if (head === undefined) return this.#pullEmpty(next, now);
    if (head.at <= next || (head.at - next) * this.#msPerTick > longestHoleMs) return this.#give(head);
    // A sender that was silent skips timestamps and no number: nothing of it is missing.
    const isWhole = head.sequence === this.#lastGiven + 1;
    if (!isWhole && now < this.#delays.dueAt(next) + this.#delays.waitMs) return nothing;
    const ticks = Math.min(this.#options.frameTicks, head.at - next);
    const reaches = !isWhole && next + ticks === head.at;
    return this.#conceal(ticks, reaches ? head.payload : undefined);
  }

  #pullEmpty(next: number, now: Millis): Pulled {
    const overdueMs = now - this.#delays.dueAt(next) - Math.max(this.#delays.waitMs, stallWaitMs);
    if (overdueMs < 0) return nothing;
    const { frameTicks, clockRate } = this.#options;
    // Nobody asked for long: what nobody waited for is left out.
    if (overdueMs > longestHoleMs)
      this.#next = next + Math.floor(((overdueMs / 1000) * clockRate) / frameTicks) * frameTicks;
    return this.#conceal(frameTicks, undefined);
  }

  #conceal(ticks: number, behind: Buffer | undefined): Pulled {
    this.#next = (this.#next ?? 0) + ticks;
    this.#row += 1;
    this.#concealed += 1;
    return { kind: 'conceal', ticks, row: this.#row, ...(behind !== undefined && { next: behind }) };
  }

  #give(head: Held): Pulled {
    this.#held.shift();
    this.#next = head.at + head.ticks;
    this.#lastGiven = head.sequence;
    this.#row = 0;
    return { kind: 'payload', payload: head.payload, ticks: head.ticks };
  }
}

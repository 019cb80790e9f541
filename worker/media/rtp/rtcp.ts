/**
 * Reports about both directions of a call (RFC 3550, 6.4): this side reports the packets that arrived, and the client those that it got.
 * Pure, time as an argument. A malformed report is nothing.
 *
 * Invariant: every report that is written is a compound one: a sender's or a receiver's report, then the source's name.
 */
import type { Millis } from '../../../shared/base/units.ts';

/** Of the direction to the client, as the client sees it. */
export interface ClientReport {
  /** Part of the packets since the last report that were lost, 0 to 1. */
  readonly lost: number;
  readonly jitterMs: Millis;
  /** Absent until the client has got a report of ours. */
  readonly roundTripMs?: Millis;
}

/** How the client's direction has arrived until now. */
export interface Heard {
  readonly packets: number;
  readonly lost: number;
  readonly jitterMs: Millis;
  /** The way of a packet, as far as the client has told of it. */
  readonly delayMs?: Millis;
}

/** Seconds from 1900, which NTP counts from, to 1970. */
const ntpEpochS = 2_208_988_800;
const [senderReport, receiverReport, sourceDescription, goodbye] = [200, 201, 202, 203];

/** The middle 32 bits of an NTP timestamp: seconds in 16 bits, and 65,536ths. */
const middleOf = (unixMs: Millis): number =>
  Math.round((((unixMs / 1000 + ntpEpochS) % 65_536) * 65_536) % 2 ** 32);

export interface ReporterOptions {
  /** Of the service's direction. */
  readonly ssrc: number;
  readonly clockRate: number;
  /** How another connection of the same call was heard. */
  readonly earlier?: Heard | undefined;
}

export class RtcpReporter {
  readonly #options: ReporterOptions;
  readonly #name: Buffer;
  // Packets that came.
  #remoteSsrc: number | undefined;
  #firstSequence = 0;
  #highest = 0;
  #received = 0;
  #expectedBefore = 0;
  #receivedBefore = 0;
  #transit: number | undefined;
  #jitter = 0;
  /** Of the client's streams before this one. */
  #earlier: Pick<Heard, 'packets' | 'lost'>;
  #roundTripMs: Millis | undefined;
  #lastReport: { readonly middle: number; readonly at: Millis } | undefined;
  // Packets that went out.
  #sentPackets = 0;
  #sentBytes = 0;
  #sentTimestamp = 0;
  #sentAt: Millis = 0;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#earlier = options.earlier ?? { packets: 0, lost: 0 };
    this.#name = descriptionOf(options.ssrc);
  }

  /** A packet of the client. */
  arrived(
    packet: { readonly ssrc: number; readonly sequence: number; readonly timestamp: number },
    now: Millis,
  ): void {
    if (packet.ssrc !== this.#remoteSsrc) this.#begin(packet);
    const step = (packet.sequence - (this.#highest & 0xffff) + 0x10000) & 0xffff;
    if (step < 0x8000) this.#highest += step;
    this.#received += 1;
    const transit = (now * this.#options.clockRate) / 1000 - packet.timestamp;
    const change = this.#transit === undefined ? 0 : Math.abs(transit - this.#transit);
    this.#transit = transit;
    // A timestamp that wraps, or a line that begins anew, is no jitter.
    if (change < this.#options.clockRate) this.#jitter += (change - this.#jitter) / 16;
  }

  #begin({ ssrc, sequence }: { readonly ssrc: number; readonly sequence: number }): void {
    this.#earlier = this.#counted;
    this.#remoteSsrc = ssrc;
    this.#firstSequence = sequence;
    this.#highest = sequence;
    this.#received = 0;
    this.#expectedBefore = 0;
    this.#receivedBefore = 0;
    this.#transit = undefined;
    this.#jitter = 0;
    this.#lastReport = undefined;
  }

  /** Undefined where nothing came. */
  get heard(): Heard | undefined {
    const counted = this.#counted;
    if (counted.packets === 0) return undefined;
    const jitterMs = (this.#jitter * 1000) / this.#options.clockRate;
    const delayMs = this.#roundTripMs === undefined ? {} : { delayMs: this.#roundTripMs / 2 };
    return { ...counted, jitterMs, ...delayMs };
  }

  get #counted(): Pick<Heard, 'packets' | 'lost'> {
    const { packets, lost } = this.#earlier;
    const lostNow = this.#remoteSsrc === undefined ? 0 : Math.max(0, this.#expected - this.#received);
    return { packets: packets + this.#received, lost: lost + lostNow };
  }

  get #expected(): number {
    return this.#highest - this.#firstSequence + 1;
  }

  sent(packet: { readonly timestamp: number; readonly bytes: number }, now: Millis): void {
    this.#sentPackets += 1;
    this.#sentBytes += packet.bytes;
    this.#sentTimestamp = packet.timestamp;
    this.#sentAt = now;
  }

  /** A report for the client. `unixMs` is the time of day. */
  report(now: Millis, unixMs: Millis): Buffer {
    const about = this.#remoteSsrc === undefined ? [] : [this.#block(this.#remoteSsrc, now)];
    const sender = this.#sentPackets > 0;
    const body = Buffer.alloc(sender ? 24 : 4);
    body.writeUInt32BE(this.#options.ssrc, 0);
    if (sender) {
      const ntp = unixMs / 1000 + ntpEpochS;
      const timestamp =
        this.#sentTimestamp + Math.round(((now - this.#sentAt) * this.#options.clockRate) / 1000);
      body.writeUInt32BE(Math.floor(ntp) % 2 ** 32, 4);
      body.writeUInt32BE(Math.floor((ntp % 1) * 2 ** 32), 8);
      body.writeUInt32BE(((timestamp % 2 ** 32) + 2 ** 32) % 2 ** 32, 12);
      body.writeUInt32BE(this.#sentPackets % 2 ** 32, 16);
      body.writeUInt32BE(this.#sentBytes % 2 ** 32, 20);
    }
    const type = sender ? senderReport : receiverReport;
    return Buffer.concat([packetOf(type, about.length, Buffer.concat([body, ...about])), this.#name]);
  }

  /** The last word of a call. */
  goodbye(now: Millis, unixMs: Millis): Buffer {
    const body = Buffer.alloc(4);
    body.writeUInt32BE(this.#options.ssrc, 0);
    return Buffer.concat([this.report(now, unixMs), packetOf(goodbye, 1, body)]);
  }

  #block(ssrc: number, now: Millis): Buffer {
    const expected = this.#expected;
    const lost = Math.max(0, Math.min(0x7fffff, expected - this.#received));
    const [lately, got] = [expected - this.#expectedBefore, this.#received - this.#receivedBefore];
    this.#expectedBefore = expected;
    this.#receivedBefore = this.#received;
    const share =
      lately <= 0 || lately <= got ? 0 : Math.min(255, Math.floor(((lately - got) * 256) / lately));
    const block = Buffer.alloc(24);
    block.writeUInt32BE(ssrc, 0);
    block.writeUInt32BE(((share << 24) | lost) >>> 0, 4);
    block.writeUInt32BE(this.#highest % 2 ** 32, 8);
    block.writeUInt32BE(Math.min(2 ** 32 - 1, Math.round(this.#jitter)), 12);
    if (this.#lastReport !== undefined) {
      block.writeUInt32BE(this.#lastReport.middle, 16);
      block.writeUInt32BE(Math.round(((now - this.#lastReport.at) / 1000) * 65_536) % 2 ** 32, 20);
    }
    return block;
  }

  /** Reads what the client reports; undefined where nothing of it is about this call's direction. */
  read(packets: Buffer, now: Millis, unixMs: Millis): ClientReport | undefined {
    let report: ClientReport | undefined;
    for (let at = 0; at + 4 <= packets.length;) {
      const bytes = (packets.readUInt16BE(at + 2) + 1) * 4;
      if ((packets[at] ?? 0) >> 6 !== 2 || at + bytes > packets.length) return report;
      report = this.#readOne(packets.subarray(at, at + bytes), now, unixMs) ?? report;
      at += bytes;
    }
    this.#roundTripMs = report?.roundTripMs ?? this.#roundTripMs;
    return report;
  }

  #readOne(packet: Buffer, now: Millis, unixMs: Millis): ClientReport | undefined {
    const [type, count] = [packet[1] ?? 0, (packet[0] ?? 0) & 0x1f];
    if (type !== senderReport && type !== receiverReport) return undefined;
    if (type === senderReport && packet.length >= 28)
      this.#lastReport = { middle: packet.readUInt32BE(10), at: now };
    let at = type === senderReport ? 28 : 8;
    for (let index = 0; index < count && at + 24 <= packet.length; index += 1, at += 24) {
      if (packet.readUInt32BE(at) !== this.#options.ssrc) continue;
      const [last, delay] = [packet.readUInt32BE(at + 16), packet.readUInt32BE(at + 20)];
      const trip = (middleOf(unixMs) - last - delay + 2 * 2 ** 32) % 2 ** 32;
      return {
        lost: (packet[at + 4] ?? 0) / 256,
        jitterMs: (packet.readUInt32BE(at + 12) * 1000) / this.#options.clockRate,
        // Beyond a minute the report speaks of another time: a clock was set.
        ...(last !== 0 && trip < 60 * 65_536 && { roundTripMs: (trip * 1000) / 65_536 }),
      };
    }
    return undefined;
  }
}

function packetOf(type: number, count: number, body: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head[0] = 0x80 | count;
  head[1] = type;
  head.writeUInt16BE(body.length / 4, 2);
  return Buffer.concat([head, body]);
}

/** SDES with a CNAME that says nothing of the machine. */
function descriptionOf(ssrc: number): Buffer {
  const name = Buffer.from(ssrc.toString(16).padStart(8, '0'));
  const body = Buffer.alloc(4 + 2 + name.length + 2);
  body.writeUInt32BE(ssrc, 0);
  body[4] = 1;
  body[5] = name.length;
  name.copy(body, 6);
  return packetOf(sourceDescription, 1, body);
}

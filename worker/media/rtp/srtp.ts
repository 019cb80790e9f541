/**
 * SRTP keyed by SDES (RFC 3711, RFC 4568). A packet is opened only if nobody has changed it and it was not opened before; the number of
 * turns of the sequence is guessed from the packets before it.
 */
import type { SipKeys, SrtpSuite } from '../../../shared/sip/calls.ts';
import { rtpHeadLength } from './rtp.ts';
import { isGcm, srtpCipher, type SrtpCipher } from './srtp-suite.ts';

/** Packets behind the newest one that may still come, each once (RFC 3711, 3.3.2). */
const windowPackets = 64;

const turnsOf = (index: number): Buffer => wordOf(Math.floor(index / 65_536));

function wordOf(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number >>> 0);
  return bytes;
}

/** Closes packets of this side. */
export class SrtpWriter {
  readonly #cipher: SrtpCipher;

  /** `master`: key and salt, base64. */
  constructor(master: string, suite: SrtpSuite) {
    this.#cipher = srtpCipher(master, suite, 'audio');
  }

  /** `index`: the sequence with its turns, which must never come twice. */
  close(packet: Buffer, index: number): Buffer {
    const from = rtpHeadLength(packet) ?? packet.length;
    const head = packet.subarray(0, from);
    const parts = { head, body: packet.subarray(from), trailer: turnsOf(index) };
    const { body, tag } = this.#cipher.close({ ...parts, ssrc: packet.readUInt32BE(8), index });
    return Buffer.concat([head, body, tag]);
  }
}

/**
 * The packet without the name of its key, which stands before the proof that it is the peer's, and is no part of that; a suite that has the
 * proof within its ciphertext has the name at the end (RFC 3711, 3.1; RFC 7714, 8.2). There is one key, so that nobody needs its name.
 */
function withoutMki(packet: Buffer, { mkiBytes, proofBytes }: MkiPlace): Buffer {
  const to = packet.length - proofBytes;
  if (mkiBytes === 0 || to < mkiBytes) return packet;
  return Buffer.concat([packet.subarray(0, to - mkiBytes), packet.subarray(to)]);
}

/** `proofBytes` stand behind it. */
interface MkiPlace {
  readonly mkiBytes: number;
  readonly proofBytes: number;
}

const mkiPlace = (mkiBytes: number, suite: SrtpSuite, { tagBytes }: SrtpCipher): MkiPlace => ({
  mkiBytes,
  proofBytes: isGcm(suite) ? 0 : tagBytes,
});

/** Opens packets of the peer. */
export class SrtpReader {
  readonly #cipher: SrtpCipher;
  readonly #mki: MkiPlace;
  readonly #ssrcs = new Map<number, { highest: number; seen: bigint }>();

  constructor(master: string, suite: SrtpSuite, mkiBytes = 0) {
    this.#cipher = srtpCipher(master, suite, 'audio');
    this.#mki = mkiPlace(mkiBytes, suite, this.#cipher);
  }

  /** The newest index of the newest source, for the worker that goes on with the call. */
  get place(): { readonly ssrc: number; readonly index: number } | undefined {
    const last = [...this.#ssrcs].at(-1);
    return last && { ssrc: last[0], index: last[1].highest };
  }

  /** Goes on where another process was. A packet that it had opened since is opened once more at most. */
  restore({ ssrc, index }: { readonly ssrc: number; readonly index: number }): void {
    this.#ssrcs.set(ssrc, { highest: index, seen: (1n << BigInt(windowPackets)) - 1n });
  }

  /** Undefined where the packet is not the peer's, or was here before. */
  open(sent: Buffer): Buffer | undefined {
    const packet = withoutMki(sent, this.#mki);
    const from = rtpHeadLength(packet);
    const to = packet.length - this.#cipher.tagBytes;
    if (from === undefined || to < from) return undefined;
    const ssrc = packet.readUInt32BE(8);
    const known = this.#ssrcs.get(ssrc);
    const index = guess(packet.readUInt16BE(2), known?.highest);
    const behind = known === undefined ? -1 : known.highest - index;
    if (index < 0 || behind >= windowPackets) return undefined;
    if (known !== undefined && behind >= 0 && ((known.seen >> BigInt(behind)) & 1n) === 1n) return undefined;
    const head = packet.subarray(0, from);
    const parts = { head, body: packet.subarray(from, to), trailer: turnsOf(index), ssrc, index };
    const body = this.#cipher.open(parts, packet.subarray(to));
    if (body === undefined) return undefined;
    this.#note(ssrc, index);
    return Buffer.concat([head, body]);
  }

  #note(ssrc: number, index: number): void {
    const known = this.#ssrcs.get(ssrc);
    // Sources in the keys' name are few; of many, the oldest are forgotten.
    if (known === undefined && this.#ssrcs.size >= 4) this.#ssrcs.delete([...this.#ssrcs.keys()][0] ?? 0);
    if (known === undefined) {
      this.#ssrcs.set(ssrc, { highest: index, seen: 1n });
      return;
    }
    const ahead = index - known.highest;
    if (ahead > 0) {
      known.seen = BigInt.asUintN(windowPackets, (known.seen << BigInt(Math.min(ahead, windowPackets))) | 1n);
      known.highest = index;
    } else known.seen |= 1n << BigInt(-ahead);
  }
}

/** The sequence with its turns, next to the newest one (RFC 3711, 3.3.1). */
function guess(sequence: number, highest: number | undefined): number {
  if (highest === undefined) return sequence;
  const turns = Math.floor(highest / 65_536);
  const last = highest % 65_536;
  if (last < 32_768)
    return sequence - last > 32_768 ? (turns - 1) * 65_536 + sequence : turns * 65_536 + sequence;
  return last - 32_768 > sequence ? (turns + 1) * 65_536 + sequence : turns * 65_536 + sequence;
}

/** Marks a report as encrypted, beside its index. */
const isEncryptedBit = 0x8000_0000;
const reportHeadBytes = 8;

/** Where the reports of both sides stand: no index of this side is used twice, and none of the peer's is read twice. */
export interface SrtcpPlace {
  sent: number;
  heard: number;
}

/** Reports of both sides (RFC 3711, 3.4). */
export class Srtcp {
  readonly place: SrtcpPlace;
  readonly #own: SrtpCipher;
  readonly #peers: SrtpCipher;
  readonly #mki: MkiPlace;
  readonly #isGcm: boolean;

  constructor({ suite, local, remote, mkiBytes = 0 }: SipKeys, place: SrtcpPlace) {
    this.place = place;
    this.#own = srtpCipher(local, suite, 'reports');
    this.#peers = srtpCipher(remote, suite, 'reports');
    this.#mki = mkiPlace(mkiBytes, suite, this.#peers);
    this.#isGcm = isGcm(suite);
  }

  close(packet: Buffer): Buffer {
    const index = (this.place.sent += 1);
    const head = packet.subarray(0, reportHeadBytes);
    const trailer = wordOf(isEncryptedBit + index);
    const parts = {
      head,
      body: packet.subarray(reportHeadBytes),
      trailer,
      ssrc: packet.readUInt32BE(4),
      index,
    };
    const { body, tag } = this.#own.close(parts);
    return Buffer.concat(this.#isGcm ? [head, body, tag, trailer] : [head, body, trailer, tag]);
  }

  /** Undefined where the report is not the peer's, is not encrypted, or is not newer than those before it. */
  open(sent: Buffer): Buffer | undefined {
    const { tagBytes } = this.#peers;
    const packet = withoutMki(sent, this.#mki);
    const to = packet.length - tagBytes - 4;
    if (to < reportHeadBytes) return undefined;
    const tag = packet.subarray(this.#isGcm ? to : to + 4).subarray(0, tagBytes);
    const trailer = packet.subarray(this.#isGcm ? to + tagBytes : to).subarray(0, 4);
    const index = trailer.readUInt32BE() - isEncryptedBit;
    if (index <= this.place.heard) return undefined;
    const head = packet.subarray(0, reportHeadBytes);
    const parts = {
      head,
      body: packet.subarray(reportHeadBytes, to),
      trailer,
      ssrc: packet.readUInt32BE(4),
      index,
    };
    const body = this.#peers.open(parts, tag);
    if (body === undefined) return undefined;
    this.place.heard = index;
    return Buffer.concat([head, body]);
  }
}

/**
 * SRTP with AES in counter mode and HMAC-SHA1 (RFC 3711), keyed by SDES (RFC 4568). A packet is opened only if nobody has changed it and
 * it was not opened before; the number of turns of the sequence is guessed from the packets before it.
 */
import { createCipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import type { SrtpSuite } from '../../../shared/protocol/sip/calls.ts';
import { rtpHeadLength } from './rtp.ts';

const tagBytes: Readonly<Record<SrtpSuite, number>> = {
  AES_CM_128_HMAC_SHA1_80: 10,
  AES_CM_128_HMAC_SHA1_32: 4,
};
const keyBytes = 16;
const saltBytes = 14;
const authBytes = 20;
/** Packets behind the newest one that may still come, each once (RFC 3711, 3.3.2). */
const windowPackets = 64;

interface SessionKeys {
  readonly key: Buffer;
  readonly salt: Buffer;
  readonly auth: Buffer;
  readonly tag: number;
}

/** Keys of a session from master key and salt (RFC 3711, 4.3). */
function derive(master: Buffer, suite: SrtpSuite): SessionKeys {
  const from = (label: number, length: number): Buffer => {
    const iv = Buffer.alloc(16);
    master.copy(iv, 0, keyBytes, keyBytes + saltBytes);
    iv[7] = (iv[7] ?? 0) ^ label;
    return createCipheriv('aes-128-ctr', master.subarray(0, keyBytes), iv).update(Buffer.alloc(length));
  };
  return { key: from(0, keyBytes), auth: from(1, authBytes), salt: from(2, saltBytes), tag: tagBytes[suite] };
}

/** The same for both directions: a stream of bits that is put over the payload. */
function cover(
  { key, salt }: SessionKeys,
  payload: Uint8Array,
  { ssrc, index }: { ssrc: number; index: number },
): Buffer {
  const iv = Buffer.alloc(16);
  salt.copy(iv);
  iv.writeUInt32BE((iv.readUInt32BE(4) ^ ssrc) >>> 0, 4);
  iv.writeUInt32BE((iv.readUInt32BE(8) ^ Math.floor(index / 65_536)) >>> 0, 8);
  iv.writeUInt16BE(iv.readUInt16BE(12) ^ (index & 0xffff), 12);
  return createCipheriv('aes-128-ctr', key, iv).update(payload);
}

function tagOf({ auth, tag }: SessionKeys, packet: Uint8Array, index: number): Buffer {
  const turns = Buffer.alloc(4);
  turns.writeUInt32BE(Math.floor(index / 65_536) >>> 0);
  return createHmac('sha1', auth).update(packet).update(turns).digest().subarray(0, tag);
}

/** Closes packets of this side. */
export class SrtpWriter {
  readonly #keys: SessionKeys;

  /** `master`: key and salt, base64. */
  constructor(master: string, suite: SrtpSuite) {
    this.#keys = derive(Buffer.from(master, 'base64'), suite);
  }

  /** `index`: the sequence with its turns, which must never come twice. */
  close(packet: Buffer, index: number): Buffer {
    const from = rtpHeadLength(packet) ?? packet.length;
    const ssrc = packet.readUInt32BE(8);
    const closed = Buffer.concat([
      packet.subarray(0, from),
      cover(this.#keys, packet.subarray(from), { ssrc, index }),
    ]);
    return Buffer.concat([closed, tagOf(this.#keys, closed, index)]);
  }
}

/** Opens packets of the peer. */
export class SrtpReader {
  readonly #keys: SessionKeys;
  readonly #ssrcs = new Map<number, { highest: number; seen: bigint }>();

  constructor(master: string, suite: SrtpSuite) {
    this.#keys = derive(Buffer.from(master, 'base64'), suite);
  }

  /** The newest index of the newest source, for whoever goes on with the call. */
  get place(): { readonly ssrc: number; readonly index: number } | undefined {
    const last = [...this.#ssrcs].at(-1);
    return last && { ssrc: last[0], index: last[1].highest };
  }

  /** Goes on where another process was. What it had opened since is opened once more at most. */
  restore({ ssrc, index }: { readonly ssrc: number; readonly index: number }): void {
    this.#ssrcs.set(ssrc, { highest: index, seen: (1n << BigInt(windowPackets)) - 1n });
  }

  /** Undefined where the packet is not the peer's, or was here before. */
  open(packet: Buffer): Buffer | undefined {
    const { tag } = this.#keys;
    const from = rtpHeadLength(packet);
    const to = packet.length - tag;
    if (from === undefined || to < from) return undefined;
    const ssrc = packet.readUInt32BE(8);
    const known = this.#ssrcs.get(ssrc);
    const index = guess(packet.readUInt16BE(2), known?.highest);
    const behind = known === undefined ? -1 : known.highest - index;
    if (index < 0 || behind >= windowPackets) return undefined;
    if (known !== undefined && behind >= 0 && ((known.seen >> BigInt(behind)) & 1n) === 1n) return undefined;
    const body = packet.subarray(0, to);
    if (!timingSafeEqual(tagOf(this.#keys, body, index), packet.subarray(to))) return undefined;
    this.#note(ssrc, index);
    return Buffer.concat([body.subarray(0, from), cover(this.#keys, body.subarray(from), { ssrc, index })]);
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

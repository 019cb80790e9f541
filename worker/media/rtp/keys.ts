/**
 * Keys that travel as RTP events (RFC 4733). A key is many packets: one timestamp, growing duration, the end sent three times. It counts
 * once, with its first packet; losing any of them, or all but one, changes nothing.
 */
const digits = '0123456789*#ABCD';

/** Reads the keys of one stream. */
export class KeyReader {
  #ssrc = -1;
  #timestamp = -1;

  /** The key that begins with this packet; undefined where it is none, or one that was told before. */
  take({
    ssrc,
    timestamp,
    payload,
  }: {
    readonly ssrc: number;
    readonly timestamp: number;
    readonly payload: Uint8Array;
  }): string | undefined {
    const digit = payload.length >= 4 ? digits[payload[0] ?? 255] : undefined;
    if (digit === undefined) return undefined;
    if (ssrc === this.#ssrc && !isNewer(timestamp, this.#timestamp)) return undefined;
    this.#ssrc = ssrc;
    this.#timestamp = timestamp;
    return digit;
  }
}

const isNewer = (timestamp: number, than: number): boolean =>
  than < 0 || (timestamp !== than && (timestamp - than) >>> 0 < 2 ** 31);

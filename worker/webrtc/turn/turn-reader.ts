/**
 * What a TURN server sends on a TCP or TLS connection, cut into messages and channel data (RFC 8656, 12.5). Pure.
 *
 * Invariant: no more than one whole message is kept; anything else ends the connection.
 */

export class TurnReader {
  #rest: Buffer = Buffer.alloc(0);

  /** What is whole now; undefined once the other side speaks something else. */
  push(chunk: Buffer): readonly Buffer[] | undefined {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const whole: Buffer[] = [];
    let at = 0;
    while (bytes.length - at >= 4) {
      const [first, length] = [bytes[at] ?? 0xff, bytes.readUInt16BE(at + 2)];
      if (first >= 0x50) return undefined;
      const isChannel = first >= 0x40;
      if (!isChannel && first > 3) return undefined;
      const end = at + (isChannel ? 4 + ((length + 3) & ~3) : 20 + length);
      if (end > bytes.length) break;
      whole.push(bytes.subarray(at, end));
      at = end;
    }
    this.#rest = bytes.subarray(at);
    return whole;
  }
}

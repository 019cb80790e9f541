/**
 * Packets of media on a TCP connection (RFC 4571): each behind its length in two bytes. Pure.
 *
 * Invariant: no more than one frame and what came with it is kept, whatever the other side sends.
 */

const lengthBytes = 2;

export class FrameReader {
  readonly #longest: number;
  #rest: Buffer = Buffer.alloc(0);

  constructor(longest: number) {
    this.#longest = longest;
  }

  /** The frames that are whole now, empty ones left out; undefined as soon as one is longer than it may be. */
  push(chunk: Buffer): readonly Buffer[] | undefined {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    let at = 0;
    while (bytes.length - at >= lengthBytes) {
      const length = bytes.readUInt16BE(at);
      if (length > this.#longest) return undefined;
      if (bytes.length - at - lengthBytes < length) break;
      at += lengthBytes;
      if (length > 0) frames.push(bytes.subarray(at, at + length));
      at += length;
    }
    this.#rest = bytes.subarray(at);
    return frames;
  }
}

/** A packet behind its length. */
export function framed(packet: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(lengthBytes + packet.length);
  bytes.writeUInt16BE(packet.length, 0);
  packet.copy(bytes, lengthBytes);
  return bytes;
}

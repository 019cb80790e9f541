/** RTP packets (RFC 3550, 5.1): reading what arrives, which may be anything, and writing what goes out. */

export interface RtpPacket {
  readonly payloadType: number;
  readonly marker: boolean;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  /** A view of the packet. */
  readonly payload: Uint8Array;
}

export const rtpHeadBytes = 12;

/** Whether a datagram on a port for both is RTCP (RFC 5761, 4). */
export const isRtcp = (packet: Uint8Array): boolean =>
  packet.length >= 8 && (packet[1] ?? 0) >= 192 && (packet[1] ?? 0) <= 223;

/** Bytes of the head with its contributors and extension; undefined where this is no RTP. */
export function rtpHeadLength(packet: Uint8Array): number | undefined {
  const [first = 0, second = 0] = packet;
  if (packet.length < rtpHeadBytes || first >> 6 !== 2) return undefined;
  // Types of RTCP that came to the port of RTP (RFC 5761, 4).
  if (second >= 192 && second <= 223) return undefined;
  let length = rtpHeadBytes + 4 * (first & 15);
  if ((first & 0x10) !== 0) {
    if (packet.length < length + 4) return undefined;
    length += 4 + 4 * (((packet[length + 2] ?? 0) << 8) | (packet[length + 3] ?? 0));
  }
  return length <= packet.length ? length : undefined;
}

/** Undefined where the bytes are no RTP packet. */
export function readRtp(packet: Uint8Array): RtpPacket | undefined {
  const from = rtpHeadLength(packet);
  if (from === undefined) return undefined;
  const padding = ((packet[0] ?? 0) & 0x20) === 0 ? 0 : (packet[packet.length - 1] ?? 0);
  const to = packet.length - padding;
  if (to < from || (((packet[0] ?? 0) & 0x20) !== 0 && padding === 0)) return undefined;
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  return {
    payloadType: (packet[1] ?? 0) & 127,
    marker: (packet[1] ?? 0) >= 128,
    sequence: view.getUint16(2),
    timestamp: view.getUint32(4),
    ssrc: view.getUint32(8),
    payload: packet.subarray(from, to),
  };
}

export type RtpHead = Omit<RtpPacket, 'payload'>;

/** Writes the head into the first bytes of `packet`. */
export function writeRtpHead(
  packet: Buffer,
  { payloadType, marker, sequence, timestamp, ssrc }: RtpHead,
): void {
  packet[0] = 0x80;
  packet[1] = payloadType | (marker ? 0x80 : 0);
  packet.writeUInt16BE(sequence & 0xffff, 2);
  packet.writeUInt32BE(timestamp >>> 0, 4);
  packet.writeUInt32BE(ssrc >>> 0, 8);
}

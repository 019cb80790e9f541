/** RTP packets of one call as they stand on the wire (RFC 3550, 5.1). Bytes that are no whole packet of version 2 are nothing. */

export interface RtpHeader {
  readonly marker: boolean;
  readonly payloadType: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
}

export interface ReadRtp extends RtpHeader {
  /** A part of the packet, not a copy. */
  readonly payload: Buffer;
}

const headerBytes = 12;

/** Whether a datagram on a multiplexed connection is RTCP (RFC 5761, 4). */
export const isRtcp = (packet: Buffer): boolean =>
  packet.length >= 8 && (packet[1] ?? 0) >= 192 && (packet[1] ?? 0) <= 223;

export function readRtp(packet: Buffer): ReadRtp | undefined {
  const first = packet[0] ?? 0;
  if (packet.length < headerBytes || first >> 6 !== 2) return undefined;
  let from = headerBytes + (first & 0x0f) * 4;
  if ((first & 0x10) !== 0) {
    if (packet.length < from + 4) return undefined;
    from += 4 + packet.readUInt16BE(from + 2) * 4;
  }
  const padding = (first & 0x20) === 0 ? 0 : (packet[packet.length - 1] ?? 0);
  const to = packet.length - padding;
  if (from > to) return undefined;
  const second = packet[1] ?? 0;
  return {
    marker: (second & 0x80) !== 0,
    payloadType: second & 0x7f,
    sequence: packet.readUInt16BE(2),
    timestamp: packet.readUInt32BE(4),
    ssrc: packet.readUInt32BE(8),
    payload: packet.subarray(from, to),
  };
}

export function writeRtp(header: RtpHeader, payload: Uint8Array): Buffer {
  const packet = Buffer.allocUnsafe(headerBytes + payload.length);
  packet[0] = 0x80;
  packet[1] = (header.marker ? 0x80 : 0) | header.payloadType;
  packet.writeUInt16BE(header.sequence, 2);
  packet.writeUInt32BE(header.timestamp, 4);
  packet.writeUInt32BE(header.ssrc, 8);
  packet.set(payload, headerBytes);
  return packet;
}

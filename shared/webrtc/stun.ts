/**
 * Messages of STUN and TURN as bytes (RFC 8489, RFC 8656). Pure. A stranger writes what is read here: every length is checked, and what
 * is no message is undefined.
 *
 * Invariant: a message that is written ends in its integrity, where there is a key, and in a fingerprint otherwise.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { formatIp, parseIp } from '../net/cidr.ts';

const cookie = 0x2112a442;
const headBytes = 20;
const transactionBytes = 12;
const integrityBytes = 20;

/** Types of message: method and class in one number. */
export const stunType = {
  bindingRequest: 0x0001,
  allocateRequest: 0x0003,
  allocateSuccess: 0x0103,
  allocateError: 0x0113,
  refreshRequest: 0x0004,
  refreshSuccess: 0x0104,
  refreshError: 0x0114,
  sendIndication: 0x0016,
  dataIndication: 0x0017,
  permissionRequest: 0x0008,
  permissionSuccess: 0x0108,
  permissionError: 0x0118,
  channelRequest: 0x0009,
  channelSuccess: 0x0109,
  channelError: 0x0119,
} as const;

export const stunAttribute = {
  username: 0x0006,
  integrity: 0x0008,
  errorCode: 0x0009,
  channelNumber: 0x000c,
  lifetime: 0x000d,
  peerAddress: 0x0012,
  data: 0x0013,
  realm: 0x0014,
  nonce: 0x0015,
  relayedAddress: 0x0016,
  requestedTransport: 0x0019,
  fingerprint: 0x8028,
} as const;

export interface StunMessage {
  readonly type: number;
  readonly transaction: Buffer;
  /** The first value of each attribute; what stands behind the integrity does not count. */
  readonly attributes: ReadonlyMap<number, Buffer>;
  /** Where the integrity stands; undefined where there is none. */
  readonly integrityAt: number | undefined;
  readonly bytes: Buffer;
}

export interface SocketAddress {
  readonly ip: string;
  readonly port: number;
}

/** Reads a whole message; undefined for anything else. The values lie in `bytes`. */
export function readStun(bytes: Buffer): StunMessage | undefined {
  if (bytes.length < headBytes || (bytes[0] ?? 0xff) > 3 || bytes.readUInt32BE(4) !== cookie)
    return undefined;
  if (bytes.readUInt16BE(2) !== bytes.length - headBytes || bytes.length % 4 !== 0) return undefined;
  const attributes = new Map<number, Buffer>();
  let integrityAt: number | undefined;
  for (let at = headBytes; at < bytes.length && integrityAt === undefined;) {
    const [type, length] = [bytes.readUInt16BE(at), bytes.readUInt16BE(at + 2)];
    if (at + 4 + length > bytes.length) return undefined;
    if (!attributes.has(type)) attributes.set(type, bytes.subarray(at + 4, at + 4 + length));
    if (type === stunAttribute.integrity) integrityAt = at;
    at += 4 + padded(length);
  }
  const transaction = bytes.subarray(8, headBytes);
  return { type: bytes.readUInt16BE(0), transaction, attributes, integrityAt, bytes };
}

const padded = (length: number): number => (length + 3) & ~3;

/** Whether the sender knows the key. */
export function hasIntegrity({ bytes, integrityAt, attributes }: StunMessage, key: string | Buffer): boolean {
  const given = attributes.get(stunAttribute.integrity);
  if (integrityAt === undefined || given?.length !== integrityBytes) return false;
  return timingSafeEqual(given, integrityOf(bytes.subarray(0, integrityAt), key));
}

/** Over everything before it, as though the message ended with it. */
function integrityOf(before: Buffer, key: string | Buffer): Buffer {
  const head = Buffer.from(before.subarray(0, 4));
  head.writeUInt16BE(before.length - headBytes + 4 + integrityBytes, 2);
  return createHmac('sha1', key).update(head).update(before.subarray(4)).digest();
}

/** The key of long-term credentials (RFC 8489, 9.2.2). */
export const longTermKey = (username: string, realm: string, password: string): Buffer =>
  createHash('md5').update(`${username}:${realm}:${password}`).digest();

/** Writes a message; with a key it proves to know it. `transaction` has 12 bytes. */
export function writeStun(
  type: number,
  {
    transaction,
    attributes,
    key,
  }: {
    readonly transaction: Buffer;
    readonly attributes: readonly (readonly [type: number, value: Buffer])[];
    readonly key?: Buffer | string | undefined;
  },
): Buffer {
  const length = attributes.reduce((sum, [, value]) => sum + 4 + padded(value.length), 0);
  const last = 4 + (key === undefined ? 4 : integrityBytes);
  const bytes = Buffer.alloc(headBytes + length + last);
  bytes.writeUInt16BE(type, 0);
  bytes.writeUInt16BE(length + last, 2);
  bytes.writeUInt32BE(cookie, 4);
  transaction.copy(bytes, 8, 0, transactionBytes);
  let at = headBytes;
  const put = (attribute: number, value: Buffer): void => {
    bytes.writeUInt16BE(attribute, at);
    bytes.writeUInt16BE(value.length, at + 2);
    value.copy(bytes, at + 4);
    at += 4 + padded(value.length);
  };
  for (const [attribute, value] of attributes) put(attribute, value);
  if (key !== undefined) put(stunAttribute.integrity, integrityOf(bytes.subarray(0, at), key));
  else put(stunAttribute.fingerprint, fingerprintOf(bytes.subarray(0, at)));
  return bytes;
}

function fingerprintOf(before: Buffer): Buffer {
  const value = Buffer.alloc(4);
  value.writeUInt32BE((crc32(before) ^ 0x5354554e) >>> 0);
  return value;
}

function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** An address as it stands in XOR-PEER-ADDRESS and its like. */
export function xoredAddress({ ip, port }: SocketAddress, transaction: Buffer): Buffer {
  const address = parseIp(ip) ?? [];
  const mask = maskOf(transaction);
  return Buffer.from([
    ...[
      0,
      address.length === 4 ? 1 : 2,
      (port >> 8) ^ (cookie >>> 24),
      (port & 0xff) ^ ((cookie >>> 16) & 0xff),
    ],
    ...address.map((byte, index) => byte ^ (mask[index] ?? 0)),
  ]);
}

export function readXoredAddress(value: Buffer | undefined, transaction: Buffer): SocketAddress | undefined {
  const isSix = value?.[1] === 2;
  if (value === undefined || value.length !== (isSix ? 20 : 8) || (!isSix && value[1] !== 1))
    return undefined;
  const mask = maskOf(transaction);
  const ip = formatIp([...value.subarray(4)].map((byte, index) => byte ^ (mask[index] ?? 0)));
  return { ip, port: value.readUInt16BE(2) ^ (cookie >>> 16) };
}

function maskOf(transaction: Buffer): readonly number[] {
  return [cookie >>> 24, (cookie >>> 16) & 0xff, (cookie >>> 8) & 0xff, cookie & 0xff, ...transaction];
}

/** The number of an error; 0 where it cannot be read. */
export function errorCodeOf({ attributes }: StunMessage): number {
  const value = attributes.get(stunAttribute.errorCode);
  return value === undefined || value.length < 4 ? 0 : ((value[2] ?? 0) & 7) * 100 + (value[3] ?? 0);
}

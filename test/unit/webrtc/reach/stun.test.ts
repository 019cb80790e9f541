/** Messages of STUN as bytes: against the vectors of RFC 5769, and what is none. */
import { describe, expect, it } from 'vitest';
import { FrameReader, framed } from '../../../../shared/webrtc/framing.ts';
import {
  errorCodeOf,
  hasIntegrity,
  longTermKey,
  readStun,
  readXoredAddress,
  stunAttribute,
  stunType,
  writeStun,
  xoredAddress,
} from '../../../../shared/webrtc/stun.ts';

const hex = (text: string): Buffer => Buffer.from(text.replace(/\s/g, ''), 'hex');

/** RFC 5769, 2.1. */
const request = hex(`
  000100582112a442b7e7a701bc34d686fa87dfae
  802200105354554e207465737420636c69656e74
  002400046e0001ff80290008932ff9b151263b36
  000600096576746a3a68367659202020
  000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2
  80280004e57a3bcf`);
/** RFC 5769, 2.2. */
const response = hex(`
  0101003c2112a442b7e7a701bc34d686fa87dfae
  8022000b7465737420766563746f7220
  002000080001a147e112a643
  000800142b91f599fd9e90c38c7489f92af9ba53f06be7d7
  80280004c07d4c96`);
const password = 'VOkJxbRl1RmTxUk/WvJxBt';

describe('a STUN message', () => {
  it('of RFC 5769 is read, and proves the password', () => {
    const message = readStun(request);
    expect(message?.type).toBe(stunType.bindingRequest);
    expect(message?.attributes.get(stunAttribute.username)?.toString()).toBe('evtj:h6vY');
    expect(message && hasIntegrity(message, password)).toBe(true);
    expect(message && hasIntegrity(message, `${password}x`)).toBe(false);
  });

  it('of RFC 5769 holds its address', () => {
    const message = readStun(response);
    expect(message && hasIntegrity(message, password)).toBe(true);
    const mapped = message?.attributes.get(0x0020);
    expect(readXoredAddress(mapped, message?.transaction ?? Buffer.alloc(12))).toEqual({
      ...{ ip: '192.0.2.1', port: 32_853 },
    });
  });

  it('that was changed on the way proves nothing', () => {
    for (let at = 20; at < 76; at += 1) {
      const changed = Buffer.from(request);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const message = readStun(changed);
      expect(message !== undefined && hasIntegrity(message, password)).toBe(false);
    }
  });

  it.each(['192.0.2.1', '2001:db8:0:0:0:0:0:1'])('that is written can be read: %s', (ip) => {
    const transaction = Buffer.from('0123456789ab');
    const key = longTermKey('user', 'realm', 'pass');
    const peer = xoredAddress({ ip, port: 4_711 }, transaction);
    const attributes = [
      [stunAttribute.peerAddress, peer],
      [stunAttribute.username, Buffer.from('user')],
    ] as const;
    const message = readStun(writeStun(stunType.permissionRequest, { transaction, attributes, key }));
    expect(message && hasIntegrity(message, key)).toBe(true);
    const read = readXoredAddress(message?.attributes.get(stunAttribute.peerAddress), transaction);
    expect(read).toMatchObject({ port: 4_711 });
  });

  it('has the fingerprint of RFC 5769', () => {
    const [transaction, software] = [request.subarray(8, 20), Buffer.from('STUN test client')];
    const bytes = writeStun(stunType.bindingRequest, { transaction, attributes: [[0x8022, software]] });
    expect(bytes.length).toBe(48);
    expect(readStun(bytes)?.attributes.get(stunAttribute.fingerprint)).toHaveLength(4);
  });

  it('is none when it is cut, longer than it says, or something else; nothing throws', () => {
    for (let length = 0; length < request.length; length += 1)
      expect(readStun(request.subarray(0, length))).toBeUndefined();
    expect(readStun(Buffer.concat([request, Buffer.alloc(4)]))).toBeUndefined();
    let seed = 7;
    const next = (): number => (seed = (seed * 48_271) % 0x7fffffff);
    for (let round = 0; round < 5_000; round += 1) {
      const bytes = Buffer.from(request);
      for (let change = 0; change < 4; change += 1) bytes[next() % bytes.length] = next() & 0xff;
      const message = readStun(bytes);
      if (message === undefined) continue;
      errorCodeOf(message);
      for (const value of message.attributes.values()) readXoredAddress(value, message.transaction);
    }
  });
});

describe('frames on a TCP connection', () => {
  it('are the same however they are cut, and empty ones are left out', () => {
    const packets = [Buffer.from('one'), Buffer.alloc(0), Buffer.alloc(300, 7), Buffer.from('x')];
    const stream = Buffer.concat(packets.map(framed));
    for (let size = 1; size < stream.length; size += 1) {
      const reader = new FrameReader(512);
      const read: Buffer[] = [];
      for (let at = 0; at < stream.length; at += size)
        read.push(...(reader.push(stream.subarray(at, at + size)) ?? []));
      expect(read.map(String)).toEqual(packets.filter(({ length }) => length > 0).map(String));
    }
  });

  it('may be as long as is allowed and no longer', () => {
    expect(new FrameReader(512).push(framed(Buffer.alloc(512)))).toHaveLength(1);
    expect(new FrameReader(512).push(framed(Buffer.alloc(513)))).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { SrtpReader, SrtpWriter } from '../../../worker/media/rtp/srtp.ts';

const master = Buffer.from('e1f97a0d3e018be0d64fa32c06de41390ec675ad498afeebb6960b3aabe6', 'hex').toString(
  'base64',
);
const plain = Buffer.from(`800f1234decafbadcafebabe${'ab'.repeat(16)}`, 'hex');
const suite = 'AES_CM_128_HMAC_SHA1_80';

describe('SRTP', () => {
  it('closes a packet to the bytes that every implementation makes of it', () => {
    const closed = new SrtpWriter(master, suite).close(plain, 0x1234);
    expect(closed.toString('hex')).toBe(
      '800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb',
    );
  });

  it('opens each packet once, and none that was changed', () => {
    const closed = new SrtpWriter(master, suite).close(plain, 0x1234);
    const reader = new SrtpReader(master, suite);
    const changed = Buffer.from(closed);
    changed[20] = (changed[20] ?? 0) ^ 1;
    expect(reader.open(changed)).toBeUndefined();
    expect(reader.open(closed)).toEqual(plain);
    expect(reader.open(closed)).toBeUndefined();
  });

  it('goes on over the turn of the sequence, and where another process was', () => {
    const writer = new SrtpWriter(master, 'AES_CM_128_HMAC_SHA1_32');
    const packet = (index: number): Buffer => {
      const bytes = Buffer.from(plain);
      bytes.writeUInt16BE(index & 0xffff, 2);
      return writer.close(bytes, index);
    };
    const reader = new SrtpReader(master, 'AES_CM_128_HMAC_SHA1_32');
    for (const index of [65_530, 65_535, 65_536, 65_534, 65_540])
      expect(reader.open(packet(index))).toBeDefined();
    const next = new SrtpReader(master, 'AES_CM_128_HMAC_SHA1_32');
    next.restore(reader.place!);
    expect(next.open(packet(65_536))).toBeUndefined();
    expect(next.open(packet(65_600))).toBeDefined();
  });
});

/** G.722 against what another implementation (libspandsp) makes of the same bytes, and against itself. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { G722Decoder, G722Encoder } from '../../../worker/media/rtp/g722.ts';

/** Noise that anybody can make again, silent, soft and as loud as it gets. */
function noise(samples: number): Int16Array {
  let x = 12_345;
  return Int16Array.from({ length: samples }, (_, i) => {
    x = Number((BigInt(x) * 1_103_515_245n + 12_345n) & 0x7fffffffn);
    const level = [0, 200, 3_000, 16_000, 24_000][Math.floor(i / 800) % 5] ?? 0;
    return Math.floor(((((x >> 8) % 65_536) - 32_768) * level) / 32_768);
  });
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const bytesOf = (pcm: Int16Array): Uint8Array => new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);

function encoded(pcm: Int16Array): Uint8Array {
  const bytes = new Uint8Array(pcm.length / 2);
  new G722Encoder().encode(pcm, bytes);
  return bytes;
}

function decoded(bytes: Uint8Array): Int16Array {
  const pcm = new Int16Array(bytes.length * 2);
  new G722Decoder().decode(bytes, pcm);
  return pcm;
}

describe('G.722', () => {
  it('encodes bit by bit what the reference encodes', () => {
    expect(hashOf(encoded(noise(16_000)))).toBe(
      '8c8b880aa2da2fce3b4ccfc4b0e00f36c59fbea0a1ee9665f11b27542e16fadb',
    );
  });

  it('decodes sample by sample what the reference decodes', () => {
    expect(hashOf(bytesOf(decoded(encoded(noise(16_000)))))).toBe(
      '3f34bd604c3f81cc7d0ff22d8b253f326586cb0b4799a0b55731dc3135a312b4',
    );
  });

  it('clips where the sum of both bands is louder than a sample can be', () => {
    const bytes = Uint8Array.from({ length: 8_000 }, (_, i) => (i * 7_919 + Math.floor(i / 3)) & 255);
    const pcm = decoded(bytes);
    expect(pcm).toContain(32_767);
    expect(pcm).toContain(-32_768);
  });

  it('goes on from frame to frame as in one piece', () => {
    const pcm = noise(3_200);
    const encoder = new G722Encoder();
    const frames = Array.from({ length: 10 }, (_, i) => {
      const bytes = new Uint8Array(160);
      encoder.encode(pcm.subarray(i * 320, (i + 1) * 320), bytes);
      return bytes;
    });
    expect(Buffer.concat(frames)).toEqual(Buffer.from(encoded(pcm)));
  });
});

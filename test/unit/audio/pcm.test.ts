/** Samples in byte buffers, and loudness. */
import { describe, expect, it } from 'vitest';
import { int16View, rmsDbfs, SILENCE_DBFS, writeInt16 } from '../../../shared/audio/pcm.ts';

const samples = Int16Array.of(0, 1, -1, 32_767, -32_768, 258);
const wire = Uint8Array.of(0, 0, 1, 0, 255, 255, 255, 127, 0, 128, 2, 1);

describe('int16View', () => {
  it('reads little-endian samples in place where the bytes are aligned', () => {
    const bytes = wire.slice();
    const scratch = new Int16Array(0);
    const view = int16View(bytes, scratch);
    expect(view).toEqual(samples);
    bytes[0] = 7;
    expect(view[0]).toBe(7);
  });

  it('reads unaligned bytes through the scratch', () => {
    const shifted = new Uint8Array(wire.length + 1);
    shifted.set(wire, 1);
    const scratch = new Int16Array(8);
    const view = int16View(shifted.subarray(1), scratch);
    expect(view).toEqual(samples);
    expect(view.buffer).toBe(scratch.buffer);
  });

  it('takes no half samples, and no scratch that is too short', () => {
    expect(() => int16View(new Uint8Array(3), new Int16Array(2))).toThrow('whole samples');
    expect(() => int16View(new Uint8Array(5).subarray(1), new Int16Array(1))).toThrow('scratch');
  });
});

describe('writeInt16', () => {
  it('writes little-endian samples at any offset', () => {
    const out = new Uint8Array(wire.length + 3);
    expect(writeInt16(samples, out, 3)).toBe(out.length);
    expect(out.subarray(3)).toEqual(wire);
  });

  it('writes only the samples of a view', () => {
    const out = new Uint8Array(4);
    writeInt16(samples.subarray(3, 5), out);
    expect(out).toEqual(Uint8Array.of(255, 127, 0, 128));
  });

  it('refuses an output that is too short', () => {
    expect(() => writeInt16(samples, new Uint8Array(11))).toThrow('holds the samples');
  });
});

describe('loudness', () => {
  it('is relative to full scale', () => {
    expect(rmsDbfs(new Int16Array(100).fill(-32_768))).toBeCloseTo(0, 6);
    expect(rmsDbfs(Int16Array.of(16_384, -16_384))).toBeCloseTo(-6.02, 2);
    const sine = Int16Array.from({ length: 800 }, (_, i) =>
      Math.round(32_767 * Math.sin((2 * Math.PI * i) / 80)),
    );
    expect(rmsDbfs(sine)).toBeCloseTo(-3.01, 2);
  });

  it('has a floor for silence and for nothing', () => {
    expect(rmsDbfs(new Int16Array(10))).toBe(SILENCE_DBFS);
    expect(rmsDbfs(new Int16Array(0))).toBe(SILENCE_DBFS);
  });
});

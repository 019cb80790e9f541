/** The resampler's inner loops, against the same sums in plain numbers. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import newWabt from 'wabt';
import { kernelBytes } from '../../../shared/audio/resampler-kernel-bytes.ts';
import { openKernel } from '../../../shared/audio/resampler-kernel.ts';

const source = new URL('../../../shared/audio/resampler-kernel.wat', import.meta.url);

describe('the kernel of the resampler', () => {
  it('is what its source says: `npm run kernel` after a change', async () => {
    const wabt = await newWabt();
    const module = wabt.parseWat('resampler-kernel.wat', readFileSync(source, 'utf8'), { simd: true });
    expect([...kernelBytes]).toEqual([...module.toBinary({}).buffer]);
  });

  it('has memory of its own, all zero, at least as much as was asked for', () => {
    const [one, two] = [openKernel(70_000), openKernel(1)];
    new Uint8Array(one.memory).fill(1);
    expect(one.memory.byteLength).toBe(131_072);
    expect(new Uint8Array(two.memory).every((byte) => byte === 0)).toBe(true);
  });

  it('widens both halves of every group', () => {
    const { memory, widen } = openKernel(1_000);
    const samples = [-32_768, -1, 0, 1, 32_767, 5, -6, 7, 8, -9, 10, 11, 12, 13, 14, -15];
    new Int16Array(memory, 0, 16).set(samples);
    widen(0, 64, 16);
    expect([...new Float32Array(memory, 64, 17)]).toEqual([...samples, 0]);
  });

  it('takes a row for each output, steps through rows and samples, and saturates', () => {
    const { memory, convert } = openKernel(4_096);
    const up = 3;
    const rows = new Float32Array(memory, 0, up * 8);
    for (let i = 0; i < rows.length; i += 1) rows[i] = (i % 5) - 2 + i / 64;
    const work = new Float32Array(memory, 1_024, 32);
    for (let i = 0; i < work.length; i += 1) work[i] = (i * 7919) % 4096;
    work[20] = 32_767;
    const expected: number[] = [];
    // Two whole samples and two thirds of one from output to output, from one third on.
    for (let at = 0; at < 6; at += 1) {
      const position = 1 + at * 8;
      const first = Math.floor(position / up);
      let sum = 0;
      for (let k = 0; k < 8; k += 1) sum += (rows[(position % up) * 8 + k] ?? 0) * (work[first + k] ?? 0);
      expected.push(Math.max(-32_768, Math.min(32_767, Math.round(sum))));
    }
    convert(0, 32, 1_024, 2_048, 6, 1, up, 2 * 4, 2);
    const found = [...new Int16Array(memory, 2_048, 7)];
    expect(found.at(-1)).toBe(0);
    found.slice(0, 6).forEach((value, at) => expect(Math.abs(value - (expected[at] ?? 0))).toBeLessThan(2));
    expect(expected).toContain(32_767);
  });
});

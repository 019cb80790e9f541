/** mu-law against the tables of ITU-T G.711. */
import { describe, expect, it } from 'vitest';
import { decodeMulaw, encodeMulaw, MULAW_SILENCE } from '../../../shared/audio/g711.ts';

const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
const values = new Int16Array(256);
decodeMulaw(codes, values);

/** Table 2b/G.711, decoder output at the top of each segment (times 4 for 16 bits), and the step within it. */
const segments = [
  { top: 32_124, step: 1024 },
  { top: 15_996, step: 512 },
  { top: 7932, step: 256 },
  { top: 3900, step: 128 },
  { top: 1884, step: 64 },
  { top: 876, step: 32 },
  { top: 372, step: 16 },
  { top: 120, step: 8 },
];

/** Table 2a/G.711, decision values at the ends of the positive segments, on the 14-bit scale. */
const decisions = [8159, 4063, 2015, 991, 479, 223, 95, 31];

function encodeOne(sample: number): number {
  const out = new Uint8Array(1);
  encodeMulaw(Int16Array.of(sample), out);
  return out[0]!;
}

describe('mu-law', () => {
  it('decodes all 256 codes to the values of the recommendation', () => {
    segments.forEach(({ top, step }, segment) => {
      for (let k = 0; k < 16; k++) {
        const code = segment * 16 + k;
        expect(values[code + 0x80], `code ${code + 0x80}`).toBe(top - k * step);
        expect(Math.abs(values[code]! + (top - k * step)), `code ${code}`).toBe(0);
      }
    });
  });

  it('changes segment at the decision values', () => {
    decisions.slice(1).forEach((decision, index) => {
      // Codes count downwards: the lowest code of the upper segment lies above the decision value, the next below.
      expect(encodeOne(decision * 4)).toBe(0x80 + index * 16 + 15);
      expect(encodeOne(decision * 4 - 1)).toBe(0x80 + (index + 1) * 16);
    });
  });

  it('encodes every decoded value back to its code, and both zeros to the positive one', () => {
    const back = new Uint8Array(256);
    encodeMulaw(values, back);
    for (const code of codes) expect(back[code]).toBe(code === 0x7f ? 0xff : code);
  });

  it('is off by at most half a step of its segment for all samples below saturation', () => {
    for (let sample = -32_635; sample <= 32_635; sample++) {
      const code = encodeOne(sample);
      const { step } = segments[(code >> 4) & 7]!;
      const error = Math.abs(values[code]! - sample);
      // The coder looks at 14 of the 16 bits: on the negative side an interval ends up to 3 samples later.
      if (error > step / 2 + (sample < 0 ? 3 : 0))
        expect.fail(`sample ${sample}: off by ${error}, step ${step}`);
    }
  });

  it('splits the negative half like the positive one, from -1 down', () => {
    for (let sample = 0; sample <= 32_767; sample++) {
      if (encodeOne(-1 - sample) !== (encodeOne(sample) ^ 0x80)) expect.fail(`sample ${sample}`);
    }
  });

  it('saturates, and keeps the sign', () => {
    expect(values[encodeOne(32_767)]).toBe(32_124);
    expect(values[encodeOne(-32_768)]).toBe(-32_124);
    expect(encodeOne(0)).toBe(MULAW_SILENCE);
    expect(encodeOne(-1) & 0x80).toBe(0);
  });

  it('refuses an output that is too short', () => {
    expect(() => decodeMulaw(new Uint8Array(2), new Int16Array(1))).toThrow('one sample per byte');
    expect(() => encodeMulaw(new Int16Array(2), new Uint8Array(1))).toThrow('one byte per sample');
  });
});

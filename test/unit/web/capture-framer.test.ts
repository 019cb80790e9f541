import { describe, expect, it } from 'vitest';
import {
  CaptureFramer,
  fromPcm16,
  frameSamples,
  levelOf,
  toPcm16,
} from '../../../web/client/audio/capture-framer.ts';
import { CALL_RATES } from '../../../web/client/wire.ts';

describe('the capture framer', () => {
  it.each(CALL_RATES.map((rate) => [rate]))('cuts exactly 20 ms frames at %i Hz', (rate) => {
    const framer = new CaptureFramer(rate);
    const frames = [];
    for (let at = 0; at < rate; at += 128) frames.push(...framer.push(new Float32Array(128), at));
    expect(frameSamples(rate)).toBe(rate / 50);
    expect(new Set(frames.map(({ pcm }) => pcm.length))).toEqual(new Set([rate / 50]));
    expect(frames.length).toBeGreaterThanOrEqual(50);
  });

  it('loses and repeats no sample across blocks and frames', () => {
    const framer = new CaptureFramer(16_000);
    const out: number[] = [];
    for (let at = 0; at < 3_200; at += 128) {
      const block = Float32Array.from({ length: 128 }, (_, index) => (at + index) / 32_768);
      for (const { pcm } of framer.push(block, at)) out.push(...pcm);
    }
    expect(out).toEqual(Array.from({ length: 3_200 }, (_, index) => index));
  });

  it('says where on the audio clock a frame ends', () => {
    const framer = new CaptureFramer(8_000);
    expect(framer.push(new Float32Array(128), 1_000)).toEqual([]);
    expect(framer.push(new Float32Array(128), 1_128)[0]?.endSample).toBe(1_160);
  });

  it('measures a sine and not the offset below it', () => {
    const sine = Float32Array.from({ length: 320 }, (_, i) => 0.3 + 0.5 * Math.sin((2 * Math.PI * i) / 32));
    expect(levelOf(sine)).toBeCloseTo(0.5 / Math.SQRT2, 4);
    expect(levelOf(new Float32Array(320).fill(0.3))).toBeCloseTo(0, 4);
  });
});

describe('the conversion to and from PCM16', () => {
  it('clips what lies outside the range', () => {
    expect([...toPcm16(Float32Array.of(-2, -1, 0, 1, 2))]).toEqual([-32_768, -32_768, 0, 32_767, 32_767]);
  });

  it('reads little-endian bytes back to the same samples', () => {
    const pcm = toPcm16(Float32Array.of(-1, -0.25, 0, 0.25, 0.5));
    expect([...fromPcm16(pcm.buffer)]).toEqual([-1, -0.25, 0, 0.25, 0.5]);
    expect([...fromPcm16(Uint8Array.of(0, 1, 0xff, 0xff, 7).buffer)]).toEqual([256 / 32_768, -1 / 32_768]);
  });
});

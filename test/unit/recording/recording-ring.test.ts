import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordingBytes, RecordingRing, recordingLayout } from '../../../shared/recording/ring.ts';

const layout = { slots: 2, ringBytes: 256 };
const bytesOf = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);

function rings(): { putter: RecordingRing; taker: RecordingRing; neighbour: RecordingRing } {
  const memory = new ArrayBuffer(recordingBytes(layout));
  const ring = (slot: number): RecordingRing => new RecordingRing(memory, slot, layout);
  return { putter: ring(1), taker: ring(1), neighbour: ring(0) };
}

function taken(ring: RecordingRing): { kind: string; at: number; bytes: number[] }[] {
  const entries: { kind: string; at: number; bytes: number[] }[] = [];
  ring.take(({ kind, at, bytes }) => entries.push({ kind, at, bytes: [...bytes] }));
  return entries;
}

describe('a ring of a recording', () => {
  it('gives out what was put in, in order, to whoever maps the memory', () => {
    const { putter, taker, neighbour } = rings();
    expect(putter.push('heard', 320, bytesOf(1, 2, 3))).toBe(true);
    expect(putter.push('line', 1.5, bytesOf())).toBe(true);
    expect(taken(taker)).toEqual([
      { kind: 'heard', at: 320, bytes: [1, 2, 3] },
      { kind: 'line', at: 1.5, bytes: [] },
    ]);
    expect(taken(taker)).toEqual([]);
    expect(taken(neighbour)).toEqual([]);
  });

  it('refuses what has no room, whole, and takes it once there is', () => {
    const { putter, taker } = rings();
    const large = new Uint8Array(200);
    expect(putter.push('sent', 0, large)).toBe(true);
    expect(putter.push('sent', 100, large)).toBe(false);
    expect(taken(taker)).toHaveLength(1);
    expect(putter.push('sent', 100, large)).toBe(true);
    expect(taken(taker)).toMatchObject([{ at: 100 }]);
  });

  it('shows entries again whose taker broke on the way', () => {
    const { putter, taker } = rings();
    putter.push('line', 7, bytesOf(9));
    expect(() =>
      taker.take(() => {
        throw new Error('no disk');
      }),
    ).toThrow('no disk');
    expect(taken(taker)).toMatchObject([{ at: 7 }]);
  });

  it('remembers whose entries it holds', () => {
    const { putter, taker } = rings();
    expect(taker.owner).toBe('');
    putter.owner = '12 a-call';
    expect(taker.owner).toBe('12 a-call');
  });

  it('behaves like a queue, however long it is used', () => {
    const entry = fc.record({ push: fc.boolean(), size: fc.integer({ min: 0, max: 120 }) });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 300 }), (actions) => {
        const { putter, taker } = rings();
        const model: number[] = [];
        actions.forEach(({ push, size }, index) => {
          if (push && putter.push('fact', index, new Uint8Array(size).fill(index & 255))) model.push(index);
          if (push) return;
          const found = taken(taker);
          expect(found.map(({ at }) => at)).toEqual(model.splice(0));
          for (const { at, bytes } of found) expect(bytes.every((byte) => byte === (at & 255))).toBe(true);
        });
        expect(taken(taker).map(({ at }) => at)).toEqual(model);
      }),
    );
  });

  it('is smaller where so many would not fit into one mapping', () => {
    expect(recordingLayout(100).ringBytes).toBe(262_144);
    for (const slots of [16_383, 16_384, 40_000]) {
      expect(recordingBytes(recordingLayout(slots))).toBeLessThan(2 ** 32);
    }
  });
});

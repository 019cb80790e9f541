/** A stream of which a worker had read bytes that nobody has any more goes on in step. */
import { describe, expect, it } from 'vitest';
import { newPrng, type Prng } from '../../../shared/base/prng.ts';
import { FrameTail } from '../../../worker/transports/socket/frame-tail.ts';
import { StreamRepair } from '../../../worker/transports/socket/stream-repair.ts';

const mostBytes = 65_536;

/** A frame as a client sends it: masked, so that its payload looks like anything. */
function frame(prng: Prng, opcode: number, length: number): Buffer {
  const isLong = length >= 126;
  const bytes = Buffer.alloc((isLong ? 8 : 6) + length);
  bytes[0] = 0x80 | opcode;
  bytes[1] = 0x80 | (isLong ? 126 : length);
  if (isLong) bytes.writeUInt16BE(length, 2);
  for (let at = isLong ? 4 : 2; at < bytes.length; at += 1) bytes[at] = prng.below(256);
  return bytes;
}

/** What a client sends in a second: audio, a key now and then, a ping. */
function frames(prng: Prng): Buffer[] {
  return Array.from({ length: 50 }, () => {
    if (prng.chance(0.1)) return frame(prng, 1, 30 + prng.below(20));
    return prng.chance(0.02) ? frame(prng, 9, 8) : frame(prng, 2, 640);
  });
}

/** The bytes of the unfinished message behind so many bytes. */
function tailOf(stream: Buffer): Buffer {
  let kept: Buffer = Buffer.alloc(0);
  const tail = new FrameTail({
    keepTail: (bytes, from) => (kept = Buffer.concat([kept.subarray(0, from), bytes])),
    handling: () => undefined,
    handled: () => undefined,
  });
  tail.take(stream, true);
  return kept;
}

/** Passes the rest through in chunks of any size. */
function repaired(prng: Prng, tail: Buffer, rest: Buffer): { bytes: Buffer; isDone: boolean } {
  const repair = new StreamRepair(tail, { mostBytes });
  const passed: Buffer[] = [];
  for (let at = 0; at < rest.length;) {
    const length = 1 + prng.below(1_500);
    passed.push(Buffer.from(repair.take(rest.subarray(at, at + length))));
    at += length;
  }
  return { bytes: Buffer.concat(passed), isDone: repair.isDone };
}

/** The frames of a stream that is in step to its end; undefined for one that is not. */
function read(stream: Buffer): string[] | undefined {
  const found: string[] = [];
  for (let at = 0; at < stream.length;) {
    const first = stream[at]!;
    const short = stream[at + 1]! & 0x7f;
    if (![0x81, 0x82, 0x89].includes(first) || stream[at + 1]! < 0x80 || short === 127) return undefined;
    const end = at + (short === 126 ? 8 + stream.readUInt16BE(at + 2) : 6 + short);
    if (end > stream.length) return undefined;
    found.push(stream.subarray(at, end).toString('hex'));
    at = end;
  }
  return found;
}

describe('a stream that another worker has read', () => {
  it('is passed on as it is when nothing is missing, wherever that one stopped', () => {
    const prng = newPrng(1);
    for (let round = 0; round < 300; round += 1) {
      const stream = Buffer.concat(frames(prng));
      const at = prng.below(stream.length);
      const tail = tailOf(stream.subarray(0, at));
      const { bytes, isDone } = repaired(prng, tail, stream.subarray(at));
      expect(bytes.equals(stream.subarray(at))).toBe(true);
      expect(isDone).toBe(stream.length - at > 3_000 || isDone);
    }
  });

  it('is in step again a few frames behind what is missing', () => {
    const prng = newPrng(2);
    let outOfStep = 0;
    for (let round = 0; round < 300; round += 1) {
      const sent = frames(prng);
      const stream = Buffer.concat(sent);
      const at = prng.below(10_000);
      const from = at + 1 + prng.below(3_000);
      const tail = tailOf(stream.subarray(0, at));
      const found = read(Buffer.concat([tail, repaired(prng, tail, stream.subarray(from)).bytes]));
      const last = sent.slice(-20).map((bytes) => bytes.toString('hex'));
      if (found === undefined || found.slice(-20).join() !== last.join()) outOfStep += 1;
    }
    // A tail that ends within a header, and bytes that look like a header by chance; without the repair it is nearly all of them.
    expect(outOfStep).toBeLessThanOrEqual(15);
  });

  it('is given up, and passed on to be judged, when no frames come', () => {
    const repair = new StreamRepair(Buffer.alloc(0), { mostBytes });
    const nonsense = Buffer.alloc(8_192, 0x7f);
    const passed = Array.from({ length: 10 }, () => repair.take(nonsense).length);
    expect(passed.slice(0, 8)).toEqual(Array(8).fill(0));
    expect([passed.reduce((sum, length) => sum + length), repair.isDone]).toEqual([81_920, true]);
  });

  it('takes one byte at a time', () => {
    const prng = newPrng(3);
    const stream = Buffer.concat(frames(prng));
    const repair = new StreamRepair(Buffer.alloc(0), { mostBytes });
    const passed = Array.from(stream, (_, at) => Buffer.from(repair.take(stream.subarray(at, at + 1))));
    expect(Buffer.concat(passed).equals(stream)).toBe(true);
  });
});

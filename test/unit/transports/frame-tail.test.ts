/** Where the unfinished message of a client begins, however its bytes are cut. */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { FrameTail } from '../../../worker/transports/socket/frame-tail.ts';

/** A masked frame; `fin` false for one that others of its message follow. */
function frame(opcode: number, length: number, fin = true): Buffer {
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + extended + 4);
  head[0] = (fin ? 0x80 : 0) | opcode;
  head[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) head.writeUInt16BE(length, 2);
  if (extended === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, Buffer.alloc(length, opcode)]);
}

/** The tail as the sink keeps it. */
function newKeeper() {
  let kept: Buffer = Buffer.alloc(0);
  const tail = new FrameTail({
    keepTail: (bytes, from) => (kept = Buffer.concat([kept.subarray(0, from), bytes])),
  });
  return { tail, kept: () => kept };
}

describe('the tail of a connection', () => {
  it('is empty between messages', () => {
    const { tail, kept } = newKeeper();
    tail.take(Buffer.concat([frame(2, 640), frame(1, 0), frame(2, 70_000)]));
    expect(kept()).toHaveLength(0);
  });

  it('begins at the first frame of a message of several, control frames in between or not', () => {
    const { tail, kept } = newKeeper();
    const open = Buffer.concat([frame(2, 10, false), frame(9, 3), frame(0, 20, false)]);
    tail.take(Buffer.concat([frame(2, 640), open]));
    expect(kept()).toEqual(open);
    tail.take(frame(0, 5));
    expect(kept()).toHaveLength(0);
  });

  it('is what is missing to the next message, wherever the bytes are cut', () => {
    const prng = newPrng(7);
    for (let round = 0; round < 300; round += 1) {
      const messages = Array.from({ length: 6 }, () =>
        prng.chance(0.3)
          ? Buffer.concat([
              frame(2, prng.below(200), false),
              frame(10, prng.below(20)),
              frame(0, prng.below(300)),
            ])
          : frame(prng.chance(0.5) ? 2 : 9, prng.below(125)),
      );
      const stream = Buffer.concat(messages);
      const { tail, kept } = newKeeper();
      let read = 0;
      while (read < stream.length) {
        const end = Math.min(stream.length, read + 1 + prng.below(200));
        tail.take(stream.subarray(read, end));
        read = end;
        let whole = 0;
        for (const message of messages)
          if (whole + message.length <= read) whole += message.length;
          else break;
        expect(kept()).toEqual(stream.subarray(whole, read));
      }
    }
  });
});

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

/** The tail as the next worker finds it. */
function newArchive(kept?: 'text' | 'all') {
  let bytes: Buffer = Buffer.alloc(0);
  let [handled, handling, start] = [0, 0, 0];
  const tail = new FrameTail(
    {
      keepTail: (more, from, earlier) => {
        if (from === 0) start = earlier;
        bytes = Buffer.concat([bytes.subarray(0, from), more]);
      },
      handling: (count) => (handling = count),
      handled: (count) => (handled = count),
    },
    kept,
  );
  return {
    tail,
    kept: () => bytes.subarray(handled - start),
    keptOnceSaved: () => bytes.subarray(handling - start),
  };
}

describe('the tail of a connection', () => {
  it('is empty between messages', () => {
    const { tail, kept } = newArchive();
    tail.take(Buffer.concat([frame(2, 640), frame(2, 0), frame(2, 70_000)]));
    expect(kept()).toHaveLength(0);
  });

  it('begins at the first frame of a message of several, control frames in between or not', () => {
    const { tail, kept } = newArchive();
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
      const { tail, kept } = newArchive();
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

  it('holds messages until they are handled, and no audio', () => {
    const { tail, kept } = newArchive();
    const [one, two, rest] = [frame(1, 30), frame(1, 31), frame(2, 100).subarray(0, 50)];
    tail.take(Buffer.concat([one, frame(2, 640), two, rest]));
    expect(kept()).toEqual(Buffer.concat([one, two, rest]));
    tail.handled();
    expect(kept()).toEqual(Buffer.concat([two, rest]));
    tail.handled();
    expect(kept()).toEqual(rest);
  });

  it('holds a message that waits while more comes', () => {
    const { tail, kept } = newArchive();
    const [one, two] = [frame(1, 30), frame(1, 31)];
    tail.take(one);
    tail.take(Buffer.concat([frame(2, 640), two.subarray(0, 9)]));
    tail.take(two.subarray(9, 12));
    expect(kept()).toEqual(Buffer.concat([one, two.subarray(0, 12)]));
    tail.take(two.subarray(12));
    expect(kept()).toEqual(Buffer.concat([one, two]));
    tail.handled();
    tail.handled();
    expect(kept()).toHaveLength(0);
  });

  it('gives nobody a message for the third time', () => {
    const { tail, kept } = newArchive();
    const [again, next, rest] = [frame(1, 30), frame(1, 31), frame(1, 32).subarray(0, 5)];
    tail.take(Buffer.concat([again, rest]), true);
    expect(kept()).toEqual(rest);
    tail.take(frame(1, 32).subarray(5));
    tail.take(next);
    tail.handled();
    expect(kept()).toEqual(Buffer.concat([frame(1, 32), next]));
  });

  it('keeps messages of both kinds where binary ones are more than audio', () => {
    const { tail, kept } = newArchive('all');
    tail.take(Buffer.concat([frame(2, 30), frame(1, 31)]));
    expect(kept()).toEqual(Buffer.concat([frame(2, 30), frame(1, 31)]));
  });

  it('leaves out what has no room, and keeps count of it', () => {
    const { tail, kept } = newArchive();
    tail.take(Buffer.concat([frame(1, 60_000), frame(1, 20)]));
    expect(kept()).toEqual(frame(1, 20));
    tail.handled();
    expect(kept()).toEqual(frame(1, 20));
    tail.handled();
    expect(kept()).toHaveLength(0);
  });

  it('is, as of what is written down while a message is handled, what follows it', () => {
    const { tail, kept, keptOnceSaved } = newArchive();
    const [one, two, three] = [frame(1, 10), frame(1, 20), frame(1, 30, false)];
    tail.take(Buffer.concat([one, frame(2, 640), two, three]));
    for (const left of [[two, three], [three]]) {
      tail.handling();
      expect(keptOnceSaved()).toEqual(Buffer.concat(left));
      tail.handled();
      expect(kept()).toEqual(Buffer.concat(left));
    }
    tail.take(frame(0, 5));
    tail.handling();
    expect(keptOnceSaved()).toHaveLength(0);
  });

  it('is, with messages that are handled at any time, what nobody has handled', () => {
    const prng = newPrng(11);
    for (let round = 0; round < 300; round += 1) {
      const messages = Array.from({ length: 8 }, () =>
        prng.chance(0.5) ? frame(1, prng.below(200)) : frame(2, prng.below(700)),
      );
      const stream = Buffer.concat(messages);
      const { tail, kept } = newArchive();
      let [read, handled] = [0, 0];
      while (read < stream.length) {
        const end = Math.min(stream.length, read + 1 + prng.below(400));
        tail.take(stream.subarray(read, end));
        read = end;
        let whole = 0;
        const texts: Buffer[] = [];
        for (const message of messages) {
          if (whole + message.length > read) break;
          whole += message.length;
          if (message[0] === 0x81) texts.push(message);
        }
        while (handled < texts.length && prng.chance(0.6)) {
          tail.handled();
          handled += 1;
        }
        expect(kept()).toEqual(Buffer.concat([...texts.slice(handled), stream.subarray(whole, read)]));
      }
    }
  });
});

/** What the journal of a connection knows of a frame that goes out (see frame-writer.ts). */
import { describe, expect, it } from 'vitest';
import type { CallSocket } from '../../../worker/transports/socket/call-socket.ts';
import { FrameWriter } from '../../../worker/transports/socket/frame-writer.ts';

/** A socket whose kernel takes `room` bytes at once, and the rest when it is told to. */
class SlowSocket {
  bufferedAmount = 0;
  readonly #flushed: (() => void)[] = [];
  readonly #seen: () => void;
  room = Infinity;

  constructor(seen: () => void) {
    this.#seen = seen;
  }

  send(frame: Buffer, _: object, flushed: () => void): void {
    this.#seen();
    this.bufferedAmount += Math.max(0, frame.length - this.room);
    this.room = Math.max(0, this.room - frame.length);
    this.#flushed.push(flushed);
  }

  flush(): void {
    this.bufferedAmount = 0;
    for (const flushed of this.#flushed.splice(0)) flushed();
  }
}

function newWriter() {
  const journal = {
    isWriting: false,
    keepTail: () => undefined,
    handling: () => undefined,
    handled: () => undefined,
  };
  const during: boolean[] = [];
  const socket = new SlowSocket(() => during.push(journal.isWriting));
  return { journal, during, socket, writer: new FrameWriter(socket as unknown as CallSocket, journal) };
}

describe('the journal of a connection', () => {
  it('knows of no frame under way while the kernel takes all: who dies in between has sent it or not', () => {
    const { journal, during, writer } = newWriter();
    for (let frame = 0; frame < 3; frame += 1) {
      writer.send(Buffer.alloc(640));
      expect(journal.isWriting).toBe(false);
    }
    expect(during).toEqual([false, false, false]);
  });

  it('says that bytes are under way from where the kernel takes no more until it has taken them', () => {
    const { journal, during, socket, writer } = newWriter();
    socket.room = 1_000;
    writer.send(Buffer.alloc(640));
    writer.send(Buffer.alloc(640));
    expect(journal.isWriting).toBe(true);
    writer.send(Buffer.alloc(640));
    expect([journal.isWriting, ...during]).toEqual([true, false, false, true]);
    socket.flush();
    expect(journal.isWriting).toBe(false);
  });
});

/**
 * What goes out on the socket of one call: frames of either kind, and whether the kernel takes them.
 *
 * Invariant: while the kernel has not taken everything, the journal says that the process is writing: such bytes would be gone with it,
 * perhaps in the middle of a frame. A frame is given to the kernel in one call, which takes all of it unless its buffer is full; a process
 * that dies in that moment has sent the frame or has not, and either way the next one may follow.
 */
import type { CallSocket } from './call-socket.ts';
import type { ConnectionJournal } from './connection-journal.ts';
import type { Outgoing } from './dialect.ts';

const binaryFrame = Object.freeze({ binary: true, compress: false, fin: true });
const textFrame = Object.freeze({ binary: false, compress: false, fin: true });

export class FrameWriter {
  readonly #ws: CallSocket;
  readonly #journal: ConnectionJournal | undefined;
  /** Something was handed to the kernel since it was last asked. */
  #hasMoved = false;
  readonly #onFlushed = (error?: Error | null): void => {
    if (!error) this.#hasMoved = true;
    this.#noteWritten();
  };

  constructor(ws: CallSocket, journal: ConnectionJournal | undefined) {
    this.#ws = ws;
    this.#journal = journal;
  }

  send(frame: Outgoing): void {
    this.#ws.send(frame, typeof frame === 'string' ? textFrame : binaryFrame, this.#onFlushed);
    this.#noteWritten();
  }

  sendAll(frames: readonly Outgoing[]): void {
    for (const frame of frames) this.send(frame);
  }

  /** Bytes that the kernel has not taken. */
  get bufferedBytes(): number {
    return this.#ws.bufferedAmount;
  }

  /** Whether the kernel has taken something since this was last asked. */
  takeMoved(): boolean {
    const hasMoved = this.#hasMoved;
    this.#hasMoved = false;
    return hasMoved;
  }

  #noteWritten(): void {
    if (this.#journal !== undefined) this.#journal.isWriting = this.#ws.bufferedAmount > 0;
  }
}

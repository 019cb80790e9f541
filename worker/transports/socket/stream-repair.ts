/**
 * The byte stream of a client whose worker died. Bytes that it had read and not written down are missing; where it ended within a frame,
 * what comes next is read as a header and is none. The first headers behind a takeover are looked at: from one that no client sends, everything
 * is left out up to where frames follow upon each other again. Costs some frames of audio, and saves the call.
 *
 * Invariant: what is passed on ends each frame where its header says, so that its reader is never out of step.
 */
import { headerLength, payloadLength } from './frame-tail.ts';

/** Plausible headers in a row that prove the stream; by chance they come about once in a hundred thousand places. */
const provenFrames = 3;
/** Searched for that far: more than three frames of audio of any client. Then the bytes are passed on as they are, and judged as such. */
const mostSearchedBytes = 65_536;
const longestHeader = 14;
const longestControl = 125;

export class StreamRepair {
  readonly #mostBytes: number;
  /** Bytes of the present frame that are still to come. */
  #left = 0;
  #proven = 0;
  /** A header that is not whole, or what is being searched. */
  #kept: Buffer = Buffer.alloc(0);
  /** The stream is in step, or cannot be repaired: everything is passed on. */
  isDone = false;

  /** `tail`: what was read before of a message that is not complete, which whoever reads the stream has already. */
  constructor(tail: Buffer, options: { readonly mostBytes: number }) {
    this.#mostBytes = options.mostBytes;
    let at = 0;
    while (at < tail.length) {
      const length = this.#frameAt(tail, at);
      // A header of which the reader has the first part cannot be taken back.
      if (typeof length !== 'number') {
        this.isDone = true;
        return;
      }
      at += length;
    }
    this.#left = at - tail.length;
  }

  /** Takes what came from the socket. Returns what of all that came may be passed on by now. */
  take(chunk: Buffer): Buffer {
    let bytes = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    this.#kept = Buffer.alloc(0);
    for (let at = 0; !this.isDone;) {
      const step = Math.min(this.#left, bytes.length - at);
      this.#left -= step;
      at += step;
      if (at === bytes.length) return bytes;
      const length = this.#frameAt(bytes, at);
      if (typeof length === 'number') {
        this.#left = length;
        this.#proven += 1;
        this.isDone = this.#proven === provenFrames;
        continue;
      }
      const next = length === 'split' ? undefined : this.#nextFrames(bytes, at + 1);
      if (next !== undefined) {
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(next)]);
        continue;
      }
      if (bytes.length - at > mostSearchedBytes) {
        this.isDone = true;
        return bytes;
      }
      this.#kept = bytes.subarray(at);
      return bytes.subarray(0, at);
    }
    return bytes;
  }

  /** The length of the frame that begins here, with its header; or that this is no header of a client. */
  #frameAt(bytes: Buffer, at: number): number | 'split' | 'wrong' {
    const header = bytes.subarray(at, at + longestHeader);
    const [first = 0, second = 0] = header;
    if (header.length >= 1 && !isFirstByte(first)) return 'wrong';
    if (header.length >= 2 && (second & 0x80) === 0) return 'wrong';
    if (header.length < 2 || header.length < headerLength(header)) return 'split';
    const length = payloadLength(header);
    const most = (first & 0x08) === 0 ? this.#mostBytes : longestControl;
    return length > most ? 'wrong' : headerLength(header) + length;
  }

  /** Where frames follow upon each other from; undefined when that cannot be told yet. */
  #nextFrames(bytes: Buffer, from: number): number | undefined {
    for (let start = from; start < bytes.length; start += 1) {
      let at = start;
      for (let count = 1; count <= provenFrames; count += 1) {
        const length = at < bytes.length ? this.#frameAt(bytes, at) : 'split';
        if (typeof length !== 'number') break;
        if (count === provenFrames) return start;
        at += length;
      }
    }
    return undefined;
  }
}

/** No reserved bit, a type of frame that exists, and a control frame in one piece. */
function isFirstByte(byte: number): boolean {
  const type = byte & 0x0f;
  if ((byte & 0x70) !== 0 || (type > 2 && type < 8) || type > 10) return false;
  return type < 8 || (byte & 0x80) !== 0;
}

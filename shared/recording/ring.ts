/**
 * What is recorded of one call on its way from the worker's event loop to the disk: a ring of entries in memory that outlives the
 * worker. One thread puts entries in and never waits; one takes them out, and says so only once they are written, so the thread that comes after
 * a dead worker goes on at the first entry that is on no disk.
 *
 * Invariant: an entry is there whole or not at all, and entries come out in the order in which they went in.
 */
import { assert } from '../base/assert.ts';

/** Entries of a call: sound of either side, a line of the transcript, a fact, and how the recording begins and ends. */
const entryKinds = ['heard', 'sent', 'line', 'fact', 'open', 'end'] as const;
export type EntryKind = (typeof entryKinds)[number];

/** Four seconds of both sides at 16 kHz. Pages that no call has used take no memory. */
const usualBytes = 256 * 1024;
const headerBytes = 256;
const entryHeader = 16;
const nameAt = 64;
export const longestName = headerBytes - nameAt;

const field = { produced: 0, consumed: 1, name: 2 } as const;
/** Stands where an entry would not fit before the end: the next one begins at the start. */
const wrapMark = -1;

export interface RecordingLayout {
  readonly slots: number;
  /** Of one ring, a power of two. */
  readonly ringBytes: number;
}

/** Rings for so many calls that fit into one mapping, whose length Node counts in 32 bits. */
export function recordingLayout(slots: number): RecordingLayout {
  let ringBytes = usualBytes;
  while (slots * (ringBytes + headerBytes) >= 2 ** 32) ringBytes /= 2;
  return { slots, ringBytes };
}

export const recordingBytes = ({ slots, ringBytes }: RecordingLayout): number =>
  slots * (ringBytes + headerBytes);

export interface RingEntry {
  readonly kind: EntryKind;
  /** Place of the first sample of sound; of everything else milliseconds. */
  readonly at: number;
  /** Valid until the entry is taken. */
  readonly bytes: Uint8Array;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const roundUp = (bytes: number): number => (bytes + 7) & ~7;

export class RecordingRing {
  readonly #ints: Int32Array;
  readonly #floats: Float64Array;
  readonly #bytes: Uint8Array;
  readonly #name: Uint8Array;
  readonly #size: number;

  constructor(memory: ArrayBuffer, slot: number, { ringBytes }: RecordingLayout) {
    const at = slot * (ringBytes + headerBytes);
    assert(at + headerBytes + ringBytes <= memory.byteLength, 'the ring lies in the mapping');
    this.#size = ringBytes;
    this.#ints = new Int32Array(memory, at, (headerBytes + ringBytes) / 4);
    this.#floats = new Float64Array(memory, at + headerBytes, ringBytes / 8);
    this.#bytes = new Uint8Array(memory, at + headerBytes, ringBytes);
    this.#name = new Uint8Array(memory, at + nameAt, longestName);
  }

  // ---- who puts in ----

  /** False, and nothing put in, when there is no room. */
  push(kind: EntryKind, at: number, payload: Uint8Array): boolean {
    const whole = entryHeader + roundUp(payload.length);
    const produced = Atomics.load(this.#ints, field.produced);
    const start = produced & (this.#size - 1);
    // An entry lies in one piece.
    const skipped = start + whole > this.#size ? this.#size - start : 0;
    if (skipped + whole > this.#room(produced)) return false;
    if (skipped > 0) this.#ints[this.#intAt(start)] = wrapMark;
    const from = skipped > 0 ? 0 : start;
    this.#ints[this.#intAt(from)] = entryKinds.indexOf(kind);
    this.#ints[this.#intAt(from) + 1] = payload.length;
    this.#floats[from / 8 + 1] = at;
    this.#bytes.set(payload, from + entryHeader);
    Atomics.store(this.#ints, field.produced, (produced + skipped + whole) | 0);
    return true;
  }

  #room(produced: number): number {
    return this.#size - ((produced - Atomics.load(this.#ints, field.consumed)) >>> 0);
  }

  // ---- who takes out ----

  /** Shows every entry that is there, and counts them as taken when `see` has returned for the last. */
  take(see: (entry: RingEntry) => void): void {
    const produced = Atomics.load(this.#ints, field.produced);
    let consumed = Atomics.load(this.#ints, field.consumed);
    if (consumed === produced) return;
    while (consumed !== produced) {
      const from = consumed & (this.#size - 1);
      const kind = this.#ints[this.#intAt(from)] ?? wrapMark;
      if (kind === wrapMark) {
        consumed = (consumed + this.#size - from) | 0;
        continue;
      }
      const length = this.#ints[this.#intAt(from) + 1] ?? 0;
      const at = this.#floats[from / 8 + 1] ?? 0;
      const name = entryKinds[kind];
      assert(name !== undefined, 'an entry has a kind');
      const first = from + entryHeader;
      see({ kind: name, at, bytes: this.#bytes.subarray(first, first + length) });
      consumed = (consumed + entryHeader + roundUp(length)) | 0;
    }
    Atomics.store(this.#ints, field.consumed, consumed);
  }

  /** What the entries belong to, kept for the next one who takes out; empty when the last recording has ended. */
  get owner(): string {
    const length = Atomics.load(this.#ints, field.name);
    return length === 0 ? '' : decoder.decode(this.#name.slice(0, length));
  }

  set owner(name: string) {
    const { read, written } = encoder.encodeInto(name, this.#name);
    assert(read === name.length, 'the name of a recording is short');
    Atomics.store(this.#ints, field.name, written);
  }

  #intAt(byte: number): number {
    return (headerBytes + byte) / 4;
  }
}

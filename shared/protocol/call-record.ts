/**
 * What must survive the death of a worker so that its calls do not die with it: per call slot a record in memory of its own,
 * written by the worker that has the call and read by the one that takes it up. Texts are written into the half that is not
 * valid and then made valid by one store, so a reader finds a whole one at any instant of a kill.
 */
import { assert } from '../base/assert.ts';

// A whole call fits: its bounds are those of the core (worker/core/bounds.ts) and of the agent link. Pages that nobody writes
// take no memory.
/** Most bytes of a call's history, as JSON; the core holds no more. */
export const historyBytes = 256 * 1024;
/** Of everything else of its conversation, as JSON. */
export const stateBytes = 1536 * 1024;
/**
 * Most bytes of what a call is made with: what an agent process accepts it with and what the server of `[before_call]` answers (64 KiB each),
 * what it was ordered with (32 KiB), and what is filled in beside them.
 */
const setupBytes = 192 * 1024;
/** Most bytes of a call's name in the log. */
const nameBytes = 256;
/**
 * Most bytes of an unfinished WebSocket message and those that wait before it: the largest frames of audio and of text by default. A call in
 * the middle of a longer one cannot be taken up.
 */
const tailBytes = 96 * 1024;

const headerInts = 32;
const headerBytes = headerInts * 4;
const recordBytes = roundUp(
  headerBytes + nameBytes + 2 * historyBytes + 2 * stateBytes + setupBytes + tailBytes,
  4096,
);

const field = {
  /** The connection's number; 0 while the slot holds no call. */
  offer: 0,
  /** The record holds: the handshake was answered, or the call was taken up. */
  isOpen: 1,
  /** Counts saved states; the lowest bit names the half that is valid. */
  saves: 2,
  /** The kernel has not taken all that it was given. */
  isWriting: 3,
  /** Context that plays, and its samples on the wire at the call's rate. */
  context: 4,
  sentSamples: 5,
  /** Bytes of messages that wait and of the unfinished one; -1 when they did not fit. */
  tail: 6,
  /** Frame of the mailbox where the turn began that STT listens to, and the mailbox's generation. */
  listenFrom: 7,
  generation: 8,
  /** Bytes of what the call is made with; -1 when it did not fit. */
  setup: 9,
  /** Bytes of all messages that were kept, ever: how many are handled, and how many came before the tail. They wrap. */
  handled: 10,
  tailFrom: 11,
  /** Bytes of the call's name. */
  name: 12,
  /** By half: length of the state, half of the history that belongs to it, length of that, and `handled` as of this state. */
  halves: 16,
} as const;
const intsPerHalf = 4;

/** Records in one mapping: an array buffer has less than 4 GiB. */
const recordsPerMapping = Math.floor(2 ** 31 / recordBytes);

export interface CallRecordLayout {
  readonly slots: number;
}

/** Size of the file. */
export const callRecordBytes = ({ slots }: CallRecordLayout): number => slots * recordBytes;

/** The file is mapped in parts of these lengths, one behind the other. */
export function callRecordMappings({ slots }: CallRecordLayout): readonly number[] {
  const lengths: number[] = [];
  for (let left = slots; left > 0; left -= recordsPerMapping)
    lengths.push(Math.min(left, recordsPerMapping) * recordBytes);
  return lengths;
}

/** A conversation as it was left. */
export interface LeftCall {
  readonly state: string;
  readonly history: string;
  /** What the call is made with beside the agent's definition; empty: nothing. */
  readonly setup: string;
  readonly tail: Buffer;
  readonly playout: { readonly context: number; readonly sentSamples: number };
  readonly listenFrom: number;
  readonly generation: number;
}

/**
 * How a connection was left: `open` can be taken up; of a `writable` one it is known where the bytes to the client stand, and
 * not enough besides; in a `torn` one nothing is known. A worker that was to take a call up and had not yet left it `begun`: what the
 * worker before it wrote still holds.
 */
export type LeftConnection = 'open' | 'writable' | 'torn' | 'begun';

export class CallRecords {
  readonly #mappings: readonly ArrayBuffer[];
  readonly #layout: CallRecordLayout;

  /** `mappings` are those of `callRecordMappings`. */
  constructor(mappings: readonly ArrayBuffer[], layout: CallRecordLayout) {
    const lengths = callRecordMappings(layout);
    const isWhole =
      mappings.length === lengths.length &&
      mappings.every(({ byteLength }, at) => byteLength === lengths[at]);
    assert(isWhole, 'the mappings have the sizes of their layout');
    this.#mappings = mappings;
    this.#layout = layout;
  }

  record(slot: number): CallRecord {
    const [memory, at] = this.#placeOf(slot);
    return new CallRecord(memory, at);
  }

  #placeOf(slot: number): readonly [memory: ArrayBuffer, at: number] {
    const memory = this.#mappings[Math.floor(slot / recordsPerMapping)];
    assert(slot >= 0 && slot < this.#layout.slots && memory !== undefined, 'the slot exists');
    return [memory, (slot % recordsPerMapping) * recordBytes];
  }

  /** Number of the connection whose record stands in a slot; 0 when there is none. */
  offerOf(slot: number): number {
    const [memory, at] = this.#placeOf(slot);
    return Atomics.load(new Int32Array(memory, at, 1), field.offer);
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class CallRecord {
  readonly #ints: Int32Array;
  readonly #histories: readonly Uint8Array[];
  readonly #states: readonly Uint8Array[];
  readonly #setup: Uint8Array;
  readonly #tail: Uint8Array;
  readonly #name: Uint8Array;
  #historyHalf = 0;
  #historyLength = 0;
  #handling = 0;

  constructor(memory: ArrayBuffer, at: number) {
    let next = at + headerBytes;
    const area = (bytes: number): Uint8Array => {
      next += bytes;
      return new Uint8Array(memory, next - bytes, bytes);
    };
    this.#ints = new Int32Array(memory, at, headerInts);
    this.#histories = [area(historyBytes), area(historyBytes)];
    this.#states = [area(stateBytes), area(stateBytes)];
    this.#setup = area(setupBytes);
    this.#tail = area(tailBytes);
    this.#name = area(nameBytes);
  }

  // ---- the worker that has the call ----

  /** Takes the slot for a connection, before a byte is written to it. */
  begin(offer: number): void {
    this.#set(field.offer, 0);
    this.#ints.fill(0);
    this.#historyHalf = 0;
    this.#historyLength = 0;
    this.#handling = 0;
    this.#set(field.offer, offer);
  }

  /** The handshake of a new connection was answered; a call that was taken up is written down whole. */
  opened(): void {
    this.#set(field.isOpen, 1);
  }

  /** The call is over, or nothing of it may be taken up. */
  end(): void {
    this.#set(field.offer, 0);
  }

  /**
   * Makes a new state valid. `history` is given when it has changed. False when it does not fit: the last state that did
   * would be a lie by now, so the record is without state until one fits.
   */
  save(state: string, history: string | undefined): boolean {
    const saves = this.#get(field.saves) + 1;
    const half = saves & 1;
    if (history !== undefined && !this.#saveHistory(history)) return this.#forget();
    const length = write(this.#states[half], state);
    if (length === undefined) return this.#forget();
    const at = field.halves + half * intsPerHalf;
    this.#ints[at] = length;
    this.#ints[at + 1] = this.#historyHalf;
    this.#ints[at + 2] = this.#historyLength;
    this.#ints[at + 3] = this.#handling;
    this.#set(field.saves, saves);
    return true;
  }

  #saveHistory(history: string): boolean {
    const half = 1 - this.#historyHalf;
    const length = write(this.#histories[half], history);
    if (length === undefined) return false;
    this.#historyHalf = half;
    this.#historyLength = length;
    return true;
  }

  #forget(): boolean {
    const half = (this.#get(field.saves) + 1) & 1;
    this.#ints[field.halves + half * intsPerHalf] = 0;
    this.#set(field.saves, this.#get(field.saves) + 1);
    return false;
  }

  /** How the log names the call. */
  keepName(name: string): void {
    this.#set(field.name, write(this.#name, name) ?? 0);
  }

  /** What the call is made with, before its first state. A call whose setup does not fit cannot be taken up. */
  keepSetup(text: string): void {
    this.#set(field.setup, write(this.#setup, text) ?? -1);
  }

  /** Audio of the context on the wire, at the call's rate. */
  played(context: number, sentSamples: number): void {
    this.#ints[field.context] = context;
    this.#ints[field.sentSamples] = sentSamples;
  }

  /** True while the kernel has not taken all that it was given. */
  set isWriting(writing: boolean) {
    this.#set(field.isWriting, writing ? 1 : 0);
  }

  /** Messages that wait, and the unfinished one so far; `from` says how much of all that stands here already, `earlier` what came before it. */
  keepTail(bytes: Uint8Array, from: number, earlier: number): void {
    const kept = this.#get(field.tail);
    if ((from > 0 && kept < 0) || from + bytes.length > tailBytes) {
      this.#set(field.tail, -1);
      return;
    }
    if (from === 0) {
      // A reader in between finds nothing, and no mixture.
      this.#set(field.tail, 0);
      this.#set(field.tailFrom, earlier);
    }
    this.#tail.set(bytes, from);
    this.#set(field.tail, from + bytes.length);
  }

  /** The next state holds what follows from so many bytes of messages: it and that they need not be read again are made valid as one. */
  handling(bytes: number): void {
    this.#handling = bytes;
  }

  /** So many bytes of messages are handled, whether or not a state was saved for them. */
  handled(bytes: number): void {
    this.#set(field.handled, bytes);
  }

  listening(frame: number, generation: number): void {
    this.#ints[field.listenFrom] = frame;
    this.#ints[field.generation] = generation;
  }

  // ---- whoever comes after it ----

  /** Number of the connection; 0 when there is none. */
  get offer(): number {
    return this.#get(field.offer);
  }

  /** How the log names the call; empty while it has no name. */
  get name(): string {
    return read(this.#name, this.#get(field.name));
  }

  /** How the connection was left by a worker that is gone; undefined when this record knows nothing of it. */
  left(offer: number): LeftConnection | undefined {
    if (this.offer !== offer) return undefined;
    if (this.#get(field.isWriting) === 1) return 'torn';
    if (this.#get(field.isOpen) === 0) return 'begun';
    const isWhole = this.#get(field.tail) >= 0 && this.#get(field.setup) >= 0 && this.#stateLength > 0;
    return isWhole ? 'open' : 'writable';
  }

  /** What the worker left. Only for a connection that was left `open`. */
  read(): LeftCall {
    const half = this.#get(field.saves) & 1;
    const at = field.halves + half * intsPerHalf;
    const history = this.#histories[this.#ints[at + 1] ?? 0];
    return {
      state: read(this.#states[half], this.#stateLength),
      history: read(history, this.#ints[at + 2] ?? 0),
      setup: read(this.#setup, this.#get(field.setup)),
      tail: Buffer.from(this.#tail.slice(this.#handledOfTail(half), this.#get(field.tail))),
      playout: { context: this.#get(field.context), sentSamples: this.#get(field.sentSamples) },
      listenFrom: this.#get(field.listenFrom),
      generation: this.#get(field.generation),
    };
  }

  #handledOfTail(half: number): number {
    const from = this.#get(field.tailFrom);
    const withState = this.#ints[field.halves + half * intsPerHalf + 3] ?? 0;
    return Math.max(0, (this.#get(field.handled) - from) | 0, (withState - from) | 0);
  }

  get #stateLength(): number {
    return this.#ints[field.halves + (this.#get(field.saves) & 1) * intsPerHalf] ?? 0;
  }

  #get(index: number): number {
    return Atomics.load(this.#ints, index);
  }

  #set(index: number, value: number): void {
    Atomics.store(this.#ints, index, value);
  }
}

/** Writes text as UTF-8. Undefined when it does not fit. */
function write(area: Uint8Array | undefined, text: string): number | undefined {
  if (area === undefined || text.length > area.length) return undefined;
  const { read: taken, written } = encoder.encodeInto(text, area);
  return taken === text.length ? written : undefined;
}

const read = (area: Uint8Array | undefined, length: number): string =>
  area === undefined ? '' : decoder.decode(area.slice(0, length));

function roundUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}

/**
 * Appends the facts of this worker's calls to their files, a batch of a file at a time. The disk is never waited for: lines wait in bounded
 * memory, and a disk that takes none is tried again.
 *
 * Invariant: lines of a call reach its file in their order, and the file is moved only behind its last line.
 */
import { spoolFile } from '../../shared/calls/spool.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';

/** Facts of one moment belong into one batch. */
const gatherMs = 200;
const againAfterMs = 1_000;
/** Characters that wait, of all calls; ends of calls find room beyond it. */
const mostWaiting = 8 * 1024 * 1024;
/** Characters of one call, in memory and on the disk. */
const mostOfCall = 4 * 1024 * 1024;
/** Calls that ended and whose lines wait: a disk that takes none for hours must not fill the memory with the beginnings and ends of calls. */
const mostEnded = 5_000;

/** Numbered, because a full disk takes a part of a batch, which is then written once more. */
const lineOf = (fact: object, n: number): string => `${JSON.stringify({ ...fact, n })}\n`;

/** Neither waits; `done` is told the code of what went wrong. */
export interface SpoolDisk {
  /** Behind what the file of a running call holds. An append that fails may have taken a part of the text. */
  append(name: string, text: string, done: (code?: string) => void): void;
  /** Says that somebody has the call, where nothing can be written: a full disk takes that. */
  touch(name: string): void;
  /** The call is over. */
  end(name: string, done: (code?: string) => void): void;
}

export interface SpoolWriterOptions {
  readonly disk: SpoolDisk;
  readonly clock: Clock;
  /** The disk did not take lines: its code. They wait. */
  readonly failed: (code: string) => void;
  /** Lines were left out for want of room. */
  readonly leftOut: () => void;
}

interface Spooled {
  readonly name: string;
  text: string;
  lines: number;
  written: number;
  isCut: boolean;
  isEnded: boolean;
}

export class SpoolWriter {
  readonly #options: SpoolWriterOptions;
  readonly #calls = new Map<string, Spooled>();
  #waiting = 0;
  #isWriting = false;
  #timer: Timer | undefined;
  /** Ended calls whose lines wait, the oldest first. */
  readonly #ended = new Set<Spooled>();
  #emptied: (() => void) | undefined;

  constructor(options: SpoolWriterOptions) {
    this.#options = options;
  }

  /** A line that nobody may miss is written at once, and finds room. */
  write(recordId: string, fact: { readonly at: number }, { isVital } = { isVital: false }): void {
    const call = this.#callOf(recordId);
    if (call.isEnded) return;
    const line = lineOf(fact, call.lines);
    const isFull = this.#waiting + line.length > mostWaiting || call.written + line.length > mostOfCall;
    if (isFull && !isVital) {
      if (!call.isCut) this.#add(call, lineOf({ t: 'left_out', at: fact.at }, call.lines));
      if (!call.isCut) this.#options.leftOut();
      call.isCut = true;
      return;
    }
    this.#add(call, line);
    this.#pumpIn(isVital ? 0 : gatherMs);
  }

  /** The call is over; this is its last line. */
  end(recordId: string, fact: { readonly at: number }): void {
    this.write(recordId, fact, { isVital: true });
    const call = this.#callOf(recordId);
    call.isEnded = true;
    this.#ended.add(call);
    const [oldest] = this.#ended;
    if (this.#ended.size > mostEnded && oldest !== undefined) this.#leaveOut(oldest);
  }

  /** What of it has reached the disk becomes a record without an end. */
  #leaveOut(call: Spooled): void {
    this.#options.leftOut();
    this.#waiting -= call.text.length;
    this.#forget(call);
  }

  #forget(call: Spooled): void {
    call.text = '';
    this.#ended.delete(call);
    this.#calls.delete(call.name);
  }

  /** Resolves when nothing waits, or the disk takes nothing: this process is to end. */
  async close(): Promise<void> {
    if (this.#calls.size === 0) return;
    const emptied = new Promise<void>((resolve) => (this.#emptied = resolve));
    this.#pumpIn(0);
    await emptied;
  }

  #callOf(recordId: string): Spooled {
    const name = spoolFile(recordId);
    const found = this.#calls.get(name) ?? {
      name,
      text: '',
      lines: 0,
      written: 0,
      isCut: false,
      isEnded: false,
    };
    this.#calls.set(name, found);
    return found;
  }

  #add(call: Spooled, line: string): void {
    call.text += line;
    call.lines += 1;
    call.written += line.length;
    this.#waiting += line.length;
  }

  #pumpIn(ms: number): void {
    if (this.#isWriting) return;
    if (ms > 0 && this.#timer !== undefined) return;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(ms, () => this.#pump());
  }

  #pump(): void {
    this.#timer = undefined;
    for (const call of this.#calls.values())
      if (call.text !== '') {
        this.#write(call);
        return;
      }
    this.#emptied?.();
  }

  #write(call: Spooled): void {
    const { disk } = this.#options;
    const { text, name } = call;
    this.#isWriting = true;
    // A line break comes first: another worker may have died in the middle of a line.
    disk.append(name, `\n${text}`, (code) => {
      if (code !== undefined) {
        this.#again(code);
        return;
      }
      // One that was left out meanwhile has none.
      const written = Math.min(text.length, call.text.length);
      call.text = call.text.slice(written);
      this.#waiting -= written;
      if (call.isEnded && call.text === '') this.#move(call);
      else this.#next();
    });
  }

  /** The process that keeps records finds a file with an end wherever it stands, once this one is gone. */
  #move(call: Spooled): void {
    this.#options.disk.end(call.name, (code) => {
      if (code !== undefined) this.#options.failed(code);
      this.#forget(call);
      this.#next();
    });
  }

  #next(): void {
    this.#isWriting = false;
    this.#pump();
  }

  #again(code: string): void {
    this.#isWriting = false;
    const { failed, disk } = this.#options;
    failed(code);
    if (this.#emptied !== undefined) {
      this.#emptied();
      return;
    }
    for (const { text, name } of this.#calls.values()) if (text !== '') disk.touch(name);
    this.#pumpIn(againAfterMs);
  }
}

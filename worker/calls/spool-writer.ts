/**
 * Appends the facts of this worker's calls to their files, a batch of a file at a time. The disk is never waited for: lines wait in bounded
 * memory, and a disk that takes none is tried again.
 *
 * Invariant: lines of a call reach its file in their order, and the file is moved only behind its last line.
 */
import { appendFile, rename } from 'node:fs';
import { join } from 'node:path';
import { spoolFile, spoolFolders } from '../../shared/calls/spool.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';

/** Facts of one moment belong into one batch. */
const gatherMs = 200;
const againAfterMs = 1_000;
/** Characters that wait, of all calls; ends of calls find room beyond it. */
const mostWaiting = 8 * 1024 * 1024;
/** Characters of one call, in memory and on the disk. */
const mostOfCall = 4 * 1024 * 1024;

/** Numbered, because a full disk takes a part of a batch, which is then written once more. */
const lineOf = (fact: object, n: number): string => `${JSON.stringify({ ...fact, n })}\n`;

export interface SpoolWriterOptions {
  readonly folder: string;
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
    this.#callOf(recordId).isEnded = true;
  }

  /** Resolves when nothing waits. */
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
    const { folder } = this.#options;
    const { text, name } = call;
    const path = join(folder, spoolFolders.open, name);
    this.#isWriting = true;
    // A line break comes first: another worker may have died in the middle of a line.
    appendFile(path, `\n${text}`, { mode: 0o600 }, (error) => {
      if (error !== null) {
        this.#again(error);
        return;
      }
      call.text = call.text.slice(text.length);
      this.#waiting -= text.length;
      if (!call.isEnded || call.text !== '') {
        this.#next();
        return;
      }
      rename(path, join(folder, spoolFolders.ended, name), (unmoved) => {
        // The process that keeps records finds a file with an end wherever it stands.
        if (unmoved !== null) this.#options.failed(unmoved.code ?? 'unknown');
        this.#calls.delete(name);
        this.#next();
      });
    });
  }

  #next(): void {
    this.#isWriting = false;
    this.#pump();
  }

  #again(error: NodeJS.ErrnoException): void {
    this.#isWriting = false;
    this.#options.failed(error.code ?? 'unknown');
    this.#pumpIn(againAfterMs);
  }
}

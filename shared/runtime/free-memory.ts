/**
 * Gives memory back between calls. Two keep it by themselves: the engine, whose heap grows with what calls leave until it sees
 * a reason to collect, and the C library, which holds tens of megabytes in pieces between what is still in use. A process that
 * is idle takes as much as before its first call, however many there were.
 */
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type koffiModule from 'koffi';
import type { Millis } from '../base/units.ts';
import type { Clock, Timer } from './clock.ts';

/** Without calls for this long, nobody waits for the moment that it takes. */
const idleAfterMs: Millis = 3_000;

/**
 * The young part of the heap becomes small again in a collection before which hardly anything was allocated for 5 s, and memory
 * outside of the heap is released beside the program, after its owners were collected.
 */
const againAfterMs: Millis = 6_000;

let collect: (() => void) | undefined;
let trim: ((pad: number) => number) | undefined;

/** Collects all garbage. Takes some tens of milliseconds, in which nothing else happens in this process. */
export function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}

/** Has the C library give back what it holds free; some milliseconds. */
export function giveBackFreeMemory(): void {
  trim ??= loadTrim();
  trim(0);
}

function loadTrim(): (pad: number) => number {
  const koffi = createRequire(import.meta.url)('koffi') as typeof koffiModule;
  try {
    return koffi.load(null).func('int malloc_trim(size_t pad)') as (pad: number) => number;
  } catch {
    // Only the GNU library has it; others keep less.
    return () => 0;
  }
}

export class MemoryKeeper {
  readonly #clock: Clock;
  readonly #isIdle: () => boolean;
  #timer: Timer | undefined;

  constructor(clock: Clock, isIdle: () => boolean) {
    this.#clock = clock;
    this.#isIdle = isIdle;
  }

  /** Something ended: if there is nothing left then, memory is given back after a while without anything new. */
  ended(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (!this.#isIdle()) return;
    this.#timer = this.#clock.after(idleAfterMs, () => {
      if (!this.#isIdle()) return;
      collectGarbage();
      this.#timer = this.#clock.after(againAfterMs, () => {
        if (!this.#isIdle()) return;
        collectGarbage();
        giveBackFreeMemory();
      });
    });
  }
}

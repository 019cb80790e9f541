/**
 * Gives memory back that the C library holds free. It keeps what many short calls have freed in pieces between what is still in
 * use, tens of megabytes of a worker, and lets it go by itself only at the end of its heap.
 */
import { createRequire } from 'node:module';
import type koffiModule from 'koffi';

type Trim = (pad: number) => number;

let trim: Trim | undefined;

function load(): Trim {
  const koffi = createRequire(import.meta.url)('koffi') as typeof koffiModule;
  try {
    return koffi.load(null).func('int malloc_trim(size_t pad)') as Trim;
  } catch {
    // Only the GNU library has it; others keep less.
    return () => 0;
  }
}

/** Takes some milliseconds, in which nothing else happens in this process. True when something was given back. */
export function giveBackFreeMemory(): boolean {
  trim ??= load();
  return trim(0) === 1;
}

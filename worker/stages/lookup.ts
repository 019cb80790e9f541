/**
 * Names of providers to addresses, for all connections of a process. The system's resolver works on few threads that
 * everything shares, and may hang for seconds: 256 calls must not ask it for the same name 256 times.
 *
 * Invariant: at most one question about a name is under way; a caller waits at most {@link LOOKUP_TIMEOUT_MS}. An answer is
 * fresh for half a minute; after that the old one is used only when no new one comes in time.
 */
import { lookup as systemLookup } from 'node:dns';
import type { LookupAddress, LookupAllOptions, LookupOptions } from 'node:dns';
import { systemClock, type Clock } from '../../shared/runtime/clock.ts';

/** Longest wait for an address, in milliseconds; within the limit of the whole connection. */
const LOOKUP_TIMEOUT_MS = 2_000;
/** With an old answer at hand, a slow resolver is waited for no longer than this. */
const STALE_AFTER_MS = 300;
const FRESH_MS = 30_000;
const USABLE_MS = 3_600_000;
const MOST_NAMES = 64;
/** The code of the error of a name that was not answered in time. */
export const LOOKUP_TIMEOUT_CODE = 'EDNSTIMEOUT';

/** As Node answers: nothing is found where there is an error, not even an empty list. */
type Answered = (error: NodeJS.ErrnoException | null, found?: LookupAddress[]) => void;
export type AskResolver = (name: string, options: LookupAllOptions, answered: Answered) => void;

/** As `net.connect` and `tls.connect` take it. */
export type Lookup = (
  name: string,
  options: LookupOptions,
  answered: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
) => void;

interface Name {
  found: LookupAddress[];
  foundMs: number;
  waiting: Answered[];
}

export interface LookupServices {
  readonly clock: Clock;
  readonly ask: AskResolver;
}

export function newLookup({ clock, ask }: LookupServices): Lookup {
  const names = new Map<string, Name>();
  const nameOf = (key: string): Name => {
    const known = names.get(key) ?? { found: [], foundMs: Number.NEGATIVE_INFINITY, waiting: [] };
    // The one that was asked for last stands last.
    names.delete(key);
    names.set(key, known);
    const [oldest] = names.keys();
    if (names.size > MOST_NAMES && oldest !== undefined) names.delete(oldest);
    return known;
  };
  return (hostname, options, answered) => {
    const name = nameOf(`${hostname} ${options.family ?? 0}`);
    const ageMs = clock.now() - name.foundMs;
    const reply: Answered = (error, found) => {
      const [first] = found ?? [];
      if (error !== null || found === undefined || first === undefined) answered(error ?? timeout(), []);
      else if (options.all === true) answered(null, found);
      else answered(null, first.address, first.family);
    };
    if (ageMs < FRESH_MS) {
      clock.after(0, () => reply(null, name.found));
      return;
    }
    const old = ageMs < USABLE_MS ? name.found : [];
    let isOver = false;
    const end: Answered = (error, found) => {
      if (isOver) return;
      isOver = true;
      timer.cancel();
      if (error !== null && old.length > 0) reply(null, old);
      else reply(error, found);
    };
    const timer = clock.after(old.length > 0 ? STALE_AFTER_MS : LOOKUP_TIMEOUT_MS, () => end(timeout(), []));
    name.waiting.push(end);
    if (name.waiting.length > 1) return;
    ask(hostname, { ...options, all: true }, (error, found) => {
      if (error === null && found !== undefined && found.length > 0) {
        name.found = found;
        name.foundMs = clock.now();
      }
      for (const tell of name.waiting.splice(0)) tell(error, found);
    });
  };
}

function timeout(): NodeJS.ErrnoException {
  return Object.assign(new Error('no address in time'), { code: LOOKUP_TIMEOUT_CODE });
}

/** The process's own. */
export const lookup: Lookup = newLookup({ clock: systemClock, ask: systemLookup });

/**
 * Collects key presses into entries (docs/reference/agent-file.md, `[telephony.dtmf]`). An entry ends at the
 * terminator, at the digit limit, or when the caller stops pressing keys.
 */
import { list, maybe, record, text, time } from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';

export interface DtmfSettings {
  /** Whether keys reach the conversation. */
  readonly collect: boolean;
  /** Ends an entry; empty: no key does. */
  readonly terminator: string;
  readonly maxDigits: number;
  readonly interDigitMs: Millis;
  /** The terminator alone is an entry of its own. */
  readonly loneTerminator: boolean;
  /** The note under which an entry enters the context, with `{digits}` where the keys stand. */
  readonly note: string;
}

export interface DtmfCollector {
  digits: string;
  /** When the first key of the newest entry was pressed. */
  pressedAt: Millis;
  completeAt: Millis | undefined;
  /** The newest ones, which must not be written down by whoever goes on with the call. */
  readonly entries: string[];
}

/** Of {@link DtmfCollector.entries}. */
const mostEntries = 16;

export const newDtmfCollector = (): DtmfCollector => ({
  digits: '',
  pressedAt: 0,
  completeAt: undefined,
  entries: [],
});

/** A terminator with nothing before it, where it is no entry: as if it had not been pressed. Callers add one to a number that is whole. */
export const isIdleKey = (
  { digits }: DtmfCollector,
  digit: string,
  { terminator, loneTerminator }: DtmfSettings,
): boolean => digits === '' && digit === terminator && !loneTerminator;

/** Takes one key that is not idle, and returns the entry that it completed. */
export function pressKey(
  collector: DtmfCollector,
  digit: string,
  { settings, now }: { settings: DtmfSettings; now: Millis },
): string | undefined {
  if (collector.digits === '') collector.pressedAt = now;
  if (digit === settings.terminator) return takeEntry(collector) ?? digit;
  collector.digits += digit;
  collector.completeAt = now + settings.interDigitMs;
  return collector.digits.length >= settings.maxDigits ? takeEntry(collector) : undefined;
}

/** Returns the entry whose time between digits ran out. */
export function dtmfDeadline(collector: DtmfCollector, now: Millis): string | undefined {
  return collector.completeAt !== undefined && now >= collector.completeAt ? takeEntry(collector) : undefined;
}

/** Keys were pressed that are no entry yet. */
export const isPressing = ({ digits }: DtmfCollector): boolean => digits !== '';

export const keysNote = (entry: string, { note }: DtmfSettings): string =>
  note.replaceAll('{digits}', () => entry);

function takeEntry(collector: DtmfCollector): string | undefined {
  const entry = collector.digits;
  collector.digits = '';
  collector.completeAt = undefined;
  if (entry === '') return undefined;
  collector.entries.push(entry);
  if (collector.entries.length > mostEntries) collector.entries.shift();
  return entry;
}

export const dtmfCodec = record<DtmfCollector>({
  digits: text(),
  pressedAt: time,
  completeAt: maybe(time),
  entries: list(text()),
});

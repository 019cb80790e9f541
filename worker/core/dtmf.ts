/**
 * Collects key presses into entries (spec 03, DTMF collection). An entry ends at the terminator, at the digit limit, or
 * when the caller stops pressing keys.
 */
import type { Millis } from '../../shared/base/units.ts';

export interface DtmfCollector {
  digits: string;
  completeAt: Millis | undefined;
}

const terminator = '#';
const maxDigits = 20;
const interDigitMs = 3_000;

export const newDtmfCollector = (): DtmfCollector => ({ digits: '', completeAt: undefined });

/** Takes one key and returns the entry that it completed. A lone terminator is an entry of its own. */
export function pressKey(collector: DtmfCollector, digit: string, now: Millis): string | undefined {
  if (digit === terminator) return takeEntry(collector) ?? terminator;
  collector.digits += digit;
  collector.completeAt = now + interDigitMs;
  return collector.digits.length >= maxDigits ? takeEntry(collector) : undefined;
}

/** Returns the entry whose time between digits ran out. */
export function dtmfDeadline(collector: DtmfCollector, now: Millis): string | undefined {
  return collector.completeAt !== undefined && now >= collector.completeAt ? takeEntry(collector) : undefined;
}

/** The note under which an entry enters the context (spec 03, DTMF collection). */
export const keysNote = (entry: string): string => `[The caller pressed the keys: ${entry}]`;

function takeEntry(collector: DtmfCollector): string | undefined {
  const entry = collector.digits;
  collector.digits = '';
  collector.completeAt = undefined;
  return entry === '' ? undefined : entry;
}

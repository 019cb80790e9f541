/**
 * Marks on their way at a carrier that sends them back in order, and after `clear` all at once: those say nothing of what was heard.
 * Plain data, saved with the call. Pure.
 */

export interface SentMarks {
  /** Marks that the carrier has not sent back; in order. */
  readonly marks: string[];
  /** How many of them, from the first on, were cleared. */
  cleared: number;
}

/** Of more, the oldest are taken for forgotten. */
const mostMarks = 256;

export function markSent(state: SentMarks, id: string): void {
  state.marks.push(id);
  while (state.marks.length > mostMarks) {
    state.marks.shift();
    state.cleared = Math.max(0, state.cleared - 1);
  }
}

export function marksCleared(state: SentMarks): void {
  state.cleared = state.marks.length;
}

/** A mark came back. True when everything before it was played. */
export function markCameBack(state: SentMarks, name: unknown): boolean {
  const at = typeof name === 'string' ? state.marks.indexOf(name) : -1;
  if (at < 0) return false;
  state.marks.splice(0, at + 1);
  const wasCleared = at < state.cleared;
  state.cleared = Math.max(0, state.cleared - at - 1);
  return !wasCleared;
}

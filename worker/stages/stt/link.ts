/** The states of a session's way to its recogniser. Times in milliseconds of the call's clock. */
import type { Connection } from './socket.ts';
import type { SttWire } from './wire.ts';

/** One connection and what goes over it. */
export interface Line {
  readonly connection: Connection;
  readonly wire: SttWire;
}

export type Link =
  | { readonly state: 'down'; readonly retryAtMs: number }
  | ({ readonly state: 'connecting'; readonly dueMs: number } & Line)
  | ({ readonly state: 'open' } & Line)
  /** The wire was asked to finalize. */
  | ({ readonly state: 'finishing'; readonly dueMs: number; readonly sinceMs: number } & Line)
  /** The utterance is finalized, but the server does not take audio of the next one yet. */
  | ({ readonly state: 'settling'; readonly dueMs: number } & Line);

/** How long a server that has told everything is given to show that there was one more word. */
const ONE_MORE_WORD_MS = 250;

/** Until when the end of an utterance is waited for. */
export const finishDueMs = ({ wire, dueMs, sinceMs }: Extract<Link, { state: 'finishing' }>): number =>
  wire.isTold?.() === true ? Math.min(dueMs, sinceMs + ONE_MORE_WORD_MS) : dueMs;

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5_000;

/** How long to wait after so many connects have failed before, and now another one. */
export const retryPauseMs = (failedBefore: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** failedBefore, LAST_RETRY_MS);

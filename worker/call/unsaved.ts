/** When a call is written down for the worker that may have it next. */
import type { Millis } from '../../shared/base/units.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { CallEvent } from '../core/events.ts';
import type { Told } from './driver.ts';
import type { CallJournal } from './journal.ts';

/** Text that a stage would give again is written down after this time at the latest. */
const unsavedForMs = 100;

export class UnsavedCall {
  readonly #journal: CallJournal | undefined;
  readonly #write: (journal: CallJournal) => void;
  /** Since when the conversation says something that is not written down. */
  #since: Millis | undefined;
  /** Said in the log. */
  #isTooLarge = false;

  constructor(journal: CallJournal | undefined, write: (journal: CallJournal) => void) {
    this.#journal = journal;
    this.#write = write;
  }

  /** Whether a fact that was taken waits to be written. Text comes often, and again when it is lost; no other worker must do again what was done. */
  mayWait(fact: CallEvent, told: Told, now: Millis): boolean {
    const isText = fact.type === 'llm.text' || (fact.type === 'stt.partial' && told === 'noted');
    if (isText) this.#since ??= now;
    return isText;
  }

  isDue(now: Millis): boolean {
    return this.#since !== undefined && now - this.#since >= unsavedForMs;
  }

  save(log: Log): void {
    this.#since = undefined;
    if (this.#journal === undefined) return;
    this.#write(this.#journal);
    if (!this.#journal.isWhole && !this.#isTooLarge) log.warn('the call is too large to outlive its worker');
    this.#isTooLarge = !this.#journal.isWhole;
  }
}

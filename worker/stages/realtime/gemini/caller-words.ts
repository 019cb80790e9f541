/**
 * The service's words for the turns of the caller: pieces of text that come during the turn, behind it, or behind the beginning of the answer.
 * Pure.
 *
 * Invariant: a turn gets one final, and nothing behind it. Words that come before the turn is named wait for its name.
 */
import { recordOf, textOf } from '../../json.ts';
import type { RealtimeEvent } from '../contract.ts';

export class CallerWords {
  readonly #isTold: boolean;
  readonly #emit: (event: RealtimeEvent) => void;
  /** Absent between turns: then words come too late. */
  #turn: { readonly number: number | undefined; text: string } | undefined;

  constructor(isTold: boolean, emit: (event: RealtimeEvent) => void) {
    this.#isTold = isTold;
    this.#emit = emit;
  }

  /** Words of a turn that has its name, to which more may come; undefined where there are none. */
  get open(): string | undefined {
    return this.#turn?.number === undefined || this.#turn.text.trim() === '' ? undefined : this.#turn.text;
  }

  begin(): void {
    this.settle();
    this.#turn = { number: undefined, text: '' };
  }

  end(number: number): void {
    const text = this.#turn?.text ?? '';
    this.#turn = { number, text };
    if (text.trim() !== '') this.#tell(false);
  }

  hear(transcription: unknown): void {
    const heard = recordOf(transcription);
    const turn = this.#turn;
    if (heard === undefined || turn === undefined) return;
    const text = textOf(heard['text']);
    turn.text += text;
    if (turn.number === undefined) return;
    if (heard['finished'] === true) this.settle();
    else if (text !== '') this.#tell(false);
  }

  /** The model has said its answer, so that nothing more comes of a turn of which words came. */
  settleIfHeard(): void {
    if (this.open !== undefined) this.settle();
  }

  settle(): void {
    if (this.#turn?.number === undefined) return;
    this.#tell(true);
    this.#turn = undefined;
  }

  #tell(final: boolean): void {
    const turn = this.#turn;
    if (!this.#isTold || turn?.number === undefined) return;
    this.#emit({ type: 'user-text', turn: turn.number, text: turn.text.trim(), final });
  }
}

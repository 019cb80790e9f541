/**
 * The words of turns that the model heard and writes down beside its answers: late, and not always in order. They are told in the order of the
 * turns, and a turn whose words do not come is told as one that nobody could hear.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { StageContext } from '../stage.ts';

/** Words that come later than this are not waited for. */
const latestMs: Millis = 3_000;
const inaudible = '[inaudible]';

export class WrittenWords {
  readonly #context: StageContext;
  readonly #tell: (text: string) => void;
  /** Turns whose words are owed, oldest first, and the words of those that are not the oldest. */
  readonly #owed: { readonly turn: number; text: string | undefined }[] = [];

  constructor(context: StageContext, tell: (text: string) => void) {
    this.#context = context;
    this.#tell = tell;
  }

  owe(turn: number): void {
    this.#owed.push({ turn, text: undefined });
    this.#context.clock.after(
      latestMs,
      this.#context.bind(() => this.know(turn, inaudible)),
    );
  }

  /** The words of a turn are known; later ones for the same turn do not count. */
  know(turn: number, text: string): void {
    const owed = this.#owed.find((one) => one.turn === turn);
    if (owed === undefined) return;
    owed.text ??= text.trim() === '' ? inaudible : text.trim();
    while (this.#owed[0]?.text !== undefined) this.#tell(this.#owed.shift()?.text ?? '');
  }
}

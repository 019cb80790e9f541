/**
 * The words of turns that are written down beside an answer, or behind it: late, and not always in order. They are told in the order of the
 * turns, and a turn whose words do not come is told as one that nobody could hear.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { StageContext } from '../stage.ts';

/** Words that come later than this are not waited for. */
const latestMs: Millis = 3_000;
const inaudible = '[inaudible]';

/** Stretches of one turn whose words come late. */
interface Stretches {
  /** Undefined: no answer was asked for yet. */
  turn: number | undefined;
  readonly texts: (string | undefined)[];
}

export class WrittenWords {
  readonly #context: StageContext;
  readonly #tell: (text: string) => void;
  /** Turns whose words are owed, oldest first, and the words of those that are not the oldest. */
  readonly #owed: { readonly turn: number; readonly isNoted: boolean; text: string | undefined }[] = [];
  #running: Stretches = { turn: undefined, texts: [] };

  constructor(context: StageContext, tell: (text: string) => void) {
    this.#context = context;
    this.#tell = tell;
  }

  /** The words of a stretch of the turn that is next asked about come later; gives the function that takes them. */
  note(): (text: string) => void {
    const stretches = this.#running;
    const at = stretches.texts.push(undefined) - 1;
    return (text) => {
      stretches.texts[at] = text;
      this.#settle(stretches);
    };
  }

  /** The words of this turn are owed from now on. */
  owe(turn: number): void {
    this.#owed.push({ turn, isNoted: this.#running.texts.length > 0, text: undefined });
    const context = this.#context;
    context.clock.after(
      latestMs,
      context.bind(() => this.know(turn, inaudible)),
    );
    const stretches = this.#running;
    this.#running = { turn: undefined, texts: [] };
    stretches.turn = turn;
    // A session never speaks from inside a question.
    context.clock.after(
      0,
      context.bind(() => this.#settle(stretches)),
    );
  }

  /** What was said so far belongs to no turn. */
  forget(): void {
    this.#running = { turn: undefined, texts: [] };
  }

  /** The model tells the words of a turn: all of them, also those that are known where stretches of it were noted. */
  told(turn: number, text: string): void {
    if (this.#owed.find((one) => one.turn === turn)?.isNoted !== true) this.know(turn, text);
  }

  /** The words of a turn are known; later ones for the same turn do not count. */
  know(turn: number, text: string): void {
    const owed = this.#owed.find((one) => one.turn === turn);
    if (owed === undefined) return;
    owed.text ??= text.trim() === '' ? inaudible : text.trim();
    while (this.#owed[0]?.text !== undefined) this.#tell(this.#owed.shift()?.text ?? '');
  }

  #settle({ turn, texts }: Stretches): void {
    if (turn === undefined || texts.length === 0 || texts.includes(undefined)) return;
    this.know(turn, texts.join(' '));
  }
}

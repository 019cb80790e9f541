/**
 * A question to the turn model and its answer, in the header of a call's mailbox. The worker asks, and any turn thread may take
 * the question. There is one question per slot at a time: a new one takes the place of the former, whose answer nobody
 * waits for then.
 */
import { answerIn, answerWord, questionIn } from './answer-word.ts';

/** An answer that comes later than this after its question is of no use, and a thread leaves it out. */
export const turnAnswerWithinMs = 300;
/** Bytes of the header that a box takes; they begin at a multiple of 8. */
const turnBoxBytes = 32;

const field = { asked: 0, start: 1, end: 2, askedAt: 3, giveUpAt: 4, taken: 5 } as const;
/** The answer, in words of 64 bits. */
const answerAt = 3;

export interface TurnQuestion {
  readonly sequence: number;
  /** Frames of the mailbox that the question is about, the end exclusive. */
  readonly start: number;
  readonly end: number;
  /** Times as in heartbeats. */
  readonly askedAtMs: number;
  readonly giveUpAtMs: number;
}

export class TurnBox {
  readonly #ints: Int32Array;
  readonly #answers: BigInt64Array;

  constructor(memory: ArrayBuffer, at: number) {
    this.#ints = new Int32Array(memory, at, turnBoxBytes / 4);
    this.#answers = new BigInt64Array(memory, at, turnBoxBytes / 8);
  }

  // ---- the worker ----

  /** Asks, in the place of what was asked before. Returns the number of the question. */
  ask(question: Omit<TurnQuestion, 'sequence'>): number {
    const ints = this.#ints;
    const sequence = (Atomics.load(ints, field.asked) + 1) | 0;
    Atomics.store(ints, field.start, question.start);
    Atomics.store(ints, field.end, question.end);
    Atomics.store(ints, field.askedAt, question.askedAtMs);
    Atomics.store(ints, field.giveUpAt, question.giveUpAtMs);
    Atomics.store(ints, field.asked, sequence);
    return sequence;
  }

  /** Probability that the turn is complete, NaN when a thread could not tell; undefined while there is no answer. */
  answer(sequence: number): number | undefined {
    return answerIn(Atomics.load(this.#answers, answerAt), sequence);
  }

  // ---- a turn thread ----

  /** When the question that nobody has taken was asked; undefined when there is none. */
  waitingSince(): number | undefined {
    if (Atomics.load(this.#ints, field.asked) === Atomics.load(this.#ints, field.taken)) return undefined;
    return Atomics.load(this.#ints, field.askedAt);
  }

  /** Takes the question; undefined when there is none, or another thread was faster, or a newer one is being written. */
  take(): TurnQuestion | undefined {
    const ints = this.#ints;
    const taken = Atomics.load(ints, field.taken);
    const sequence = Atomics.load(ints, field.asked);
    if (sequence === taken) return undefined;
    if (Atomics.compareExchange(ints, field.taken, taken, sequence) !== taken) return undefined;
    const question: TurnQuestion = {
      sequence,
      start: Atomics.load(ints, field.start),
      end: Atomics.load(ints, field.end),
      askedAtMs: Atomics.load(ints, field.askedAt),
      giveUpAtMs: Atomics.load(ints, field.giveUpAt),
    };
    return Atomics.load(ints, field.asked) === sequence ? question : undefined;
  }

  /** Answers a question, unless a newer one has its answer already. */
  reply(sequence: number, probability: number): void {
    const word = answerWord(sequence, probability);
    let seen = Atomics.load(this.#answers, answerAt);
    while (((questionIn(seen) - sequence) | 0) <= 0) {
      const found = Atomics.compareExchange(this.#answers, answerAt, seen, word);
      if (found === seen) return;
      seen = found;
    }
  }
}

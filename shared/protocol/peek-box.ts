/**
 * A question to VAD about the newest 32 ms of a call, before the frame is full that they end in, and its answer, in the header of the
 * call's mailbox. The worker asks, the thread that owns the slot answers. A new question takes the place of the former one, and
 * nobody waits for an answer: the frame itself is judged soon after.
 */
import { answerIn, answerWord } from './answer-word.ts';

/** Bytes of the header that a box takes; they begin at a multiple of 8. */
const peekBoxBytes = 16;
/** Fewer samples of the unfinished frame are no news, and the model needs as many of the frame before, for its context. */
export const leastPeekSamples = 64;

const filledBits = 9;
const askedInt = 0;
const answerAt = 1;

export interface Peek {
  /** Names the question; never 0. */
  readonly code: number;
  /** Samples that the unfinished frame has. */
  readonly filled: number;
}

export class PeekBox {
  readonly #ints: Int32Array;
  readonly #answers: BigInt64Array;

  constructor(memory: ArrayBuffer, at: number) {
    this.#ints = new Int32Array(memory, at, peekBoxBytes / 4);
    this.#answers = new BigInt64Array(memory, at, peekBoxBytes / 8);
  }

  /** The worker asks about the 512 samples up to the last of `filled` ones of frame `index`. Returns the name of the question. */
  ask(index: number, filled: number): number {
    const code = codeOf(index, filled);
    Atomics.store(this.#ints, askedInt, code);
    return code;
  }

  /** Probability of speech; undefined while there is no answer. */
  answer(code: number): number | undefined {
    return answerIn(Atomics.load(this.#answers, answerAt), code);
  }

  /** The question about frame `index` that has no answer; undefined without one. */
  question(index: number): Peek | undefined {
    const code = Atomics.load(this.#ints, askedInt);
    const filled = code & ((1 << filledBits) - 1);
    if (filled < leastPeekSamples || codeOf(index, filled) !== code) return undefined;
    return this.answer(code) === undefined ? { code, filled } : undefined;
  }

  deliver(code: number, probability: number): void {
    Atomics.store(this.#answers, answerAt, answerWord(code, probability));
  }
}

const codeOf = (index: number, filled: number): number => (index << filledBits) | filled;

/**
 * An answer and the name of its question in one 64-bit word of shared memory, so that neither is ever seen without the other. The
 * name is a signed 32-bit number, the answer a 32-bit float.
 */

const float = new Float32Array(1);
const floatBits = new Uint32Array(float.buffer);

export function answerWord(question: number, answer: number): bigint {
  float[0] = answer;
  return (BigInt(question) << 32n) | BigInt(floatBits[0] ?? 0);
}

export const questionIn = (word: bigint): number => Number(word >> 32n);

/** The answer to this question; undefined when the word answers another. */
export function answerIn(word: bigint, question: number): number | undefined {
  if (questionIn(word) !== question) return undefined;
  floatBits[0] = Number(BigInt.asUintN(32, word));
  return float[0];
}

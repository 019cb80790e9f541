/**
 * Around the reason to stop, services are seen to send the answer or its end once more, which a caller would hear twice. Others write the
 * reason into every part, so that what is new must not be lost. Pure.
 */

/** Shorter texts are words that an answer may well say twice, */
const leastRepeatedChars = 4;
/** and beside the reason to stop stands the last of it in any case. */
const leastBesideChars = 20;

export class SaidAgain {
  #said = '';
  /** How far a repetition of what was said has come. */
  #repeatedTo = 0;

  /** Whether the text, which stands behind the reason to stop or beside it, was said before. Every text is to be told, in order. */
  take(text: string, where: 'before' | 'beside' | 'behind'): boolean {
    if (this.#repeats(text, where)) return true;
    this.#said += text;
    return false;
  }

  #repeats(text: string, where: 'before' | 'beside' | 'behind'): boolean {
    if (where === 'before' || text.trim() === '') return false;
    if (where === 'beside') return text.length >= leastBesideChars && text === this.#said;
    const isLong = text.trim().length >= leastRepeatedChars;
    if (isLong && this.#said.startsWith(text, this.#repeatedTo)) {
      this.#repeatedTo += text.length;
      return true;
    }
    return text === this.#said || (isLong && this.#said.endsWith(text));
  }
}

/** Errors of a recogniser in words: those that are wrong, missing or too many, of those that were said. Pure. */

const spelled: Readonly<Record<string, string>> = {
  mr: 'mister',
  okay: 'ok',
  ...Object.fromEntries(
    ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'].map(
      (word, digit) => [String(digit), word],
    ),
  ),
};

/** Words as they sound: without case and punctuation, numbers of one digit spelled out. */
export const soundingWords = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(/[’]/g, "'")
    .replace(/[^\p{L}\p{N}']+/gu, ' ')
    .trim()
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => spelled[word] ?? word);

export interface WordErrors {
  readonly errors: number;
  readonly of: number;
}

/** The least changes of words that make what was said of what was written down. */
export function wordErrors(said: string, heard: string): WordErrors {
  const [words, written] = [soundingWords(said), soundingWords(heard)];
  let row = written.map((_, at) => at + 1);
  for (const [at, word] of words.entries()) {
    let [corner, left] = [at, at + 1];
    row = row.map((above, column) => {
      left = Math.min(above + 1, left + 1, corner + (written[column] === word ? 0 : 1));
      corner = above;
      return left;
    });
  }
  return { errors: row.at(-1) ?? words.length, of: words.length };
}

/** What stands for the words of a turn that come later, or never: an STT that gives this as a transcript means such a turn. */
export const unwritten = 'spoken words that are not written down yet';

/** The text with the words in the place of the first note about them, and without the others. */
export function writtenOut(text: string, words: string): string {
  const [before = '', ...behind] = text.split(unwritten);
  if (behind.length === 0) return text;
  return [before, words, ...behind]
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ');
}

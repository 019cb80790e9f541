/**
 * Words that call for a stop: "no", "wait", a question word. None of them is half of anything: neither the beginning of a phrase of
 * listening nor that of a word that the agent has just said. It compares words and knows nothing of time, turns or audio.
 */

/** Words that want something at once: none of them waits for what may follow. */
const urgent = new Set(
  [
    'no not nope stop wait hold what who when where why how which pardon sorry',
    'hayır yok dur durun bekle bekleyin ne kim nerede neden nasıl hangi',
    'nein halt stopp warte warten was wer wann wo warum wie welche',
    'para alto espera espere que quien cuando donde como cual',
    'non arrete arretez attends attendez quoi qui quand ou pourquoi comment quel',
  ].flatMap((line) => line.split(' ')),
);

/** A word as it sounds: without hyphens, apostrophes and accents; a letter that is drawn out counts once. */
export function bare(word: string): string {
  const plain = word.replaceAll(/['-]/g, '').normalize('NFD').replaceAll(/\p{M}/gu, '');
  return plain.replaceAll(/(\p{L})\1{2,}/gu, '$1');
}

export const isUrgent = (word: string): boolean => urgent.has(bare(word)) || urgent.has(word);

/** How words are compared, whatever STT makes of case, punctuation, accents and letters of one sound. */

/** Letters that Hindi writes in two ways, and joiners, which have no sound. */
const oneSpelling = (text: string): string => text.replaceAll('ँ', 'ं').replaceAll(/[\u093C\u200C\u200D]/g, '');

/** Words as they are compared: lower case, without punctuation; apostrophes and hyphens inside words stay. */
export function spokenWords(text: string): string[] {
  const plain = oneSpelling(text.normalize('NFKC')).replaceAll('İ', 'i').toLowerCase().replaceAll('’', "'");
  return plain.match(/[\p{L}\p{N}\p{M}]+(?:['-][\p{L}\p{N}\p{M}]+)*/gu) ?? [];
}

/** A word as it sounds: without hyphens, apostrophes and accents; a letter that is drawn out counts once. Vowel signs are letters. */
export function bare(word: string): string {
  const plain = word
    .replaceAll(/['-]/g, '')
    .normalize('NFD')
    .replaceAll(/\p{sc=Inherited}/gu, '');
  return plain.replaceAll(/(\p{L})\1{2,}/gu, '$1');
}

/** Words of an answer that accents decide ("sí" and "si"): without apostrophes, and hyphens part them. `language` is a BCP 47 tag. */
export function answeredWords(text: string, language: string): string[] {
  // Turkish has two letters i; any other locale would turn "HAYIR" into another word.
  const lower = oneSpelling(text.normalize('NFC')).toLocaleLowerCase(language === 'tr' ? 'tr' : 'en');
  const plain = lower.replaceAll(/['’ʼ]|\p{sc=Inherited}/gu, '');
  return plain.split(/[^\p{L}\p{N}\p{M}]+/u).filter((word) => word !== '');
}

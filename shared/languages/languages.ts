/** The languages that the engine knows. A new one is a file and a line here (docs/languages.md). */
import { dutch } from './dutch.ts';
import { english } from './english.ts';
import { french } from './french.ts';
import { german } from './german.ts';
import { hindi } from './hindi.ts';
import { italian } from './italian.ts';
import type { Language } from './language.ts';
import { polish } from './polish.ts';
import { portuguese } from './portuguese.ts';
import { spanish } from './spanish.ts';
import { turkish } from './turkish.ts';

export const languages: readonly Language[] = [
  english,
  german,
  french,
  spanish,
  turkish,
  italian,
  portuguese,
  dutch,
  polish,
  hindi,
];

const byCode = new Map(languages.map((language) => [language.code, language]));

/** The language of a BCP 47 tag such as "de-AT"; undefined where the engine does not know it. */
export const languageOf = (tag: string): Language | undefined =>
  byCode.get(tag.split('-', 1)[0]?.toLowerCase() ?? '');

/**
 * Codes of the languages that callers may speak, by the tags of a file, the most likely first. Where the engine does not know one of the
 * languages, or a tag is "multi", these are all that it knows: words of listening and of refusal travel.
 */
export function spokenLanguages(tags: readonly string[]): readonly string[] {
  const known = tags.flatMap((tag) => languageOf(tag)?.code ?? []);
  const all = known.length < tags.length ? languages.map(({ code }) => code) : [];
  return [...new Set([...known, ...all])];
}

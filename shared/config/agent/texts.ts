/**
 * What stands in for what the agent file does not say: lines, words of listening, and the words by which a yes and a no are understood.
 * Every text can be replaced in the agent file, which is how languages without a file in `shared/languages` get theirs.
 */
import type { Lines } from '../../languages/language.ts';
import { languageOf, languages } from '../../languages/languages.ts';
import { english } from '../../languages/english.ts';

export interface BuiltInTexts extends Lines {
  readonly yes: readonly string[];
  readonly no: readonly string[];
}

/** The engine brings texts in this language; for others the English ones stand in. */
export const hasBuiltInTexts = (tag: string): boolean => languageOf(tag) !== undefined;

/** The texts for a BCP 47 tag such as `tr-TR`. `several`: callers may say yes and no in another language. */
export function builtInTexts(tag: string, { several = false } = {}): BuiltInTexts {
  const own = languageOf(tag) ?? english;
  const { yes, no } = own.answers;
  if (!several) return { ...own.lines, yes, no };
  const all = languages.map(({ answers }) => answers);
  // "Si" is a yes in Italian and an "if" in Spanish: it is taken for neither.
  const doubted = new Set(all.flatMap(({ hedges, no: refusals }) => [...hedges, ...refusals]));
  const agreed = all.flatMap((answers) => answers.yes).filter((word) => !doubted.has(word));
  return {
    ...own.lines,
    yes: [...new Set([...yes, ...agreed])],
    no: [...new Set([...no, ...all.flatMap((answers) => answers.no)])],
  };
}

/** Words of listening; with `several` callers may speak any language. A language without a list has the English one, which many borrow. */
export function backchannelsOf(tag: string, { several = false } = {}): readonly string[] {
  const own = languageOf(tag) ?? english;
  const all = several ? languages.flatMap(({ backchannels }) => backchannels) : [];
  return [...new Set([...own.backchannels, ...all])];
}

/** What the recording says that ships for a language; empty where the signal without words stands in for it. */
export const shippedAnnouncement = (tag: string): string => languageOf(tag)?.lines.announcement ?? '';

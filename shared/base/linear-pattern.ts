/**
 * Regular expressions that others wrote, in linear time: RE2 in place of the engine's own, which a text of 41 characters can keep busy for
 * hours. Patterns that RE2 cannot do (look-ahead, look-behind, back-references, more than 1,000 repetitions) are refused, and all others mean
 * the same as in JavaScript with the flag `u`.
 */
import { RE2JS } from 're2js';
import { fail, ok, type Result } from './result.ts';

export interface LinearPattern {
  readonly source: string;
  /** Steps for one character of a text, at most. */
  readonly cost: number;
  /** Whether the pattern is found anywhere in the text. */
  test(text: string): boolean;
  /** Where the matches begin and end. The text behind the most matches that are looked for belongs to the last one. */
  find(text: string): readonly (readonly [number, number])[];
  /** The text with each match replaced. */
  replaceAll(text: string, replacement: string): string;
}

export const patternRules = {
  syntax: 'must be a regular expression of JavaScript',
  beyond: 'must do without look-ahead, look-behind, back-references and more than 1,000 repetitions',
} as const;

const longestPattern = 4_096;
/** Each search may go to the end of the text, so that their number is bounded as well. */
const mostMatches = 256;

/** The pattern, or which rule it breaks. */
export function linearPattern(
  source: string,
  { ignoreCase = false }: { readonly ignoreCase?: boolean } = {},
): Result<LinearPattern, (typeof patternRules)[keyof typeof patternRules]> {
  try {
    void new RegExp(source, 'u');
  } catch {
    return fail(patternRules.syntax);
  }
  const translated = source.length > longestPattern ? undefined : inWordsOfRe2(source);
  if (translated === undefined) return fail(patternRules.beyond);
  try {
    return ok(newPattern(source, RE2JS.compile(translated, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)));
  } catch {
    return fail(patternRules.beyond);
  }
}

const newPattern = (source: string, compiled: RE2JS): LinearPattern => ({
  source,
  cost: compiled.programSize(),
  test: (text) => compiled.test(text),
  find: (text) => placesOf(compiled, text),
  replaceAll: (text, replacement) => {
    let written = '';
    let at = 0;
    for (const [from, to] of placesOf(compiled, text)) {
      written += text.slice(at, from) + replacement;
      at = to;
    }
    return written + text.slice(at);
  },
});

function placesOf(compiled: RE2JS, text: string): (readonly [number, number])[] {
  const matcher = compiled.matcher(text);
  const places: (readonly [number, number])[] = [];
  while (places.length <= mostMatches && matcher.find()) {
    const isLast = places.length === mostMatches;
    places.push([matcher.start(), isLast ? text.length : matcher.end()]);
  }
  return places;
}

/** `\s` and `.` of JavaScript; those of RE2 know ASCII alone. */
const space = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const anyOfLine = String.raw`[^\n\r\x{2028}\x{2029}]`;

/** One element of a valid pattern: an escape, an empty class, a bracket or any other character. */
const element = /\\p\{[^}]*\}|\\[^]|\[\^?\]|[^]/giu;

/** The pattern as RE2 writes it; undefined for what it cannot say. */
function inWordsOfRe2(source: string): string | undefined {
  let isInClass = false;
  let isBeyond = false;
  const translated = source.replace(element, (found) => {
    if (/^\\[1-9k]/.test(found)) isBeyond = true;
    if (found === '\\s') return isInClass ? space : `[${space}]`;
    if (found === '\\S' && !isInClass) return `[^${space}]`;
    if (found.startsWith('\\p') || found.startsWith('\\P'))
      return found.replace(/\{(?:Script|sc|General_Category|gc)=/, '{');
    if (isInClass) {
      if (found === ']') isInClass = false;
      return found === '[' ? '\\[' : found;
    }
    if (found === '[]') isBeyond = true;
    if (found === '[') isInClass = true;
    return found === '.' ? anyOfLine : found;
  });
  return isBeyond ? undefined : RE2JS.translateRegExp(translated);
}

/** Requests for time that are in no list: how many are told, and how many other sentences are taken for one. */
import { describe, expect, it } from 'vitest';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { asksForTime } from '../../../worker/core/turn/time-asked.ts';
import { moments } from './moments.ts';

/** So many parts of a hundred of those that were seen, and of those that were written after the rules. */
const [seenShare, asideShare] = [95, 90];

const shareOf = (texts: readonly string[], code: string): number =>
  (100 * texts.filter((text) => asksForTime(text, vocabularyOf([code]))).length) / texts.length;

it('does not take "the second" for a moment', () => {
  const rows = [
    ['es', 'el segundo', false],
    ['it', 'il secondo per favore', false],
    ['fr', 'la seconde', false],
    ['es', 'pues un segundo', true],
    ['it', 'allora un secondo', true],
    ['fr', 'alors une petite seconde', true],
  ] as const;
  for (const [language, text, asks] of rows)
    expect([text, asksForTime(text, vocabularyOf([language]))]).toEqual([text, asks]);
});

describe.each(Object.entries(moments))('in %s', (code, { seen, aside, others }) => {
  it('tells who asks for time in words of their own', () => {
    expect(shareOf(seen, code)).toBeGreaterThanOrEqual(seenShare);
    expect(shareOf(aside, code)).toBeGreaterThanOrEqual(asideShare);
    const written = aside.map((text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
    expect(shareOf(written, code)).toBeGreaterThanOrEqual(asideShare);
  });

  it('takes few other sentences for it', () => {
    expect(shareOf(others, code)).toBeLessThanOrEqual(10);
  });
});

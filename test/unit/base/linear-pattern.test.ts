/** Patterns of others mean what they mean in JavaScript, and no text keeps one busy. */
import { describe, expect, it } from 'vitest';
import { linearPattern, patternRules } from '../../../shared/base/linear-pattern.ts';

const made = (source: string, options?: { ignoreCase: boolean }) => {
  const found = linearPattern(source, options);
  if (!found.ok) throw new Error(found.error);
  return found.value;
};

describe('a pattern in linear time', () => {
  it.each([
    ['^(\\w+\\s?)*$', `${'a'.repeat(65_535)}!`],
    ['^(a+)+$', `${'a'.repeat(65_535)}!`],
    ['^(a|aa)+$', `${'a'.repeat(65_535)}!`],
    ['(x+x+)+y', 'x'.repeat(65_536)],
    ['(.*)(.*)(.*)(.*)(.*)[^a]$', 'a'.repeat(65_536)],
    ['(a|b)*a(a|b){20}$', `${'ab'.repeat(32_000)}!`],
    ['^(\\w{0,1000})*\\s$', `${'a'.repeat(65_535)}!`],
  ])('ends: %s', (source, text) => {
    expect(made(source).test(text)).toBe(false);
  });

  it.each([
    ['^\\d{3}-\\d{4}$', ['555-1234', '5551234', ' 555-1234']],
    ['^\\S+\\s\\S+$', ['a b', 'a\u00a0b', 'a\u202fb', 'ab', 'a\u3000b']],
    ['^[\\s\\d]+$', ['1 2', '1\u00a02', 'a']],
    ['^[^\\s@]+@[^\\s@]+$', ['a@b', 'a@b\u00a0', '@b']],
    ['^.$', ['a', '\n', '\r', '\u2028', '😀']],
    ['^[[a]$', ['[', 'a', 'b']],
    ['^[[:alpha:]+$', [':', 'al', 'x', '[']],
    ['^\\p{Lu}\\p{Script=Greek}$', ['Aα', 'aα', 'Aa']],
    ['^\\u00e4\\u{1F600}\\x41$', ['ä😀A', 'a😀A']],
    ['^[^]$', ['a', '\n', '']],
    ['(?<year>\\d{4})', ['in 2026', 'in 26']],
    ['\\\\k', ['\\k', 'k']],
    ['^\\/\\.\\-?$'.replace('\\-', '-'), ['/.', '/.-', '/a']],
  ])('%s means the same as in JavaScript', (source, texts) => {
    const pattern = made(source);
    for (const text of texts)
      expect([text, pattern.test(text)]).toEqual([text, new RegExp(source, 'u').test(text)]);
  });

  it('may ignore case, as JavaScript does', () => {
    expect(made('größe', { ignoreCase: true }).test('GRÖSSE GRÖßE')).toBe(true);
    expect(made('größe').test('GRÖßE')).toBe(false);
  });

  it.each(['a(?=b)', 'a(?!b)', '(?<=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', 'a{1,1001}', '[]'])(
    'is refused where it needs more: %s',
    (source) => expect(linearPattern(source)).toEqual({ ok: false, error: patternRules.beyond }),
  );

  it.each(['(', 'a**', '[b-a]', '\\-'])('is refused where it is none: %s', (source) =>
    expect(linearPattern(source)).toEqual({ ok: false, error: patternRules.syntax }),
  );

  it('replaces every match by the words as they are, and all behind very many matches', () => {
    expect(made('[0-9]{4}').replaceAll('1234 and 56789', '$1')).toBe('$1 and $19');
    expect(made('[0-9]').replaceAll('1 '.repeat(256), 'x')).toBe('x '.repeat(256));
    expect(made('[0-9]').replaceAll(`${'1 '.repeat(257)}2 words`, 'x')).toBe(`${'x '.repeat(256)}x`);
    expect(made('a.*b|a').replaceAll('a'.repeat(4096), 'x')).toBe('x'.repeat(257));
  });
});

import { describe, it, expect } from 'vitest';
import { parseStrictJson } from '../../../shared/auth/strict-json.ts';

describe('strict JSON', () => {
  it.each([
    'null',
    ' true ',
    '"a\\u00e9\\n"',
    '-0.5e-3',
    '[]',
    '[1,[],{}]',
    '{"a":{"a":1},"b":[true,false]}',
    '"\\ud83d\\ude00"',
  ])('takes %s', (text) => {
    expect(parseStrictJson(text)).toBeDefined();
  });

  it.each([
    '',
    ' ',
    '[',
    '[1,]',
    '{,}',
    '{"a"}',
    '{"a":}',
    '{a:1}',
    'truex',
    'True',
    '01',
    '1.',
    '.1',
    '-',
    '1e',
    '"',
    '"\\x"',
    '"\\u12"',
    '1 2',
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":1}',
    '"\\ud83d"',
    '"\\ude00\\ud83d"',
    '[1}',
    '\u00a01',
    '\ufeff1',
    '"\t"',
  ])('refuses %j', (text) => {
    expect(parseStrictJson(text)).toBeUndefined();
  });

  it('keeps numbers as they were written', () => {
    expect(parseStrictJson('1.50')).toEqual({ kind: 'number', text: '1.50' });
  });

  it('keeps keys that mean something to the language', () => {
    const node = parseStrictJson('{"__proto__":1}');
    expect(node?.kind === 'object' && [...node.entries.keys()]).toEqual(['__proto__']);
  });

  it('goes down a limited number of levels', () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(parseStrictJson(nested(17))).toBeDefined();
    expect(parseStrictJson(nested(18))).toBeUndefined();
    expect(parseStrictJson('['.repeat(100_000))).toBeUndefined();
  });
});

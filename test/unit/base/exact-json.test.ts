/** Numbers keep every digit from the text that is read to the text that is written. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isExactNumber, parseJson, plainNumbers, writeJson } from '../../../shared/base/exact-json.ts';
import { isTable } from '../../../shared/config/table.ts';

describe('JSON whose numbers lose no digit', () => {
  it.each([
    '{"order_id":1915883588174806058,"total":10.00,"zip":"01234","phone":4915112345678901234}',
    '[9007199254740993,-9007199254740993,0.10,1e2,1E+2,-0,123456789012345678901234567890.5]',
    '{"a":{"b":[[1.0]]},"text":"1.0 and 9007199254740993"}',
    '12345678901234567890',
  ])('is written as it was read: %s', (text) => {
    expect(writeJson(parseJson(text))).toBe(text);
  });

  it.each([' 1.0 ', '{"a" :\n 1.50}', '[\t-0 ]', '[1 ,\r\n 2.50]', '[[1e5]]', '[ 1234567890123456]', '-1.0'])(
    'loses nothing of a number behind other characters: %s',
    (text) => {
      expect(writeJson(parseJson(text))).toBe(text.replaceAll(/\s/g, ''));
    },
  );

  it('has plain numbers wherever a number says it all', () => {
    expect(parseJson('{"a":1,"b":2.5,"c":-7,"d":[0.1]}')).toEqual({ a: 1, b: 2.5, c: -7, d: [0.1] });
  });

  it('tells an exact number from a table, and shows its text in a template', () => {
    const value = parseJson('10.00');
    expect(isExactNumber(value)).toBe(true);
    expect(isTable(value)).toBe(false);
    expect(String(value)).toBe('10.00');
  });

  it('reads and writes all else as JSON does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(plainNumbers(parseJson(text))).toEqual(JSON.parse(text));
        expect(writeJson(parseJson(text))).toBe(text);
      }),
    );
  });

  it('takes the last of two equal keys, and keys that objects have of their own', () => {
    expect(writeJson(parseJson('{"a":1.0,"a":2.0,"__proto__":3.0,"toString":4}'))).toBe(
      '{"a":2.0,"__proto__":3.0,"toString":4}',
    );
  });

  it.each(['', '{', '01', '{"a":1.}', '[1.0,]', 'NaN'])('refuses what is no JSON: %s', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

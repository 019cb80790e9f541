/**
 * Schemas and arguments that would keep a check busy for hours, fill the memory or the stack. Each of these tests ends, which is what it is
 * there to show.
 */
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../shared/base/exact-json.ts';
import { compileArguments } from '../../../shared/config/json-schema.ts';

type Schema = Readonly<Record<string, unknown>>;

function judge(
  schema: Schema,
  value: unknown,
  patterns: 'obeyed' | 'ignored' = 'obeyed',
): string | undefined {
  const made = compileArguments({ type: 'object', ...schema }, { patterns });
  if (!made.ok) return `refused: ${[...made.error.path, made.error.rule].join(' ')}`;
  return made.value(value);
}

const tooLong = 'the arguments take too long to check';
const tooMany = 'the arguments hold too many values';
const list = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index));

/** Each level leads twice to the next one. */
const doubling = {
  $defs: Object.fromEntries(
    list(60, (level) => [
      `d${level}`,
      { allOf: list(2, () => (level === 59 ? { type: 'object' } : { $ref: `#/$defs/d${level + 1}` })) },
    ]),
  ),
  $ref: '#/$defs/d0',
};

/** A value within `a`, as deep as arguments may be. */
const deep = list(60, () => 0).reduce<unknown>((inner) => ({ a: inner }), {});

describe('a check of arguments ends', () => {
  it.each(['^(\\w+\\s?)*$', '^(a+)+$', '^(a|aa)+$', '^([a-zA-Z]+)*$', '^(.*a){20}$'])(
    'with the pattern %s',
    (pattern) => {
      const schema = { properties: { text: { type: 'string', pattern } } };
      for (const length of [40, 60_000])
        expect(judge(schema, { text: `${'b'.repeat(length)}!` })).toBe(
          `text must match pattern "${pattern}"`,
        );
      expect(judge(schema, { text: 'a'.repeat(40) })).toBeUndefined();
    },
  );

  it('with such a pattern for names, and one of names of names', () => {
    const name = `${'a'.repeat(50_000)}!`;
    expect(judge({ patternProperties: { '^(a+)+$': false } }, { [name]: 1 })).toBeUndefined();
    expect(judge({ propertyNames: { pattern: '^(a+)+$' } }, { [name]: 1 })).toMatch(/^the arguments/);
  });

  it('with a pattern that takes many steps, tried very often', () => {
    const heavy = { type: 'string', pattern: '^(\\w{0,1000})*\\s$' };
    const schema = {
      $defs: { heavy },
      properties: { a: { allOf: list(500, () => ({ $ref: '#/$defs/heavy' })) } },
    };
    expect(judge(schema, { a: 'a'.repeat(60_000) })).toBe(tooLong);
    expect(judge({ properties: { a: { allOf: list(500, () => heavy) } } }, {})).toBe(
      'refused: has too many or too large patterns',
    );
  });

  it('with references that double the work at each level', () => {
    expect(judge(doubling, {})).toBe(tooLong);
    expect(judge(doubling, {}, 'ignored')).toBe(tooLong);
    expect(judge({ $schema: 'http://json-schema.org/draft-07/schema#', ...doubling }, {})).toBe(tooLong);
  });

  it('with references that double the work at each level of the arguments', () => {
    const again = { properties: { a: { $ref: '#/$defs/again' } } };
    expect(judge({ $defs: { again: { ...again, allOf: [again] } }, $ref: '#/$defs/again' }, deep)).toBe(
      tooLong,
    );
    const dynamic = { properties: { a: { $dynamicRef: '#again' } } };
    expect(judge({ $dynamicAnchor: 'again', ...dynamic, allOf: [dynamic] }, deep)).toBe(tooLong);
  });

  it.each([[{ allOf: [{ $ref: '#' }] }], [{ anyOf: [{ $ref: '#' }] }], [{ not: { $ref: '#' } }]])(
    'with a reference that leads nowhere but to itself: %j',
    (schema) => expect(judge(schema, {})).toBe(tooLong),
  );

  it('with a large part that many places refer to', () => {
    const large = {
      properties: Object.fromEntries(list(1000, (index) => [`name-${index}`, { type: 'string' }])),
    };
    const properties = Object.fromEntries(list(500, (index) => [`p${index}`, { $ref: '#/$defs/large' }]));
    expect(judge({ $defs: { large }, properties }, { p1: { 'name-1': 1 } })).toBe('p1.name-1 must be string');
  });

  it('with very many values, each with very many faults', () => {
    const required = list(3000, (index) => `n${index}`);
    const items = { type: 'object', required };
    expect(
      judge({ properties: { list: { type: 'array', items } } }, { list: list(20_000, () => ({})) }),
    ).toBe(tooMany);
    const allOf = list(2500, () => ({ type: 'string' }));
    expect(judge({ properties: { list: { items: { allOf } } } }, { list: list(20_000, () => 1) })).toBe(
      tooMany,
    );
  });

  it('with very many items that must differ, or values that they may have', () => {
    const unique = { properties: { list: { type: 'array', uniqueItems: true } } };
    const items = list(15_000, (index) => ({ a: { b: [index] } }));
    expect(judge(unique, { list: items })).toBeUndefined();
    expect(judge(unique, { list: [...items, { a: { b: [7] } }] })).toBe('list must NOT have duplicate items');
    const many = { type: 'array', items: { enum: list(6000, (index) => `v${index}`) } };
    expect(judge({ properties: { list: many } }, { list: list(10_000, () => 'v5999') })).toBe(tooMany);
  });
});

describe('a pattern that cannot be had in linear time', () => {
  const beyond = 'must do without look-ahead, look-behind, back-references and more than 1,000 repetitions';

  it.each(['^(?!x)', '(?<=a)b', '(a)\\1', 'a{2000}'])('is told by its place: %s', (pattern) => {
    const schema = { properties: { list: { items: { pattern } } } };
    expect(judge(schema, {})).toBe(`refused: properties list items pattern ${beyond}`);
    expect(judge({ patternProperties: { [pattern]: true } }, {})).toBe(
      `refused: patternProperties ${pattern} ${beyond}`,
    );
    expect(judge(schema, { list: ['x'] }, 'ignored')).toBeUndefined();
  });

  it('is data where it is no keyword', () => {
    const schema = {
      properties: { pattern: { type: 'string' } },
      default: { pattern: '(?=a)' },
      const: { pattern: '(?=a)' },
    };
    expect(judge(schema, { pattern: '(?=a)' })).toBeUndefined();
  });

  it('of a server says nothing, and neither does what depends on the names that it allows', () => {
    const schema = {
      patternProperties: { '^x-': { type: 'string' } },
      additionalProperties: { type: 'integer' },
    };
    expect(judge(schema, { 'x-a': 'a', b: 1 }, 'ignored')).toBeUndefined();
    expect(judge(schema, { 'x-a': 1 })).toBe('x-a must be string');
    expect(judge(schema, { b: 'b' })).toBe('b must be integer');
  });
});

describe('what values are compared with', () => {
  it('is made ready once, however many there are and however large it is', () => {
    const large = 'x'.repeat(60_000);
    const items = { items: { const: large } };
    const many = Array.from({ length: 16_000 }, () => 'x');
    expect(judge({ properties: { a: items } }, { a: many })).toContain('a.0 must be "xxx');
    const whole = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, 'x'.repeat(500)]));
    const anyOf = Array.from({ length: 1_000 }, (_, at) => ({ const: { k: at } }));
    expect(judge({ properties: { a: { anyOf } } }, { a: whole })).toContain('a must be {"k":0}');
  });
});

describe('numbers in a check', () => {
  it.each([
    [{ type: 'integer' }, '9007199254740993', undefined],
    [{ type: 'integer' }, '10.00', undefined],
    [{ type: 'integer' }, '10.5', 'n must be integer'],
    [{ type: 'number', multipleOf: 0.01 }, '4.35', undefined],
    [{ type: 'number', multipleOf: 0.01 }, '1.10', undefined],
    [{ type: 'number', multipleOf: 0.01 }, '4.355', 'n must be multiple of 0.01'],
    [
      { type: 'integer', maximum: Number.MAX_SAFE_INTEGER },
      '1915883588174806058',
      'n must be <= 9007199254740991',
    ],
    [{ maximum: 2 ** 53 }, '9007199254740993', 'n must be <= 9007199254740992'],
    [{ maximum: 2 ** 53 }, '9007199254740992.00', undefined],
    [{ exclusiveMaximum: 2 ** 53 }, '9007199254740992', 'n must be < 9007199254740992'],
    [{ minimum: -(2 ** 53) }, '-9007199254740993', 'n must be >= -9007199254740992'],
    [{ exclusiveMinimum: 2 ** 53 }, '9007199254740993', undefined],
    [{ maximum: 1 }, '1.00000000000000000001', 'n must be <= 1'],
    [{ exclusiveMaximum: 1 }, '0.99999999999999999999', undefined],
    [{ exclusiveMinimum: 0 }, '0.00', 'n must be > 0'],
    [{ minimum: 0 }, '-1e-400', 'n must be >= 0'],
    [{ maximum: 0.5 }, '0.50', undefined],
    [{ maximum: 5, minimum: 3 }, '7', 'n must be <= 5'],
    [{ type: 'integer', minimum: 1e18 }, '1915883588174806058', undefined],
    [{ enum: [10, 20] }, '10.00', undefined],
    [{ type: 'number' }, '1e400', undefined],
    [{ type: 'string' }, '10.00', 'n must be string'],
    [{ type: 'object' }, '10.00', 'n must be object'],
    [{ type: 'array', uniqueItems: true }, '[1915883588174806058,1915883588174806059]', undefined],
    [
      { type: 'array', uniqueItems: true },
      '[1915883588174806058,1915883588174806058]',
      'n must NOT have duplicate items',
    ],
    [
      { type: 'array', uniqueItems: true },
      '[{"a":10.00,"b":1},{"b":1,"a":10}]',
      'n must NOT have duplicate items',
    ],
  ])('%j takes %s: %s', (schema, text, fault) => {
    expect(judge({ properties: { n: schema } }, parseJson(`{"n":${text}}`))).toBe(fault);
  });

  const order = '12345678901234567';
  const other = '12345678901234568';
  it.each([
    [`{"const":${order}}`, order, undefined],
    [`{"const":${order}}`, other, `n must be ${order}`],
    [`{"const":{"id":[${order}]}}`, `{"id":[${order}.0]}`, undefined],
    [`{"const":{"id":[${order}]}}`, `{"id":[${other}]}`, `n must be {"id":[${order}]}`],
    [`{"enum":["all",${order}]}`, `${order}.00`, undefined],
    [`{"enum":["all",${order}]}`, '"all"', undefined],
    [`{"enum":["all",${order}]}`, other, `n must be one of ["all",${order}]`],
    [`{"enum":["${order}"]}`, order, `n must be one of ["${order}"]`],
    [`{"enum":[0.12345678901234567]}`, '0.12345678901234568', 'n must be one of [0.12345678901234567]'],
    [`{"maximum":${order}}`, order, undefined],
    [`{"maximum":${order}}`, other, `n must be <= ${order}`],
    [`{"minimum":${other}}`, order, `n must be >= ${other}`],
    [`{"minimum":-${order}}`, `-${other}`, `n must be >= -${order}`],
    [`{"exclusiveMaximum":${other}}`, order, undefined],
    [`{"exclusiveMinimum":${order}}`, order, `n must be > ${order}`],
    [`{"exclusiveMinimum":1e16}`, '10000000000000000.1', undefined],
    [`{"multipleOf":${order}}`, '24691357802469134', undefined],
    [`{"multipleOf":${order}}`, '24691357802469135', `n must be multiple of ${order}`],
    [`{"multipleOf":10}`, order, 'n must be multiple of 10'],
    [`{"multipleOf":0.0000001}`, '1.23456789', 'n must be multiple of 0.0000001'],
    [`{"multipleOf":0.1}`, '0.30', undefined],
    [`{"multipleOf":7}`, '1e999999999', 'n must be multiple of 7'],
    [`{"multipleOf":8}`, '1e999999999', undefined],
    [`{"multipleOf":2}`, '0', undefined],
    [`{"items":{"enum":[${order}]}}`, `[${order},${other}]`, `n.1 must be one of [${order}]`],
    [`{"propertyNames":{"enum":["a"]}}`, '{"a":1}', undefined],
    [`{"propertyNames":{"const":"a"}}`, '{"b":1}', 'n must be "a"; n property name must be valid'],
    [`{"anyOf":[{"const":${order}},{"type":"string"}]}`, order, undefined],
    [`{"not":{"const":${order}}}`, other, undefined],
  ])('%s takes %s by its last digit: %s', (schema, text, fault) => {
    const read = parseJson(`{"properties":{"n":${schema}}}`) as Record<string, unknown>;
    expect(judge(read, parseJson(`{"n":${text}}`))).toBe(fault);
  });
});

describe('names that every object of the engine has', () => {
  it.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty'])('are names like others: %s', (name) => {
    expect(judge({ required: [name] }, {})).toBe(`the arguments must have required property '${name}'`);
    expect(judge({ required: [name] }, { [name]: 1 })).toBeUndefined();
    expect(judge({ properties: { [name]: { type: 'string' } } }, {})).toBeUndefined();
    expect(judge({ dependentRequired: { [name]: ['x'] } }, {})).toBeUndefined();
  });
});

/** Schemas of tools as every interface of an LLM takes them, whatever they were declared as. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTable } from '../../../shared/config/table.ts';
import { offeredSchema } from '../../../worker/tools/offered-schema.ts';

type Schema = Readonly<Record<string, unknown>>;
const offered = (schema: Schema): Schema => offeredSchema(schema).parameters;

/** What the strictest of them refuse, in our own words. */
function faultsOf(schema: unknown, at = 'schema'): string[] {
  if (typeof schema === 'boolean') return at.endsWith('additionalProperties') ? [] : [`${at} is a boolean`];
  if (!isTable(schema)) return [`${at} is no object`];
  const faults = faultsOfGrammar(schema, at);
  const known =
    /^(type|title|description|properties|required|items|anyOf|oneOf|enum|const|default|examples?|format|pattern|additionalProperties|minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf|minLength|maxLength|minItems|maxItems|uniqueItems|minProperties|maxProperties)$/;
  for (const [keyword, value] of Object.entries(schema)) {
    if (!known.test(keyword)) faults.push(`${at}.${keyword} is not known everywhere`);
    if (value === null && keyword !== 'default' && keyword !== 'const')
      faults.push(`${at}.${keyword} is null`);
  }
  const {
    properties = {},
    required = [],
    items,
    anyOf = [],
    oneOf = [],
    type,
    additionalProperties,
  } = schema;
  if (!isTable(properties)) return [...faults, `${at}.properties is no object`];
  for (const [name, inner] of Object.entries(properties)) faults.push(...faultsOf(inner, `${at}.${name}`));
  for (const name of required as string[])
    if (!Object.hasOwn(properties, name)) faults.push(`${at} requires what is no property`);
  if (type === 'array' && items === undefined) faults.push(`${at} has no items`);
  if (items !== undefined) faults.push(...faultsOf(items, `${at}.items`));
  for (const inner of [...(anyOf as unknown[]), ...(oneOf as unknown[])])
    faults.push(...faultsOf(inner, `${at}.anyOf`));
  if (additionalProperties !== undefined)
    faults.push(...faultsOf(additionalProperties, `${at}.additionalProperties`));
  return faults;
}

/** What cannot be made a grammar of, by the rules of llama.cpp. */
function faultsOfGrammar(schema: Schema, at: string): string[] {
  const { pattern } = schema;
  const isPlain = typeof pattern !== 'string' || /^\^((?!\\[a-zA-Z\-"])(?!\(\?)[^])*\$$/.test(pattern);
  const isTelling = /"(type|anyOf|oneOf|enum|const|properties|items|additionalProperties|pattern)":/.test(
    JSON.stringify(schema),
  );
  const lengths = ['minLength', 'maxLength', 'minItems', 'maxItems'].filter(
    (keyword) => Number(schema[keyword]) >= 1_990,
  );
  return [
    ...(isPlain ? [] : [`${at}.pattern is no grammar`]),
    ...(isTelling || JSON.stringify(schema) === '{}' ? [] : [`${at} is for no kind of value`]),
    ...lengths.map((keyword) => `${at}.${keyword} repeats too often`),
    ...(Array.isArray(schema['enum']) && schema['enum'].includes('')
      ? [`${at}.enum has an empty value`]
      : []),
  ];
}

function faultsOfWhole(schema: Schema): string[] {
  const top = ['anyOf', 'oneOf', 'allOf', 'enum', 'not', 'const'].filter((keyword) => keyword in schema);
  return [
    ...(schema['type'] === 'object' ? [] : ['the whole is no object']),
    ...(isTable(schema['properties']) ? [] : ['the whole has no properties']),
    ...top.map((keyword) => `the whole has ${keyword}`),
    ...Object.keys(schema['properties'] as object).filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name)),
    ...faultsOf(schema),
  ];
}

const text = { type: 'string' };
const whole = { type: 'number' };

describe('the schema that an LLM is offered', () => {
  it.each([
    { type: 'object', properties: {} },
    {
      type: 'object',
      properties: { city: { ...text, description: 'Where' } },
      required: ['city'],
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: {
        lines: {
          type: 'array',
          minItems: 1,
          items: { type: 'object', properties: { n: { anyOf: [text, whole] } } },
        },
        kind: { enum: ['a', null], default: null },
        maybe: { type: ['string', 'null'], format: 'date', pattern: '^[a-z]+(-\\.)?$', maxLength: 9 },
      },
    },
  ])('is the declared one where that is ordinary: %j', (schema) => expect(offered(schema)).toEqual(schema));

  it.each<[string, Schema, Schema]>([
    ['no properties', { type: 'object' }, { type: 'object', properties: {} }],
    [
      'expressions and lengths that are no grammar',
      {
        type: 'object',
        properties: {
          zip: { ...text, pattern: '^\\d{5}$' },
          id: { ...text, pattern: 'A-', description: 'The id.', maxLength: 65_536 },
          list: { type: 'array', items: text, maxItems: 5_000 },
        },
      },
      {
        type: 'object',
        properties: {
          zip: { ...text, description: 'Pattern: ^\\d{5}$' },
          id: { ...text, description: 'The id. Pattern: A- At most 65536 characters.' },
          list: { type: 'array', items: text },
        },
      },
    ],
    [
      'values that are empty or there twice',
      {
        type: 'object',
        properties: { a: { ...text, enum: ['x', '', 'x', 'y'] }, b: { ...text, enum: [''] } },
      },
      { type: 'object', properties: { a: { ...text, enum: ['x', 'y'] }, b: text } },
    ],
    [
      'a value of any kind',
      { type: 'object', properties: { any: { description: 'Whatever.' } } },
      {
        type: 'object',
        properties: {
          any: {
            type: ['string', 'number', 'boolean', 'object', 'array', 'null'],
            items: {},
            description: 'Whatever.',
          },
        },
      },
    ],
    ['a list of types', { type: ['object', 'null'] }, { type: 'object', properties: {} }],
    [
      'allOf at the top',
      { type: 'object', allOf: [{ properties: { a: text }, required: ['a'] }, { properties: { b: whole } }] },
      { type: 'object', properties: { a: text, b: whole }, required: ['a'] },
    ],
    [
      'oneOf at the top',
      {
        type: 'object',
        properties: { id: text },
        oneOf: [
          { required: ['a', 'id'], properties: { a: text } },
          { required: ['b', 'id'], properties: { b: whole } },
        ],
      },
      { type: 'object', properties: { id: text, a: text, b: whole }, required: ['id'] },
    ],
    [
      'anyOf that says only what is required',
      { type: 'object', properties: { a: text, b: text }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      { type: 'object', properties: { a: text, b: text } },
    ],
    [
      'a reference at the top',
      {
        type: 'object',
        $ref: '#/$defs/order',
        $defs: {
          order: { type: 'object', properties: { id: { $ref: '#/$defs/id' } }, required: ['id'] },
          id: text,
        },
      },
      { type: 'object', properties: { id: text }, required: ['id'] },
    ],
    [
      'definitions of an old draft, with words beside the reference',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { a: { description: 'd', allOf: [{ $ref: '#/definitions/a~1b' }] } },
        definitions: { 'a/b': { enum: [1] } },
      },
      { type: 'object', properties: { a: { description: 'd', enum: [1] } } },
    ],
    [
      'a circle',
      { type: 'object', properties: { next: { $ref: '#' }, name: text } },
      {
        type: 'object',
        properties: { next: { type: 'object', properties: { next: {}, name: text } }, name: text },
      },
    ],
    [
      'booleans in place of schemas',
      {
        type: 'object',
        properties: {
          a: true,
          b: false,
          c: { type: 'array', items: true },
          d: { anyOf: [true, false, text] },
        },
      },
      { type: 'object', properties: { a: {}, c: { type: 'array', items: {} }, d: { anyOf: [{}, text] } } },
    ],
    [
      'arrays that do not say of what, and tuples',
      {
        type: 'object',
        properties: {
          a: { type: 'array' },
          b: { type: 'array', prefixItems: [text, whole], items: false },
          c: { type: 'array', items: [text] },
        },
      },
      {
        type: 'object',
        properties: {
          a: { type: 'array', items: {} },
          b: { type: 'array', items: { anyOf: [text, whole] } },
          c: { type: 'array', items: { anyOf: [text] } },
        },
      },
    ],
    [
      'null in place of what may be absent',
      {
        type: 'object',
        title: null,
        description: null,
        properties: { a: { type: 'string', description: null, enum: null, default: null } },
        required: null,
        additionalProperties: null,
      },
      { type: 'object', properties: { a: { type: 'string', default: null } } },
    ],
    [
      'what is required and not declared',
      { type: 'object', properties: { a: text }, required: ['a', 'b', 'b', 7] },
      { type: 'object', properties: { a: text, b: {} }, required: ['a', 'b'] },
    ],
    [
      'conditions and patterns of names',
      {
        type: 'object',
        if: { required: ['a'] },
        then: { required: ['b'] },
        not: { required: ['c'] },
        dependentRequired: { a: ['b'] },
        patternProperties: { '^x': text },
        additionalProperties: false,
      },
      { type: 'object', properties: {} },
    ],
    [
      'words of other programs',
      {
        type: 'object',
        'x-order': 1,
        $comment: 'c',
        properties: { a: { ...text, nullable: true, readOnly: true, contentEncoding: 'base64' } },
      },
      { type: 'object', properties: { a: text } },
    ],
    ['values of its own', { type: 'object', enum: [{}], const: {} }, { type: 'object', properties: {} }],
  ])('with %s', (_, schema, expected) => {
    expect(offered(schema)).toEqual(expected);
    expect(faultsOfWhole(offered(schema))).toEqual([]);
  });

  it('is of bounded size where references double it', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `d${level}`,
        { properties: { a: { $ref: `#/$defs/d${level + 1}` }, b: { $ref: `#/$defs/d${level + 1}` } } },
      ]),
    );
    const schema = { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs };
    expect(JSON.stringify(offered(schema)).length).toBeLessThan(100_000);
    expect(faultsOfWhole(offered(schema))).toEqual([]);
  });

  it('is of bounded size where many places refer to a large part', () => {
    const names = Array.from({ length: 900 }, (_, index) => `n${index}`);
    const large = { properties: Object.fromEntries(names.map((name) => [name, text])) };
    const properties = Object.fromEntries(names.map((name) => [name, { $ref: '#/$defs/large' }]));
    const schema = { type: 'object', properties, $defs: { large } };
    expect(JSON.stringify(offered(schema)).length).toBeLessThan(100_000);
    expect(faultsOfWhole(offered(schema))).toEqual([]);
  });

  it('is taken by the strictest, whatever was declared', () => {
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small', maxDepth: 4 },
        fc.constantFrom<unknown>(true, false, null, {}, 'text', 7, []),
        fc.record(
          {
            type: fc.constantFrom<unknown>('object', 'array', 'string', null, ['array', 'null'], ['object']),
            properties: fc.oneof(
              fc.constant(null),
              fc.dictionary(fc.constantFrom('a', 'b', '$c', 'größe'), tie('schema')),
            ),
            required: fc.oneof(fc.constant(null), fc.array(fc.constantFrom('a', 'z', '$c'))),
            items: fc.oneof(tie('schema'), fc.array(tie('schema'))),
            prefixItems: fc.array(tie('schema')),
            allOf: fc.array(tie('schema')),
            anyOf: fc.array(tie('schema')),
            oneOf: fc.array(tie('schema')),
            not: tie('schema'),
            $ref: fc.constantFrom('#', '#/properties/a', '#/nowhere', '#/%', 'https://a.example/b.json'),
            enum: fc.constantFrom<unknown>(null, [], [1], ['', 'a', 'a']),
            additionalProperties: fc.constantFrom<unknown>(true, false, null, {}),
            description: fc.constantFrom<unknown>(null, 'd', 7),
            pattern: fc.constantFrom<unknown>('^a$', 'a', '^\\d$', '^(?!x)$', '^[\\w-]+$', '^a\\$', 7),
            maxLength: fc.constantFrom<unknown>(9, 65_536),
            minItems: fc.constantFrom<unknown>(1, 2_000),
          },
          { requiredKeys: [] },
        ),
      ),
    }));
    fc.assert(
      fc.property(schema, (made) => {
        if (!isTable(made)) return;
        expect(faultsOfWhole(offered(made))).toEqual([]);
        expect(offered(offered(made))).toEqual(offered(made));
      }),
    );
  });
});

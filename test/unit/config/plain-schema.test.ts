/** Schemas that need no meta-schema: whatever is called plain is valid by both of them, and the tools of everyday are plain. */
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { compileArguments } from '../../../shared/config/json-schema.ts';
import { isPlainSchema } from '../../../shared/config/plain-schema.ts';
import { Sensitive } from '../../../shared/config/sensitive.ts';
import { builtInTools } from '../../../worker/tools/built-in.ts';

const options = { strict: false, validateFormats: false, logger: false } as const;
const metaSchemas = [new Ajv(options), new Ajv2020(options)];
const isValid = (schema: Record<string, unknown>): boolean[] =>
  metaSchemas.map((ajv) => ajv.validateSchema(structuredClone(schema)) === true);

const number = fc.constantFrom(-1, 0, 0.5, 1, 3);
const value = fc.oneof(number, fc.string(), fc.boolean(), fc.constant(null));
const names = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 });
const typeName = fc.constantFrom('string', 'object', 'array', 'integer', 'null', 'text');

/** Schemas with values that fit their keywords most of the time, so that each keyword is seen right and wrong. */
const { schema } = fc.letrec<{ schema: object | boolean }>((tie) => {
  const inner = tie('schema');
  const list = fc.array(inner, { maxLength: 2 });
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(typeName, fc.array(typeName, { maxLength: 3 })),
    properties: fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), inner, { maxKeys: 2 }),
    required: names,
    additionalProperties: inner,
    items: fc.oneof(inner, list),
    enum: fc.array(value, { maxLength: 3 }),
    const: value,
    default: value,
    examples: fc.array(value),
    anyOf: list,
    oneOf: list,
    allOf: list,
    not: inner,
    $ref: fc.constant('#'),
    contains: inner,
    nonsense: value,
  };
  for (const name of ['description', 'title', 'format', 'pattern', 'uniqueItems', 'minimum', 'maximum'])
    keywords[name] = value;
  for (const name of ['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'])
    keywords[name] = value;
  for (const name of ['minItems', 'maxItems', 'minProperties', 'maxProperties']) keywords[name] = value;
  const table = fc
    .subarray(Object.keys(keywords), { maxLength: 3 })
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map((name) => [name, keywords[name] ?? value]))));
  return { schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), table, table) };
});

describe('a plain schema', () => {
  it('is valid by the meta-schemas, whatever it is', () => {
    let plain = 0;
    fc.assert(
      fc.property(schema, (made) => {
        if (typeof made === 'boolean' || !isPlainSchema(made)) return;
        plain += 1;
        expect(isValid({ ...made })).toEqual([true, true]);
      }),
      { numRuns: 5_000, seed: 1 },
    );
    expect(plain).toBeGreaterThan(500);
  });

  it('is what the tools of the service have', () => {
    const telephony: Partial<Parameters<typeof builtInTools>[0]> = {
      destinations: new Map([['sales', new Sensitive('+4912345')]]),
    };
    const control = { transfer: { warm: true }, sendDtmf: true };
    const team = { agents: { billing: 'Invoices.' }, context: 'summary', farewell: '' } as const;
    const tools = builtInTools(telephony as Parameters<typeof builtInTools>[0], control, {
      team,
      isRecorded: true,
    });
    expect(tools.length).toBeGreaterThan(1);
    for (const { declaration } of tools)
      expect([declaration.name, isPlainSchema(declaration.parameters)]).toEqual([declaration.name, true]);
  });

  it('is what an ordinary tool has', () => {
    expect(
      isPlainSchema({
        type: 'object',
        properties: {
          day: { type: 'string', description: 'A day.', pattern: '^\\d{4}-\\d\\d-\\d\\d$' },
          guests: { type: 'integer', minimum: 1, maximum: 12 },
          wishes: { type: 'array', items: { enum: ['window', 'terrace'] }, uniqueItems: true },
        },
        required: ['day', 'guests'],
        additionalProperties: false,
      }),
    ).toBe(true);
  });

  it('is compiled without a question to a meta-schema', () => {
    const asked = vi.spyOn(Ajv2020.prototype, 'validateSchema');
    const schema = { type: 'object', properties: { day: { type: 'string', title: 'asked of nobody' } } };
    expect(compileArguments(schema, { patterns: 'obeyed' }).ok).toBe(true);
    expect(asked).not.toHaveBeenCalled();
    expect(compileArguments({ ...schema, if: true }, { patterns: 'obeyed' }).ok).toBe(true);
    expect(asked).toHaveBeenCalledOnce();
    asked.mockRestore();
  });

  it.each([
    { type: 'text' },
    { required: ['a', 'a'] },
    { properties: { a: 3 } },
    { properties: { a: { minLength: -1 } } },
    { anyOf: [] },
    { enum: [] },
    { enum: ['a', 'a'] },
    { multipleOf: 0 },
    { items: [{}] },
    { if: true },
  ])('is not %j', (made) => {
    expect(isPlainSchema(made)).toBe(false);
  });
});

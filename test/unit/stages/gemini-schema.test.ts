/** Schemas of tools as Gemini Live takes them: one keyword too many ends a session. */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { wireParameters } from '../../../worker/stages/realtime/gemini/schema.ts';
import { offeredSchema } from '../../../worker/tools/offered-schema.ts';
import { schemaProblem } from '../../support/fakes/fake-gemini-live.ts';

const object = (properties: object, more: object = {}): Record<string, unknown> => ({
  type: 'object',
  properties,
  ...more,
});
/** What one argument with this schema becomes. */
const argument = (schema: object): unknown =>
  (wireParameters(object({ x: schema }))?.['properties'] as Record<string, unknown>)['x'];

describe('a schema for Gemini Live', () => {
  it('is absent where a tool takes no arguments', () => {
    expect(wireParameters({ type: 'object' })).toBeUndefined();
    expect(wireParameters(object({}))).toBeUndefined();
  });

  it('has names of types in capitals, and nothing that the service does not know', () => {
    const schema = object(
      {
        id: {
          type: 'integer',
          minimum: 1,
          exclusiveMaximum: 10,
          multipleOf: 2,
          default: 3,
          examples: [4],
          title: 'Id',
        },
      },
      { $schema: 'x', $defs: {}, additionalProperties: false, required: ['id'], minProperties: 1 },
    );
    expect(wireParameters(schema)).toEqual({
      type: 'OBJECT',
      properties: { id: { type: 'INTEGER', minimum: 1 } },
      required: ['id'],
    });
  });

  it.each([
    [{ type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
    [
      { type: ['string', 'integer'], description: 'Id' },
      { description: 'Id', anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }] },
    ],
    [
      { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'Name' },
      { type: 'STRING', description: 'Name', nullable: true },
    ],
    [
      { oneOf: [{ type: 'string' }, { type: 'number' }] },
      { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] },
    ],
    [{ enum: ['a', 'b', null] }, { type: 'STRING', enum: ['a', 'b'], format: 'enum', nullable: true }],
    // Values that are no text, or an empty one, are refused in an enumeration.
    [{ enum: [1, 2] }, { type: 'NUMBER', description: 'One of: 1, 2.' }],
    [
      { type: 'integer', enum: [101, null], description: 'Room.' },
      { type: 'INTEGER', description: 'Room. One of: 101.', nullable: true },
    ],
    [
      { enum: ['', 'a'], format: 'size' },
      { type: 'STRING', description: 'Format: size. One of: "", "a".' },
    ],
    [{ enum: [true, false] }, { type: 'BOOLEAN' }],
    [{ const: 'yes' }, { type: 'STRING', enum: ['yes'], format: 'enum' }],
    [
      { type: 'string', format: 'date', description: 'When.' },
      { type: 'STRING', description: 'When. Format: date.' },
    ],
    [
      { type: 'string', format: 'date-time' },
      { type: 'STRING', format: 'date-time' },
    ],
    [
      { type: 'string', minLength: 1, maxLength: 9, pattern: '^a' },
      { type: 'STRING', minLength: '1', maxLength: '9', pattern: '^a' },
    ],
    [
      { type: 'array', minItems: 1 },
      { type: 'ARRAY', minItems: '1', items: { type: 'STRING' } },
    ],
    [
      { type: 'array', items: { type: 'array', items: { type: 'number' } } },
      { type: 'ARRAY', items: { type: 'ARRAY', items: { type: 'NUMBER' } } },
    ],
    [{}, { type: 'STRING' }],
    [{ properties: { y: {} } }, { type: 'OBJECT', properties: { y: { type: 'STRING' } } }],
    [
      { type: 'object', properties: { y: { type: 'null' } }, anyOf: [{ required: ['y'] }] },
      { type: 'OBJECT', properties: { y: { type: 'STRING', nullable: true } } },
    ],
  ])('of %j is %j', (schema, wire) => {
    expect(argument(schema)).toEqual(wire);
  });

  it('is taken, whatever a tool was declared with', () => {
    const random = newPrng(7);
    const pick = <T>(list: readonly T[]): T => random.pick(list);
    const make = (depth: number): Record<string, unknown> => {
      const inner = (): Record<string, unknown> => (depth > 2 ? {} : make(depth + 1));
      return pick([
        () => ({
          type: pick(['string', 'integer', 'number', 'boolean', 'null']),
          format: pick(['date', 'int32', 'x', 5]),
        }),
        () => ({
          type: [pick(['string', 'object', 'array']), pick(['null', 'integer'])],
          description: pick(['d', 4]),
        }),
        () => object({ a: inner(), 'b-c': inner() }, { required: pick([['a'], ['gone'], []]) }),
        () => ({
          type: 'array',
          items: pick([inner(), [inner(), inner()], true, false]),
          uniqueItems: true,
          maxItems: 3,
        }),
        () => ({ anyOf: [inner(), inner()], title: 't' }),
        () => ({ oneOf: [{ type: 'null' }, inner()] }),
        () => ({ allOf: [inner(), inner()], default: {} }),
        () => ({ enum: pick([[1, 2], ['a', 1], [null], [true], [{ a: 1 }]]) }),
        () => ({ const: pick([1, 'a', null, true]) }),
        () => ({ $ref: pick(['#/properties/x', '#/$defs/none']) }),
        () => ({}),
      ])();
    };
    for (let count = 0; count < 2_000; count += 1) {
      const declared = object({ x: make(0), y: make(0) });
      const wire = wireParameters(offeredSchema(declared).parameters);
      expect(wire && schemaProblem(wire), JSON.stringify(declared)).toBeUndefined();
    }
  });
});

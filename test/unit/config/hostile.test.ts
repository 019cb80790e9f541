import TOML from '@iarna/toml';
import fc from 'fast-check';
import { describe, it, expect } from 'vitest';
import { nearestName } from '../../../shared/config/nearest.ts';
import { readToml } from '../../../shared/config/toml.ts';
import { goodFile, load } from './agent-text.ts';

const fragment = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom(
    '"""',
    "'''",
    '[',
    ']',
    '[[',
    '{',
    '}',
    '=',
    '.',
    '\n',
    '\\',
    '\0',
    '\uFEFF',
    '__proto__',
    '"__proto__" = 1',
  ),
  fc.constantFrom(
    '1979-05-27T07:32:00Z',
    '07:32:00',
    'inf',
    'nan',
    '0x',
    '1e999',
    '99999999999999999999',
    '-0',
    '[stt.stt_local_ws]',
  ),
);

/** The good file with a few stretches of text replaced. */
const spoiled = fc
  .array(fc.tuple(fc.nat(goodFile.length), fc.nat(20), fragment), { minLength: 1, maxLength: 5 })
  .map((cuts) =>
    cuts.reduce((text, [at, length, put]) => text.slice(0, at) + put + text.slice(at + length), goodFile),
  );

describe('hostile agent files', () => {
  it('never throw, and give a definition exactly when nothing is wrong', () => {
    fc.assert(
      fc.property(fc.oneof(spoiled, fragment), (text) => {
        const { definition, problems } = load(text);
        expect(definition !== undefined).toBe(problems.every(({ severity }) => severity !== 'error'));
        for (const { line, column } of problems) expect(Math.min(line, column)).toBeGreaterThanOrEqual(1);
      }),
      { numRuns: 1500, seed: 7 },
    );
  });

  it('are TOML exactly when the parser of values takes them', () => {
    const isTaken = (text: string): boolean => {
      try {
        return typeof TOML.parse(text) === 'object';
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(fc.oneof(spoiled, fragment), (text) => {
        fc.pre(!/[\r\uFEFF]/.test(text));
        expect(readToml(text).syntaxProblems.length === 0).toBe(isTaken(text));
      }),
      { numRuns: 500, seed: 11 },
    );
  });

  it.each([
    ['nested without end', `a = ${'['.repeat(200_000)}`],
    ['longer than any agent needs', '#'.repeat(2_000_000)],
  ])('that are %s give one problem', (_, text) => {
    expect(load(text).problems).toMatchObject([{ severity: 'error', line: 1 }]);
  });

  it('cannot reach the prototype of anything', () => {
    load(
      `${goodFile}\n[agent.pronounce]\n"__proto__" = "x"\n[turn.__proto__]\nstop_ms = 1\n[constructor.prototype]\nx = 1`,
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect({}).not.toHaveProperty('stop_ms');
  });
});

describe('the nearest name', () => {
  const known = ['prompt', 'prompt_file', 'greeting', 'max_call_s'];

  it.each([
    ['promt', 'prompt'],
    ['porompt', 'prompt'],
    ['PROMPT', 'prompt'],
    ['prompt-file', 'prompt_file'],
    ['greetnig', 'greeting'],
    ['max_calls', 'max_call_s'],
  ])('for %s is %s', (name, expected) => {
    expect(nearestName(name, known)).toBe(expected);
  });

  it.each(['colour', 'x', '', 'p'.repeat(100_000)])('for something else is none', (name) => {
    expect(nearestName(name, known)).toBeUndefined();
  });
});

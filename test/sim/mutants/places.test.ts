/** Places are found by what they mention; one that is not there, or not alone, is an error that says so. */
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { always, mutantsOf, mutated, never, remove, replace, swap } from './mutant.ts';
import { argument, call, condition, element, guard, last, operand, returned } from './places.ts';
import { statement, term, value } from './places.ts';

const source = ts.createSourceFile(
  'bell.ts',
  `const longestMs = 600;
const bells = ['door', 'phone'];
function ring(bell: Bell): number {
  if (bell.isBroken || bell.rung > 3) return 0;
  bell.rung += 1;
  if (bell.name === 'door') bell.sounds.push('ding', bell.volume);
  bell.sounds.push('dong', bell.volume);
  return Math.min(longestMs, bell.rung * 200 - bell.fadedMs);
}`,
  ts.ScriptTarget.Latest,
  true,
);

/** What a mutant makes of the one line that it changes. */
function changed(edit: ReturnType<typeof remove>, within = 'ring'): string | undefined {
  const [mutant] = mutantsOf({ [`bell.ts: ${within}`]: { 'rings wrongly': edit } });
  const before = source.text.split('\n');
  const after = mutated(source, mutant!).split('\n');
  return after.find((line, at) => line !== before[at])?.trim();
}

describe('a place', () => {
  it('is found by what it is and what it mentions', () => {
    expect(changed(remove(call('push', 'dong')))).toBe(';');
    expect(changed(remove(call('sounds.push', 'ding')))).toBe("if (bell.name === 'door') ;");
    expect(changed(remove(statement('rung', '+=')))).toBe(';');
    expect(changed(never(condition('isBroken')))).toBe('if ((false)) return 0;');
    expect(changed(always(guard(call('push', 'ding'))))).toMatch(/^if \(\(true\)\) bell/);
    expect(changed(remove(operand('rung')))).toBe('if (bell.isBroken) return 0;');
    expect(changed(remove(term('fadedMs')))).toBe('return Math.min(longestMs, bell.rung * 200);');
    expect(changed(replace(returned('min'), '1'))).toBe('return (1);');
    expect(changed(swap(returned('min'), '200', '20'))).toMatch(/rung \* 20 -/);
    expect(changed(replace(argument(last(call('push')), 'volume'), '0'))).toBe(
      "bell.sounds.push('dong', (0));",
    );
    expect(changed(replace(value('longestMs'), '6'), 'longestMs')).toBe('const longestMs = (6);');
    expect(changed(remove(element('door')), 'bells')).toBe("const bells = ['phone'];");
  });

  it('that is not there is an error', () => {
    const notThere = '"rings wrongly": ring has 0 times the call of sing, not once';
    expect(() => changed(remove(call('sing')))).toThrow(notThere);
    expect(() => changed(remove(call('push')), 'sing')).toThrow('bell.ts has no function or constant sing');
  });

  it('that is not alone is an error', () => {
    expect(() => changed(remove(call('push')))).toThrow('ring has 2 times the call of push, not once');
  });
});

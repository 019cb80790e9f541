/** The command line of the bench. */
import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../scripts/measure/bench/options.ts';

describe('the number of calls', () => {
  it.each([
    [[], [100]],
    [['--calls', '7'], [7]],
    [
      ['--calls', '1,5,10,100'],
      [1, 5, 10, 100],
    ],
    [['--soak', '400'], [60]],
  ])('%j holds %j', (args, steps) => {
    expect(parseCommand(args)).toMatchObject({ steps, calls: steps[0] });
  });

  it.each([
    [['--calls', '1,']],
    [['--calls', '1,x']],
    [['--calls', '5000']],
    [['--soak', '9', '--calls', '1,2']],
  ])('%j is refused', (args) => {
    expect(() => parseCommand(args)).toThrow('--calls: ');
  });
});

describe('the floor', () => {
  it('is measured beside calls that are held', () => {
    expect(parseCommand(['--floor', '--calls', '1,10'])).toMatchObject({ floor: true, steps: [1, 10] });
  });

  it.each([[['--floor', '--overload']], [['--floor', '--transport', 'carrier_a']]])(
    '%j is refused',
    (args) => {
      expect(() => parseCommand(args)).toThrow('--floor: ');
    },
  );
});

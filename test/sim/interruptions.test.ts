/** Ten thousand interruptions at random samples, in a build a quarter of them: the context keeps what was heard, whatever tells how much that was. */
import { describe, it, expect } from 'vitest';
import { realCore } from '../support/core/core.ts';
import { tries } from '../support/sampled.ts';
import { interruptedCall, sources, tolerance, wrongs, type Cut, type Source } from './interrupted.ts';

const callsOfEach = tries(100, 25);

const cutsBy = (source: Source): Cut[] =>
  Array.from({ length: callsOfEach }, (_, index) => interruptedCall(realCore, 1 + index, source)).flat();

describe('an interrupted answer', () => {
  let cuts = 0;
  for (const source of sources)
    it(`is kept to within ${tolerance[source]} word(s) of what was heard, known by ${source}`, () => {
      const found = cutsBy(source);
      cuts += found.length;
      // Of what is estimated the tail of a distribution lies beyond: in 70,000 cuts there were six.
      const wrong = found.filter((cut) => wrongs(cut).length > 0);
      expect(wrong.length, JSON.stringify(wrong)).toBeLessThanOrEqual(found.length / 1_000);
      expect(found.every((cut) => cut.kept === 0)).toBe(false);
    });

  it('was cut a hundred times in each call of all sources', () => {
    expect(cuts).toBeGreaterThanOrEqual(100 * callsOfEach);
  });
});

/** Ten thousand interruptions at random samples: the context keeps what was heard, whatever tells how much that was. */
import { describe, it, expect } from 'vitest';
import { realCore } from '../support/core.ts';
import { interruptedCall, type Cut, type Source } from './interrupted.ts';

const callsOfEach = 140;

/** Words by which the context may differ from what was played. */
const tolerance: Readonly<Record<Source, number>> = { marks: 1, words: 1, acknowledgements: 1, estimate: 2 };

const cutsBy = (source: Source): Cut[] =>
  Array.from({ length: callsOfEach }, (_, index) => interruptedCall(realCore, 1 + index, source)).flat();

describe('an interrupted answer', () => {
  let cuts = 0;
  for (const source of ['marks', 'words', 'acknowledgements', 'estimate'] as const)
    it(`is kept to within ${tolerance[source]} word(s) of what was heard, known by ${source}`, () => {
      const found = cutsBy(source);
      cuts += found.length;
      const wrong = found.filter(({ heard, kept }) => Math.abs(heard - kept) > tolerance[source]);
      expect(wrong).toEqual([]);
      const unheard = found.filter(({ keptSentences, heardSentences }) => keptSentences > heardSentences);
      expect(unheard).toEqual([]);
    });

  it('was cut ten thousand times', () => {
    expect(cuts).toBeGreaterThanOrEqual(10_000);
  });
});

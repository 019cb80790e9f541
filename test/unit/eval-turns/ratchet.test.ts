/** The ratchet of the evaluation: what counts as worse than before, and what as chance. */
import { describe, expect, it } from 'vitest';
import { upperShare, worseThan } from '../../../scripts/measure/eval-turns/ratchet.ts';

describe('the ratchet', () => {
  it('knows how far chance reaches: few scenarios prove little', () => {
    expect(upperShare({ bad: 0, of: 10 })).toBeCloseTo(0.278, 3);
    expect(upperShare({ bad: 0, of: 100 })).toBeCloseTo(0.037, 3);
    expect(upperShare({ bad: 5, of: 10 })).toBeCloseTo(0.763, 3);
    expect(upperShare({ bad: 0, of: 0 })).toBe(1);
  });

  it.each([
    ['as it was', { bad: 1, of: 20 }, []],
    ['better', { bad: 0, of: 20 }, []],
    ['worse within the interval', { bad: 4, of: 20 }, []],
    ['worse beyond it', { bad: 5, of: 20 }, ['a: 5 of 20, was 1 of 20']],
    ['of nothing', { bad: 0, of: 0 }, ['a: 0 of 0, was 1 of 20']],
  ])('says what is %s', (_, count, lines) => {
    expect(worseThan({ a: { bad: 1, of: 20 } }, { a: count })).toEqual(lines);
  });

  it('takes a row that is gone for worse, and a new one for neither', () => {
    const count = { bad: 0, of: 3 };
    expect(worseThan({ a: count }, { b: count })).toEqual(['a: missing, was 0 of 3']);
  });
});

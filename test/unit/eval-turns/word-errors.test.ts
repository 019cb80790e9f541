import { expect, it } from 'vitest';
import { wordErrors } from '../../../scripts/measure/ear/word-errors.ts';

it.each([
  ['turn on the light', 'Turn on the light.', 0],
  ['turn on the light', 'turn on light', 1],
  ['turn on the light', 'please turn on the light', 1],
  ['turn on the light', 'turn off the light', 1],
  ['turn on the light', '', 4],
  ['', 'thank you', 2],
  ['one two three', '1, 2, 3.', 0],
  ["I'd like to go", 'I’d like to go', 0],
  ['mister quilter', 'Mr. Quilter', 0],
  ['the light', 'light the', 2],
  ['well-known', 'well known', 0],
])('of "%s" written as "%s" %i words are wrong', (said, heard, errors) => {
  expect(wordErrors(said, heard).errors).toBe(errors);
});

it('counts the words that were said', () => {
  expect(wordErrors('turn on the light', 'turn on').of).toBe(4);
});

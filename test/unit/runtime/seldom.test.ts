/** What anybody can cause is told once an hour, and a flood of it fills no log. */
import { expect, it } from 'vitest';
import { Seldom } from '../../../shared/runtime/seldom.ts';

it('tells each thing once an hour, and of many things few', () => {
  let now = 0;
  const seldom = new Seldom({ now: () => now });
  const many = Array.from({ length: 1_000 }, (_, index) => `scanner ${index}`);
  expect(['trunk', 'trunk', 'pbx'].map((thing) => seldom.isDue(thing))).toEqual([true, false, true]);
  expect(many.filter((thing) => seldom.isDue(thing))).toHaveLength(30);
  now = 3_599_999;
  expect(seldom.isDue('trunk')).toBe(false);
  now = 3_600_000;
  expect(seldom.isDue('trunk')).toBe(true);
});

/** How many calls have their noise taken out when there is not time for all. */
import { expect, it } from 'vitest';
import { NoiseLimit } from '../../../../inference/noise/noise-limit.ts';

const entered = (limit: NoiseLimit, calls: number): number =>
  Array.from({ length: calls }, () => limit.enter()).filter(Boolean).length;

const fallBehind = (limit: NoiseLimit, nowMs: number): void => {
  for (let look = 0; look < 3; look += 1) limit.looked(true, nowMs + look);
};

it('takes every call as long as no frame waits', () => {
  const limit = new NoiseLimit();
  expect(entered(limit, 500)).toBe(500);
  limit.looked(true, 1_000);
  limit.looked(true, 1_004);
  limit.looked(false, 1_008);
  expect(limit.isOver).toBe(false);
});

it('leaves half of the calls out when frames wait look after look', () => {
  const limit = new NoiseLimit();
  entered(limit, 40);
  fallBehind(limit, 1_000);
  for (let left = 0; left < 20; left += 1) {
    expect(limit.isOver).toBe(true);
    limit.leave();
  }
  expect(limit.isOver).toBe(false);
  expect(limit.enter()).toBe(false);
  fallBehind(limit, 2_000);
  expect(limit.isOver).toBe(true);
});

it('takes one more call every two seconds in which nothing waits', () => {
  const limit = new NoiseLimit();
  entered(limit, 1);
  fallBehind(limit, 1_000);
  limit.leave();
  limit.looked(false, 2_500);
  expect(entered(limit, 5)).toBe(0);
  limit.looked(false, 3_100);
  expect(entered(limit, 5)).toBe(1);
  limit.looked(false, 5_200);
  expect(entered(limit, 5)).toBe(1);
});

it('blames noise for nothing when no call has its noise taken out', () => {
  const limit = new NoiseLimit();
  fallBehind(limit, 1_000);
  expect(entered(limit, 3)).toBe(3);
});

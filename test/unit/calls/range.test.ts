import { expect, it } from 'vitest';
import { readRange } from '../../../supervisor/calls/history/query.ts';

it.each([
  [undefined, undefined],
  ['bytes=0-', { from: 0, to: 100 }],
  ['bytes=10-19', { from: 10, to: 20 }],
  ['bytes=10-1000', { from: 10, to: 100 }],
  ['bytes=-30', { from: 70, to: 100 }],
  ['bytes=-1000', { from: 0, to: 100 }],
  // Nothing of these is there.
  ['bytes=100-', { from: 100, to: 100 }],
  ['bytes=-0', { from: 100, to: 100 }],
  // The whole is sent instead.
  ['bytes=20-10', undefined],
  ['bytes=0-1,5-6', undefined],
  ['bytes=-', undefined],
  ['lines=0-1', undefined],
  ['bytes=0-99999999999999999999', undefined],
])('a request with the range %s of 100 bytes gets its part', (header, range) => {
  expect(readRange(header, 100)).toEqual(range);
});

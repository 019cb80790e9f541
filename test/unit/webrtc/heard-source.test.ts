/** A client that changes its source is heard on, and a second source beside the first is not mixed in. */
import { expect, it } from 'vitest';
import { HeardSource } from '../../../worker/media/rtp/heard-source.ts';

const taken = (packets: string): string => {
  const source = new HeardSource();
  return Array.from(packets, (ssrc) => source.take(ssrc.charCodeAt(0))[0]).join('');
};

it.each([
  ['a client that goes on as another source', 'aaabbb', 'hhhonh'],
  ['and comes back', 'aabbaa', 'hhonon'],
  ['a second source beside the first', 'aabababa', 'hhohohoh'],
  ['strangers that take turns', 'aabcbcaa', 'hhoooohh'],
])('%s', (_, packets, expected) => {
  expect(taken(packets)).toBe(expected);
});

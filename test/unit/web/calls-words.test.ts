/** How the history page tells what was in a turn. */
import { expect, it } from 'vitest';
import { courseOf } from '../../../web/calls/words.ts';

it('says of a turn what was in it, and nothing of what was not', () => {
  const turn = { epoch: 1, at_ms: 0 };
  expect(courseOf(turn)).toBe('');
  expect(courseOf({ ...turn, faults: 0, silence_ms: 2_100 })).toBe('2.10 s of silence');
  expect(
    courseOf({
      ...turn,
      ...{ interrupted: true, silence_ms: 12, backchannels: 1, false_starts: 2, faults: 1, failovers: 3 },
    }),
  ).toBe('interrupted, 12 ms of silence, 1 backchannel, 2 false starts, 1 fault, 3 failovers');
});

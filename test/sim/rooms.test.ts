/** A voice that never ends keeps nobody from being greeted, heard and answered. */
import { describe, expect, it } from 'vitest';
import { realCore } from '../support/core/core.ts';
import { Room } from './room.ts';

const seeds = 400;

/** For the greeting, and for an answer where words alone say that the caller has stopped. */
const longestMs = { greeting: 3_300, answer: 3_300 } as const;

describe('a room in which somebody else never stops talking', () => {
  it(`keeps nobody waiting, cuts nothing and asks for nothing, in ${seeds} seeds`, () => {
    const wrong: unknown[] = [];
    for (let seed = 1; seed <= seeds; seed += 1) {
      const room = new Room(realCore, seed);
      const { waits, cuts, extra } = room.run();
      const [greeting = Infinity, ...answers] = waits;
      const isLate = greeting > longestMs.greeting || Math.max(...answers) > longestMs.answer;
      if (isLate || cuts > 0 || extra > 0 || waits.length < 4) wrong.push({ seed, waits, cuts, extra });
    }
    expect(wrong).toEqual([]);
  });
});

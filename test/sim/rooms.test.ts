/** A voice that never ends keeps nobody from being greeted, heard and answered. */
import { describe, expect, it } from 'vitest';
import { realCore } from '../support/core/core.ts';
import { Room } from './room.ts';

const seeds = 400;

const longestWaitMs = 3_300;

describe('a room in which somebody else never stops talking', () => {
  it(`keeps nobody waiting, cuts nothing and asks for nothing, in ${seeds} seeds`, () => {
    const wrong: unknown[] = [];
    for (let seed = 1; seed <= seeds; seed += 1) {
      const room = new Room(realCore, seed);
      const { waits, cuts, extra } = room.run();
      const longest = Math.max(...waits);
      if (longest > longestWaitMs || cuts > 0 || extra > 0 || waits.length < 4)
        wrong.push({ seed, waits, cuts, extra });
    }
    expect(wrong).toEqual([]);
  });
});

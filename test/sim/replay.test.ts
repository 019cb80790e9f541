/** Simulated calls, written down as facts while they run, give the same orders when they are replayed, byte for byte. */
import { describe, expect, it } from 'vitest';
import { factsOfWorld } from './recorded-world.ts';
import { step } from '../../worker/core/call.ts';
import { newCall } from '../../worker/core/state.ts';
import { nextDeadline } from '../../worker/core/timers.ts';
import { NotReplayable, replayFacts } from '../../worker/recording/replay.ts';
import { tries } from '../support/sampled.ts';

/** A thousand calls, in parts that a slow machine has time for; in a build 200. */
const parts = [1, 251, 501, 751];
const calls = tries(250, 50);

describe('a replay', () => {
  it.each(parts)(
    `gives the orders of ${calls} simulated calls from %i on again, deaths of workers among them`,
    (from) => {
      let steps = 0;
      let takeovers = 0;
      for (let seed = from; seed < from + calls; seed += 1) {
        const text = factsOfWorld(seed);
        takeovers += text.split('\n').filter((line) => line.startsWith('{"type":"call"')).length - 1;
        const replay = replayFacts(text);
        expect(replay.first, `seed ${seed}`).toBeUndefined();
        expect(replay).toMatchObject({ different: 0, isCut: false });
        steps += replay.steps;
      }
      expect(steps).toBeGreaterThan(calls * 100);
      expect(takeovers).toBeGreaterThan(calls / 20);
    },
  );

  it('shows the first step in which a changed core decides otherwise, and what came before', () => {
    let seen = 0;
    const broken: typeof step = (state, event, now) => {
      const orders = step(state, event, now);
      seen += 1;
      return seen === 40 ? orders.concat({ type: 'llm.cancel' }) : orders;
    };
    const replay = replayFacts(factsOfWorld(7), { core: { newCall, step: broken, nextDeadline } });
    expect(replay.different).toBe(1);
    expect(replay.first?.now).toEqual([
      ...(replay.first?.then.slice(0, -1) ?? []),
      '{"type":"llm.cancel"}',
      replay.first?.then.at(-1),
    ]);
    expect(replay.before).toHaveLength(5);
  });

  it('shows where another agent would have said something else', () => {
    const replay = replayFacts(factsOfWorld(7), {
      settings: (then) => ({ ...then, greeting: 'Good evening from somebody else.' }),
    });
    expect(replay.first?.now.join()).toContain('Good evening from somebody else.');
  });

  it('says so when the file ends in the middle, and refuses what holds no facts', () => {
    const text = factsOfWorld(3);
    expect(replayFacts(text.slice(0, -40))).toMatchObject({ different: 0, isCut: true });
    expect(() => replayFacts('')).toThrow(NotReplayable);
    expect(() => replayFacts('{"type":"else"}')).toThrow(NotReplayable);
    expect(() => replayFacts(text.replace(/"version":\d+/, '"version":9'))).toThrow(NotReplayable);
  });
});

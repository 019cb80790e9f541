/** Seeded calls into which commands of every kind are given: each is answered exactly once, whatever happens to the call. */
import { beforeAll, describe, expect, it } from 'vitest';
import { realCore } from '../support/core/core.ts';
import { tries } from '../support/sampled.ts';
import { runWorld, type WorldReport } from './world/world.ts';

const seeds = tries(1_000, 400);

describe('commands in simulated calls', () => {
  const answers = new Map<string, number>();
  let failed: WorldReport | undefined;

  beforeAll(() => {
    for (let seed = 1; seed <= seeds && failed === undefined; seed += 1) {
      const report = runWorld(realCore, seed, { commands: true });
      if (report.violations.length > 0) failed = report;
      for (const [name, times] of report.answers) answers.set(name, (answers.get(name) ?? 0) + times);
    }
  }, 120_000);

  it(`are answered exactly once in ${seeds} seeds`, () => {
    expect(failed === undefined ? '' : JSON.stringify([failed.seed, failed.violations[0]])).toBe('');
  });

  it('meet with every answer that there is', () => {
    const expected = [
      ...['say done', 'say dropped', 'say queue_full', 'say call_ending', 'say call_over'],
      ...['text done', 'text dropped', 'text empty', 'text queue_full', 'text call_ending', 'text call_over'],
      ...['edit done', 'edit queue_full', 'edit call_ending', 'edit call_over'],
      ...['operator done', 'operator empty', 'operator already_done'],
      ...['operator call_ending', 'operator call_over'],
      ...['end done', 'end dropped', 'end call_ending', 'end call_over'],
    ];
    expect([...answers.keys()].sort()).toEqual(expected.sort());
  });
});

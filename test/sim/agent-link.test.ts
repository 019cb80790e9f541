/** Seeded calls with an agent process: dropped links, slow agents and hasty ones, results out of order, workers that die. */
import { describe, expect, it } from 'vitest';
import { tries } from '../support/sampled.ts';
import { runLinkWorld } from './link-world.ts';

const most = 2_000;
const seeds = tries(most, 700);

describe('simulated agent links', () => {
  const counts = new Map<string, number>();
  let broken = '';
  for (let seed = 1; seed <= seeds && broken === ''; seed += 1) {
    const report = runLinkWorld(seed);
    for (const [what, times] of report.counts) counts.set(what, (counts.get(what) ?? 0) + times);
    const [first] = report.violations;
    if (first !== undefined) broken = `seed ${seed}: ${first}`;
  }

  it(`break no rule in ${seeds} seeds`, () => {
    expect(broken).toBe('');
  });

  it('meet everything that can become of a link and of a call, often', () => {
    const often = Object.entries({
      active: 800,
      fallback: 200,
      broken: 500,
      resumed: 500,
      gone: 300,
      died: 300,
      effect: 1_000,
      result: 1_000,
      failed: 1_000,
      abandoned: 500,
      arrived: 10_000,
      lost: 1_000,
      slowed: 100,
    });
    for (const [what, times] of often)
      expect(counts.get(what) ?? 0, what).toBeGreaterThan((times * seeds) / most);
  });
});

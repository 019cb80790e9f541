/** Seeded calls with tools of every kind and manner, judged by a model of its own. */
import { describe, expect, it } from 'vitest';
import { realCore, type Core } from '../support/core/core.ts';
import { tries } from '../support/sampled.ts';
import { simulatedToolMutants } from './mutants/mutants-tools.ts';
import { coreWith } from './mutants/mutants.ts';
import { runToolWorld } from './world/tool-world.ts';

const most = 2_000;
const seeds = tries(most, 800);

describe('simulated tools', () => {
  const counts = new Map<string, number>();
  let broken = '';
  for (let seed = 1; seed <= seeds && broken === ''; seed += 1) {
    const report = runToolWorld(realCore, seed);
    for (const [what, times] of report.counts) counts.set(what, (counts.get(what) ?? 0) + times);
    const [first] = report.violations;
    if (first !== undefined) broken = [...report.steps.slice(-40), `seed ${seed}: ${first}`].join('\n');
  }

  it(`break no rule in ${seeds} seeds`, () => {
    expect(broken).toBe('');
  });

  it('meet everything that can become of a call, often', () => {
    const often = Object.entries({
      effect: 1_000,
      reading: 1_000,
      confirmed: 100,
      again: 100,
      guess: 100,
      note: 100,
      result: 1_000,
      running: 100,
      tool_failed: 100,
      timeout: 30,
      outcome_unknown: 50,
      interrupted: 100,
      unknown_tool: 100,
      invalid_arguments: 100,
      arguments_cut: 100,
      already_done: 50,
      repeated_call_id: 50,
      tool_limit: 50,
      declined: 50,
      not_confirmed: 100,
      'told interrupted': 100,
      'told timeout': 50,
      'told abandoned': 50,
    });
    for (const [what, times] of often)
      expect(counts.get(what) ?? 0, what).toBeGreaterThan((times * seeds) / most);
  });
});

describe('a core whose tools are broken', () => {
  /** The first seed in which the judge says so, or the core or its script cannot go on. */
  function noticedIn(core: Core): number | undefined {
    for (let seed = 1; seed <= seeds; seed += 1) {
      try {
        if (runToolWorld(core, seed).violations.length > 0) return seed;
      } catch {
        return seed;
      }
    }
    return undefined;
  }

  for (const mutant of simulatedToolMutants)
    it(`that ${mutant.name} is noticed`, async () => {
      expect(noticedIn(await coreWith(mutant))).toBeDefined();
    });
});

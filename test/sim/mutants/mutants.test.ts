/** Every mutant of the core is noticed, by the simulation or by a scripted conversation. */
import { describe, it, expect } from 'vitest';
import { chapters } from '../../golden/chapters.ts';
import type { Core } from '../../support/core/core.ts';
import { Script } from '../../support/core/script.ts';
import { everyNth } from '../../support/sampled.ts';
import { coreWith, mutants, sourceWith } from './mutants.ts';
import { runSeeds } from '../seeds.ts';

const seeds = 300;

/** The check that noticed that the core is broken: a scripted conversation, which costs little, or else a rule of the simulation. */
function noticed(core: Core, count = seeds): string | undefined {
  return scripted(core) ?? simulated(core, count);
}

function simulated(core: Core, count: number): string | undefined {
  try {
    return runSeeds(core, 1, { count, stopAfter: 1 }).failed[0]?.violations[0]?.rule;
  } catch (error) {
    return `the core throws: ${String(error)}`;
  }
}

/** Chapters of scripted conversations, the one that noticed the last mutant in front: the next mutant is often about the same. */
let order = Object.values(chapters);

function scripted(core: Core): string | undefined {
  for (const chapter of order)
    for (const { name, play } of chapter) {
      try {
        play((options) => new Script({ ...options, core }));
      } catch {
        order = [chapter, ...order.filter((other) => other !== chapter)];
        return name;
      }
    }
  return undefined;
}

describe('a core', () => {
  it('that was bundled without a change passes everything', async () => {
    // The simulation tries the unchanged core with more seeds.
    expect(noticed(await coreWith(undefined), 30)).toBeUndefined();
  });

  it('has the place of every mutant, whether or not a build tries it', () => {
    const lost = mutants.flatMap((mutant) => {
      try {
        sourceWith(mutant);
        return [];
      } catch (error) {
        return [String(error)];
      }
    });
    expect(lost).toEqual([]);
  });

  // A build tries every sixth one, `npm run test:long` all of them.
  for (const mutant of everyNth(mutants, 6, 0))
    it(`that ${mutant.name} is noticed`, async () => {
      expect(noticed(await coreWith(mutant))).toBeDefined();
    });
});

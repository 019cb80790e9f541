/** Many worlds in a row, and what they amounted to. Also the entry of long runs (`node scripts/measure/sim.mjs`). */
import type { Core } from '../support/core/core.ts';
import { runWorld, type WorldReport } from './world/world.ts';

export interface SeedsReport {
  readonly seeds: number;
  readonly steps: number;
  readonly virtualMs: number;
  /** How often each kind of order was given. */
  readonly orders: ReadonlyMap<string, number>;
  readonly failed: readonly WorldReport[];
}

export function runSeeds(
  core: Core,
  from: number,
  options: { count: number; stopAfter?: number },
): SeedsReport {
  const { count, stopAfter = Infinity } = options;
  const orders = new Map<string, number>();
  const failed: WorldReport[] = [];
  let steps = 0;
  let virtualMs = 0;
  let seeds = 0;
  for (let seed = from; seed < from + count && failed.length < stopAfter; seed += 1) {
    const report = runWorld(core, seed);
    seeds += 1;
    steps += report.trace.steps;
    virtualMs += report.virtualMs;
    for (const [type, times] of report.trace.counts) orders.set(type, (orders.get(type) ?? 0) + times);
    if (report.violations.length > 0) failed.push(report);
  }
  return { seeds, steps, virtualMs, orders, failed };
}

/** A failed world in words: its rule, and the last steps before it. */
export function explained(core: Core, seed: number, lines = 40): string {
  const { violations, trace } = runWorld(core, seed, { keep: true });
  const broken = violations.map(({ at, rule, detail }) => `seed ${seed} at ${at} ms: ${rule} ${detail}`);
  return [...trace.lines.slice(-lines), ...broken].join('\n');
}

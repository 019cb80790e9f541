// Long runs of the simulated calls.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureInstalled } from '../install.mjs';
import { answerHelp } from '../process/help.mjs';

answerHelp(`usage: node scripts/measure/sim.mjs [--seeds N] [--from S] [--keep LINES] [--interruptions N]
  Prints what N simulated calls (10000) amounted to and, for every rule that was broken, the first seed with its last LINES steps (40).
  --interruptions N  instead: by how many words the context differs from what was heard, for N answers that were cut
  The exit status is 1 when a rule was broken.`);

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    from: { type: 'string', default: '1' },
    keep: { type: 'string', default: '40' },
    interruptions: { type: 'string', default: '0' },
  },
});
const [count, from, keep, interruptions] = [values.seeds, values.from, values.keep, values.interruptions].map(
  Number,
);
if (![count, from, keep, interruptions].every((value) => Number.isSafeInteger(value) && value >= 0)) {
  console.error('--seeds, --from, --keep and --interruptions must be whole numbers');
  process.exit(2);
}

/** Every source is asked the same number of times. True when every cut was right. */
function interrupt({ realCore, interruptedCall, sources, wrongs }) {
  let right = true;
  for (const source of sources) {
    const differences = new Map();
    const wrong = [];
    let cuts = 0;
    for (let seed = from; cuts < interruptions / sources.length; seed += 1)
      for (const cut of interruptedCall(realCore, seed, source)) {
        cuts += 1;
        const words = cut.kept - cut.heard;
        differences.set(words, (differences.get(words) ?? 0) + 1);
        if (wrongs(cut).length > 0) wrong.push(cut);
      }
    right &&= wrong.length === 0;
    const told = [...differences].sort(([a], [b]) => a - b).map(([words, times]) => `${words}: ${times}`);
    console.log(
      `${source}: ${cuts} cuts, ${wrong.length} wrong; words kept less words heard: ${told.join(', ')}`,
    );
    for (const cut of wrong.slice(0, 10)) console.log(`  ${wrongs(cut).join(', ')}: ${JSON.stringify(cut)}`);
  }
  return right;
}

await ensureInstalled({ dev: true });
const { build } = await import('esbuild');
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'svc-sim-'));
try {
  const outfile = join(folder, 'sim.mjs');
  await build({
    stdin: {
      contents: `export * from './test/sim/seeds.ts'; export { realCore } from './test/support/core/core.ts';
        export { interruptedCall, sources, wrongs } from './test/sim/interrupted.ts';`,
      resolveDir: root,
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
  });
  const simulation = await import(pathToFileURL(outfile).href);
  if (interruptions > 0) process.exitCode = interrupt(simulation) ? 0 : 1;
  else runCalls(simulation);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function runCalls({ runSeeds, explained, realCore }) {
  const startedMs = Date.now();
  const report = runSeeds(realCore, from, { count });
  const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
  const hours = (report.virtualMs / 3_600_000).toFixed(1);
  console.log(`${report.seeds} calls, ${hours} hours, ${report.steps} facts in ${seconds} s`);
  for (const [type, times] of [...report.orders].sort((a, b) => b[1] - a[1]))
    console.log(`${String(times).padStart(9)}  ${type}`);
  const rules = new Map();
  for (const { seed, violations } of report.failed) {
    const seeds = rules.get(violations[0].rule) ?? [];
    rules.set(violations[0].rule, [...seeds, seed]);
  }
  for (const [rule, seeds] of rules) {
    console.log(`\n${seeds.length} calls break: ${rule} (${seeds.slice(0, 10).join(', ')})`);
    console.log(explained(realCore, seeds[0], keep));
  }
  process.exitCode = rules.size > 0 ? 1 : 0;
}

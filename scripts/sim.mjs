// Long runs of the simulated calls: node scripts/sim.mjs [--seeds N] [--from S] [--keep LINES]. Prints what the calls
// amounted to and, for every rule that was broken, the first seed with its last steps. Exit status 1 when one was.
import { build } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    from: { type: 'string', default: '1' },
    keep: { type: 'string', default: '40' },
  },
});
const [count, from, keep] = [values.seeds, values.from, values.keep].map(Number);
if (![count, from, keep].every((value) => Number.isSafeInteger(value) && value >= 0)) {
  console.error('--seeds, --from and --keep must be whole numbers');
  process.exit(2);
}

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'svc-sim-'));
try {
  const outfile = join(folder, 'sim.mjs');
  await build({
    stdin: {
      contents: `export * from './test/sim/seeds.ts'; export { realCore } from './test/support/core.ts';`,
      resolveDir: root,
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
  });
  const { runSeeds, explained, realCore } = await import(pathToFileURL(outfile).href);
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
} finally {
  rmSync(folder, { recursive: true, force: true });
}

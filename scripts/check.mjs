// Everything that can be said about the project without running it: format, lint, types, dependency rules, unused code,
// house rules, generated files. One line per step; the output of a step is shown only when it fails. `--beside-tests` leaves out what is a
// test, where those run as well.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';
import { answerHelp } from './process/help.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (path) => join(root, 'node_modules', path);

const houseRules = ['tidy', 'house', 'words', 'docs', 'dependencies', 'deploy'].map(
  (name) => `test/${name}.test.ts`,
);

/** The slow ones first, so that the short ones fill the gaps. */
const steps = [
  {
    // Each file by the tsconfig.json that is nearest to it.
    name: 'lint and types',
    command: [bin('oxlint/bin/oxlint'), '--type-check', '--deny-warnings'],
  },
  // Reports of what the packages offer, and what they ask for.
  { name: 'public types', command: ['scripts/api.mjs', '--check'] },
  { name: 'unused code', command: [bin('knip/bin/knip.js'), '--no-progress'] },
  {
    name: 'dependency rules',
    command: [
      bin('dependency-cruiser/bin/dependency-cruise.mjs'),
      '--config',
      '.dependency-cruiser.cjs',
      ...[
        'cli',
        'supervisor',
        'worker',
        'inference',
        'records',
        'shared',
        'scripts',
        'sdk/typescript',
        'web',
        'examples',
      ].filter((folder) => existsSync(join(root, folder))),
    ],
  },
  { name: 'format', command: [bin('prettier/bin/prettier.cjs'), '--check', '--log-level', 'warn', '.'] },
  {
    name: 'house rules and generated files',
    isTest: true,
    command: [bin('vitest/vitest.mjs'), 'run', '--project', 'fast', ...houseRules],
  },
];

function run({ name, command }) {
  const startMs = Date.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('error', (error) => output.push(Buffer.from(`${error.message}\n`)));
    child.on('close', (status) => {
      const seconds = ((Date.now() - startMs) / 1000).toFixed(1);
      console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
      if (status !== 0) process.stdout.write(Buffer.concat(output));
      resolve({ name, isFine: status === 0 });
    });
  });
}

answerHelp(`usage: npm run check [-- --beside-tests]
  Format, lint, types, dependency rules, unused code, house rules and generated files; one line for each step.
  --beside-tests  leaves out the steps that \`npm test\` runs, too`);
await ensureInstalled({ dev: true });
const waiting = process.argv.includes('--beside-tests')
  ? steps.filter(({ isTest }) => isTest !== true)
  : [...steps];
const results = [];
const lane = async () => {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) results.push(await run(step));
};
await Promise.all(Array.from({ length: Math.max(1, availableParallelism()) }, lane));
const failed = results.filter(({ isFine }) => !isFine).map(({ name }) => name);
console.log(
  failed.length === 0
    ? 'all checks passed'
    : `${failed.length} of ${results.length} checks failed: ${failed.join(', ')}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
